package dev.skep.interop;

import com.google.protobuf.Any;
import io.grpc.CallCredentials;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import skep.v1.Error.ErrorDetail;
import skep.v1.Lock.CheckLockRequest;
import skep.v1.Lock.LockComponent;
import skep.v1.Lock.LockLevel;
import skep.v1.Lock.LockRequest;
import skep.v1.Lock.LockState;
import skep.v1.Lock.LockType;
import skep.v1.LockServiceGrpc;
import skep.v1.LockServiceGrpc.LockServiceBlockingStub;
import skep.v1.Transaction.AbortTxnsRequest;
import skep.v1.Transaction.AllocateTableWriteIdsRequest;
import skep.v1.Transaction.CommitTxnRequest;
import skep.v1.Transaction.DataOperation;
import skep.v1.Transaction.GetValidWriteIdsRequest;
import skep.v1.Transaction.HeartbeatTxnsRequest;
import skep.v1.Transaction.OpenTxnsRequest;
import skep.v1.Transaction.ShowTxnsRequest;
import skep.v1.TransactionServiceGrpc;
import skep.v1.TransactionServiceGrpc.TransactionServiceBlockingStub;

/**
 * A client made of proto/ by protoc-gen-grpc-java drives a full life of a transaction and reads typed errors. SKEP_PLAIN, SKEP_SECURE
 * (addresses), SKEP_TLS (folder of ca.pem, client.pem, client.key), SKEP_TOKEN. Prints a line a check and the counts; ends with 1 if
 * one failed.
 */
public final class Client {
  private static final String USER = "java";
  private static final String TABLE = "t_java";
  private static final long NEVER = 1L << 62;

  private int passed;
  private int failed;
  private final List<ManagedChannel> channels = new ArrayList<>();

  public static void main(String[] args) throws Exception {
    Client client = new Client();
    try {
      Channel plain = client.open("SKEP_PLAIN", InsecureChannelCredentials.create());
      client.failures(plain, client.life(plain));
      client.secured();
    } catch (StatusRuntimeException error) {
      client.failed++;
      System.out.println("  FAIL " + error);
    }
    client.channels.forEach(ManagedChannel::shutdownNow);
    System.out.println(client.passed + " passed, " + client.failed + " failed");
    System.exit(client.failed > 0 ? 1 : 0);
  }

  private Channel open(String variable, ChannelCredentials credentials) {
    ManagedChannel channel = Grpc.newChannelBuilder(System.getenv(variable), credentials).build();
    channels.add(channel);
    return channel;
  }

  private static TransactionServiceBlockingStub txnsOf(Channel channel) {
    return TransactionServiceGrpc.newBlockingStub(channel).withDeadlineAfter(30, TimeUnit.SECONDS);
  }

  private void check(String what, Object actual, Object expected) {
    boolean same = Objects.equals(actual, expected);
    if (same) passed++;
    else failed++;
    System.out.println(same ? "  ok   " + what : "  FAIL " + what + ": " + actual + ", expected " + expected);
  }

  /** Status code and typed detail of a call that must fail. */
  private static Failure failureOf(Supplier<?> call) throws Exception {
    try {
      call.get();
      return new Failure("OK", ErrorDetail.getDefaultInstance());
    } catch (StatusRuntimeException error) {
      com.google.rpc.Status status = StatusProto.fromThrowable(error);
      ErrorDetail detail = ErrorDetail.getDefaultInstance();
      if (status != null) {
        for (Any any : status.getDetailsList()) if (any.is(ErrorDetail.class)) detail = any.unpack(ErrorDetail.class);
      }
      return new Failure(error.getStatus().getCode().name(), detail);
    }
  }

  private record Failure(String code, ErrorDetail detail) {}

  private static OpenTxnsRequest openRequest(String user) {
    return OpenTxnsRequest.newBuilder().setCount(1).setUser(user).setHost("localhost").setAgentInfo("interop").build();
  }

  private static List<Long> allocate(TransactionServiceBlockingStub txns, long txn) {
    AllocateTableWriteIdsRequest request =
        AllocateTableWriteIdsRequest.newBuilder().addTxnIds(txn).setDatabase("default").setTable(TABLE).build();
    List<Long> ids = new ArrayList<>();
    txns.allocateTableWriteIds(request).getTxnToWriteIdsList().forEach(one -> ids.addAll(List.of(one.getTxnId(), one.getWriteId())));
    return ids;
  }

  private static LockRequest lockRequest(long txn, LockType type, DataOperation operation) {
    LockComponent component =
        LockComponent.newBuilder()
            .setType(type)
            .setLevel(LockLevel.LOCK_LEVEL_TABLE)
            .setDatabase("default")
            .setTable(TABLE)
            .setOperation(operation)
            .setIsTransactional(true)
            .build();
    return LockRequest.newBuilder()
        .addComponents(component)
        .setTxnId(txn)
        .setUser(USER)
        .setHost("localhost")
        .setAgentInfo("query")
        .build();
  }

  private static List<String> visible(TransactionServiceBlockingStub txns) {
    GetValidWriteIdsRequest request = GetValidWriteIdsRequest.newBuilder().addTables("default." + TABLE).build();
    return List.copyOf(txns.getValidWriteIds(request).getValidWriteIdsList());
  }

  private static CheckLockRequest checkRequest(long lockId) {
    return CheckLockRequest.newBuilder().setLockId(lockId).build();
  }

  private static CommitTxnRequest commitRequest(long txn) {
    return CommitTxnRequest.newBuilder().setTxnId(txn).build();
  }

  /** Answers the id of an aborted transaction. */
  private long life(Channel channel) {
    TransactionServiceBlockingStub txns = txnsOf(channel);
    LockServiceBlockingStub locks = LockServiceGrpc.newBlockingStub(channel).withDeadlineAfter(30, TimeUnit.SECONDS);
    long txn = txns.openTxns(openRequest(USER)).getTxnIds(0);
    check("the first write id is 1", allocate(txns, txn), List.of(txn, 1L));
    var held = locks.lock(lockRequest(txn, LockType.LOCK_TYPE_SHARED_WRITE, DataOperation.DATA_OPERATION_UPDATE));
    check("the lock is held", held.getState(), LockState.LOCK_STATE_ACQUIRED);
    check("and still is", locks.checkLock(checkRequest(held.getLockId())).getState(), LockState.LOCK_STATE_ACQUIRED);
    var beat = txns.heartbeatTxns(HeartbeatTxnsRequest.newBuilder().addTxnIds(txn).addTxnIds(NEVER).build());
    check("a heartbeat tells what is not open", beat.getNoSuchTxnIdsList(), List.of(NEVER));
    check("others do not see the write", visible(txns), List.of("default." + TABLE + ":1:1:1:"));

    long waiter = txns.openTxns(openRequest(USER)).getTxnIds(0);
    var waits = locks.lock(lockRequest(waiter, LockType.LOCK_TYPE_EXCLUSIVE, DataOperation.DATA_OPERATION_NO_TXN));
    var by = waits.getBlockedBy();
    check(
        "an exclusive lock waits, and says for whom",
        List.of(waits.getState(), by.getLockId(), by.getTxnId(), by.getUser(), by.getTable()),
        List.of(LockState.LOCK_STATE_WAITING, held.getLockId(), txn, USER, TABLE));
    check("the commit has a time", txns.commitTxn(commitRequest(txn)).getCommitTimeMs() > 1_600_000_000_000L, true);
    var granted = locks.checkLock(checkRequest(waits.getLockId()));
    check("which releases the lock to the next", granted.getState(), LockState.LOCK_STATE_ACQUIRED);
    check("and shows the write", visible(txns), List.of("default." + TABLE + ":1:9223372036854775807::"));

    check("the second write id is 2", allocate(txns, waiter), List.of(waiter, 2L));
    var aborted = txns.abortTxns(AbortTxnsRequest.newBuilder().addTxnIds(waiter).setReasonCode(50005).build());
    check("an abort", aborted.getAbortedTxnIdsList(), List.of(waiter));
    check("is never seen", visible(txns), List.of("default." + TABLE + ":2:9223372036854775807::2"));
    return waiter;
  }

  private void failures(Channel channel, long aborted) throws Exception {
    TransactionServiceBlockingStub txns = txnsOf(channel);
    Failure failure = failureOf(() -> txns.commitTxn(commitRequest(aborted)));
    ErrorDetail detail = failure.detail();
    check(
        "commit of an aborted one",
        List.of(failure.code(), detail.getCode(), detail.getKind(), detail.getTxnId()),
        List.of("ABORTED", "TXN_ABORTED", "conflict", aborted));
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of("x-request-id", Metadata.ASCII_STRING_MARSHALLER), "r-1");
    var named = txns.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
    failure = failureOf(() -> named.commitTxn(commitRequest(NEVER)));
    detail = failure.detail();
    check(
        "commit of none",
        List.of(failure.code(), detail.getCode(), detail.getTxnId(), detail.getHiveCode(), detail.getRequestId()),
        List.of("NOT_FOUND", "NO_SUCH_TXN", NEVER, 10262, "r-1"));
    failure = failureOf(() -> LockServiceGrpc.newBlockingStub(channel).checkLock(checkRequest(NEVER)));
    check("check of no lock", List.of(failure.code(), failure.detail().getLockId()), List.of("NOT_FOUND", NEVER));
    var late = txns.withDeadlineAfter(-1, TimeUnit.SECONDS);
    check("a deadline that has passed", failureOf(() -> late.showTxns(ShowTxnsRequest.getDefaultInstance())).code(), "DEADLINE_EXCEEDED");
  }

  /** Sends a token with each call. */
  private static final class Bearer extends CallCredentials {
    @Override
    public void applyRequestMetadata(RequestInfo info, Executor executor, MetadataApplier applier) {
      Metadata headers = new Metadata();
      headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + System.getenv("SKEP_TOKEN"));
      applier.apply(headers);
    }
  }

  private void secured() throws Exception {
    String dir = System.getenv("SKEP_TLS");
    File authorities = new File(dir, "ca.pem");
    ChannelCredentials mutual =
        TlsChannelCredentials.newBuilder()
            .trustManager(authorities)
            .keyManager(new File(dir, "client.pem"), new File(dir, "client.key"))
            .build();
    TransactionServiceBlockingStub txns = txnsOf(open("SKEP_SECURE", mutual));
    var withToken = txns.withCallCredentials(new Bearer());
    check("over TLS with a token", withToken.openTxns(openRequest("token-user")).getTxnIdsCount(), 1);
    Failure failure = failureOf(() -> withToken.openTxns(openRequest("other")));
    check(
        "but not for another",
        List.of(failure.code(), failure.detail().getCode(), failure.detail().getCaller(), failure.detail().getUser()),
        List.of("PERMISSION_DENIED", "ACCESS_DENIED", "token-user", "other"));
    check("over TLS as the certificate says", txns.openTxns(openRequest("client")).getTxnIdsCount(), 1);
    ChannelCredentials serverOnly = TlsChannelCredentials.newBuilder().trustManager(authorities).build();
    var strange = txnsOf(open("SKEP_SECURE", serverOnly));
    check("without a certificate", failureOf(() -> strange.showTxns(ShowTxnsRequest.getDefaultInstance())).code(), "UNAVAILABLE");
  }
}
