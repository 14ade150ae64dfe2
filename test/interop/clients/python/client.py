"""A client made of proto/ by grpcio-tools drives a full life of a transaction, reads typed errors, asks health and reflection.

client.py GENERATED: SKEP_PLAIN, SKEP_SECURE (addresses), SKEP_TLS (folder of ca.pem, client.pem, client.key), SKEP_TOKEN.
Prints a line a check and the counts; ends with 1 if one failed.
"""
import os
import sys

sys.path.insert(0, sys.argv[1])

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_status import rpc_status
from skep.v1 import catalog_pb2, catalog_pb2_grpc, error_pb2, lock_pb2, lock_pb2_grpc, transaction_pb2, transaction_pb2_grpc

USER, TABLE, TIMEOUT = "python", "t_python", 10
passed = failed = 0


def check(what, actual, expected):
    global passed, failed
    if actual == expected:
        passed += 1
        print(f"  ok   {what}")
    else:
        failed += 1
        print(f"  FAIL {what}: {actual!r}, expected {expected!r}")


def error_of(call, request, **options):
    """Status code and typed detail of a call that must fail."""
    try:
        call(request, timeout=TIMEOUT, **options)
    except grpc.RpcError as error:
        detail = error_pb2.ErrorDetail()
        status = rpc_status.from_call(error)
        if status is not None and len(status.details) == 1:
            status.details[0].Unpack(detail)
        return error.code().name, detail
    return "OK", error_pb2.ErrorDetail()


def open_one(txns, user=USER):
    request = transaction_pb2.OpenTxnsRequest(count=1, user=user, host="localhost", agent_info="interop")
    return txns.OpenTxns(request, timeout=TIMEOUT).txn_ids[0]


def allocate(txns, txn_id):
    request = transaction_pb2.AllocateTableWriteIdsRequest(txn_ids=[txn_id], database="default", table=TABLE)
    return [(one.txn_id, one.write_id) for one in txns.AllocateTableWriteIds(request, timeout=TIMEOUT).txn_to_write_ids]


def lock_request(txn_id, kind, operation):
    component = lock_pb2.LockComponent(
        type=kind, level=lock_pb2.LOCK_LEVEL_TABLE, database="default", table=TABLE, operation=operation, is_transactional=True
    )
    return lock_pb2.LockRequest(components=[component], txn_id=txn_id, user=USER, host="localhost", agent_info="query")


def visible(txns, **options):
    request = transaction_pb2.GetValidWriteIdsRequest(tables=[f"default.{TABLE}"], **options)
    return list(txns.GetValidWriteIds(request, timeout=TIMEOUT).valid_write_ids)


def life(txns, locks):
    txn = open_one(txns)
    check("the first write id is 1", allocate(txns, txn), [(txn, 1)])
    answer = locks.Lock(lock_request(txn, lock_pb2.LOCK_TYPE_SHARED_WRITE, transaction_pb2.DATA_OPERATION_UPDATE), timeout=TIMEOUT)
    check("the lock is held", answer.state, lock_pb2.LOCK_STATE_ACQUIRED)
    again = locks.CheckLock(lock_pb2.CheckLockRequest(lock_id=answer.lock_id), timeout=TIMEOUT)
    check("and still is", (again.lock_id, again.state), (answer.lock_id, lock_pb2.LOCK_STATE_ACQUIRED))
    beat = txns.HeartbeatTxns(transaction_pb2.HeartbeatTxnsRequest(txn_ids=[txn, 2**62]), timeout=TIMEOUT)
    check("a heartbeat tells what is not open", (list(beat.aborted_txn_ids), list(beat.no_such_txn_ids)), ([], [2**62]))
    check("others do not see the write", visible(txns), [f"default.{TABLE}:1:1:1:"])

    waiter = open_one(txns)
    waits = locks.Lock(lock_request(waiter, lock_pb2.LOCK_TYPE_EXCLUSIVE, transaction_pb2.DATA_OPERATION_NO_TXN), timeout=TIMEOUT)
    check(
        "an exclusive lock waits, and says for whom",
        (waits.state, waits.blocked_by.lock_id, waits.blocked_by.txn_id, waits.blocked_by.user, waits.blocked_by.table),
        (lock_pb2.LOCK_STATE_WAITING, answer.lock_id, txn, USER, TABLE),
    )
    commit = txns.CommitTxn(transaction_pb2.CommitTxnRequest(txn_id=txn), timeout=TIMEOUT)
    check("the commit has a time", commit.commit_time_ms > 1_600_000_000_000, True)
    granted = locks.CheckLock(lock_pb2.CheckLockRequest(lock_id=waits.lock_id), timeout=TIMEOUT)
    check("which releases the lock to the next", granted.state, lock_pb2.LOCK_STATE_ACQUIRED)
    check("and shows the write", visible(txns), [f"default.{TABLE}:1:{2**63 - 1}::"])

    check("the second write id is 2", allocate(txns, waiter), [(waiter, 2)])
    aborted = txns.AbortTxns(transaction_pb2.AbortTxnsRequest(txn_ids=[waiter], reason_code=50005), timeout=TIMEOUT)
    check("an abort", (list(aborted.aborted_txn_ids), list(aborted.skipped_txn_ids)), ([waiter], []))
    check("is never seen", visible(txns), [f"default.{TABLE}:2:{2**63 - 1}::2"])
    return waiter


def errors(txns, locks, catalog, aborted):
    code, detail = error_of(txns.CommitTxn, transaction_pb2.CommitTxnRequest(txn_id=aborted))
    check("commit of an aborted one", (code, detail.code, detail.kind, detail.txn_id), ("ABORTED", "TXN_ABORTED", "conflict", aborted))
    code, detail = error_of(txns.CommitTxn, transaction_pb2.CommitTxnRequest(txn_id=2**62), metadata=[("x-request-id", "r-1")])
    check(
        "commit of none",
        (code, detail.code, detail.kind, detail.txn_id, detail.hive_code, detail.request_id, detail.not_begun),
        ("NOT_FOUND", "NO_SUCH_TXN", "invalid", 2**62, 10262, "r-1", False),
    )
    code, detail = error_of(locks.CheckLock, lock_pb2.CheckLockRequest(lock_id=2**61))
    check("check of no lock", (code, detail.code, detail.lock_id), ("NOT_FOUND", "NO_SUCH_LOCK", 2**61))
    code, detail = error_of(catalog.GetTable, catalog_pb2.GetTableRequest(database="default", name="none"))
    check("a table that is not there", (code, detail.code), ("NOT_FOUND", "NO_SUCH_OBJECT"))
    code, detail = error_of(txns.OpenTxns, transaction_pb2.OpenTxnsRequest(count=1, user="a"), metadata=[("x-skep-user", "b")])
    check("two users in one call", (code, detail.code, detail.user), ("PERMISSION_DENIED", "ACCESS_DENIED", "a"))
    try:
        txns.ShowTxns(transaction_pb2.ShowTxnsRequest(), timeout=-1)
        check("a deadline that has passed", "OK", "DEADLINE_EXCEEDED")
    except grpc.RpcError as error:
        check("a deadline that has passed", error.code().name, "DEADLINE_EXCEEDED")


def health_and_reflection(channel):
    health = health_pb2_grpc.HealthStub(channel)
    for service in ["", "skep.v1.TransactionService", "skep.v1.LockService"]:
        answer = health.Check(health_pb2.HealthCheckRequest(service=service), timeout=TIMEOUT)
        check(f"health of '{service}'", answer.status, health_pb2.HealthCheckResponse.SERVING)
    database = ProtoReflectionDescriptorDatabase(channel)
    names = {f"skep.v1.{name}Service" for name in ["Catalog", "Transaction", "Lock", "Compaction"]}
    check("reflection lists the services", names <= set(database.get_services()), True)
    service = DescriptorPool(database).FindServiceByName("skep.v1.LockService")
    generated = lock_pb2.DESCRIPTOR.services_by_name["LockService"]
    check("with the methods of the contract", [m.name for m in service.methods], [m.name for m in generated.methods])
    fields = [(f.name, f.number) for f in service.methods_by_name["Lock"].output_type.fields]
    check("and their fields", fields, [(f.name, f.number) for f in lock_pb2.LockResponse.DESCRIPTOR.fields])


def secured():
    def read(name):
        with open(os.path.join(os.environ["SKEP_TLS"], name), "rb") as file:
            return file.read()

    address = os.environ["SKEP_SECURE"]
    credentials = grpc.ssl_channel_credentials(read("ca.pem"), read("client.key"), read("client.pem"))
    with_token = grpc.composite_channel_credentials(credentials, grpc.access_token_call_credentials(os.environ["SKEP_TOKEN"]))
    with grpc.secure_channel(address, with_token) as channel:
        txns = transaction_pb2_grpc.TransactionServiceStub(channel)
        check("over TLS with a token", open_one(txns, "token-user") > 0, True)
        code, detail = error_of(txns.OpenTxns, transaction_pb2.OpenTxnsRequest(count=1, user="other"))
        check(
            "but not for another",
            (code, detail.code, detail.caller, detail.user),
            ("PERMISSION_DENIED", "ACCESS_DENIED", "token-user", "other"),
        )
    with grpc.secure_channel(address, credentials) as channel:
        txns = transaction_pb2_grpc.TransactionServiceStub(channel)
        check("over TLS as the certificate says", open_one(txns, "client") > 0, True)
    with grpc.secure_channel(address, grpc.ssl_channel_credentials(read("ca.pem"))) as channel:
        code, _ = error_of(transaction_pb2_grpc.TransactionServiceStub(channel).ShowTxns, transaction_pb2.ShowTxnsRequest())
        check("without a certificate", code, "UNAVAILABLE")


with grpc.insecure_channel(os.environ["SKEP_PLAIN"]) as plain:
    transactions = transaction_pb2_grpc.TransactionServiceStub(plain)
    lock_service = lock_pb2_grpc.LockServiceStub(plain)
    last = life(transactions, lock_service)
    errors(transactions, lock_service, catalog_pb2_grpc.CatalogServiceStub(plain), last)
    health_and_reflection(plain)
secured()
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
