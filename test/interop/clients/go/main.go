// A client made of proto/ by protoc-gen-go drives a full life of a transaction and reads typed errors.
// SKEP_PLAIN, SKEP_SECURE (addresses), SKEP_TLS (folder of ca.pem, client.pem, client.key), SKEP_TOKEN.
// Prints a line a check and the counts; ends with 1 if one failed.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	skep "skep.dev/interop/gen"
)

const (
	user  = "go"
	table = "t_go"
	never = int64(1) << 62
)

var passed, failed int

func check(what string, actual, expected any) {
	if reflect.DeepEqual(actual, expected) {
		passed++
		fmt.Printf("  ok   %s\n", what)
		return
	}
	failed++
	fmt.Printf("  FAIL %s: %v, expected %v\n", what, actual, expected)
}

// must ends the run where a call fails that nothing after it can do without.
func must[T any](value T, err error) T {
	if err != nil {
		fmt.Printf("  FAIL %v\n%d passed, %d failed\n", err, passed, failed+1)
		os.Exit(1)
	}
	return value
}

// failure is the status code and the typed detail of a call that must fail.
func failure(err error) (codes.Code, *skep.ErrorDetail) {
	converted := status.Convert(err)
	for _, detail := range converted.Details() {
		if typed, ok := detail.(*skep.ErrorDetail); ok {
			return converted.Code(), typed
		}
	}
	return converted.Code(), &skep.ErrorDetail{}
}

func within() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	time.AfterFunc(10*time.Second, cancel)
	return ctx
}

func openOne(txns skep.TransactionServiceClient, who string) int64 {
	request := &skep.OpenTxnsRequest{Count: 1, User: who, Host: "localhost", AgentInfo: "interop"}
	return must(txns.OpenTxns(within(), request)).TxnIds[0]
}

func allocate(txns skep.TransactionServiceClient, txn int64) []int64 {
	request := &skep.AllocateTableWriteIdsRequest{TxnIds: []int64{txn}, Database: "default", Table: table}
	var ids []int64
	for _, one := range must(txns.AllocateTableWriteIds(within(), request)).TxnToWriteIds {
		ids = append(ids, one.TxnId, one.WriteId)
	}
	return ids
}

func lockRequest(txn int64, kind skep.LockType, operation skep.DataOperation) *skep.LockRequest {
	component := &skep.LockComponent{
		Type: kind, Level: skep.LockLevel_LOCK_LEVEL_TABLE, Database: "default", Table: proto.String(table),
		Operation: operation, IsTransactional: true,
	}
	return &skep.LockRequest{
		Components: []*skep.LockComponent{component}, TxnId: txn, User: user, Host: "localhost", AgentInfo: "query",
	}
}

func visible(txns skep.TransactionServiceClient) []string {
	request := &skep.GetValidWriteIdsRequest{Tables: []string{"default." + table}}
	return must(txns.GetValidWriteIds(within(), request)).ValidWriteIds
}

func life(txns skep.TransactionServiceClient, locks skep.LockServiceClient) int64 {
	txn := openOne(txns, user)
	check("the first write id is 1", allocate(txns, txn), []int64{txn, 1})
	update := skep.DataOperation_DATA_OPERATION_UPDATE
	held := must(locks.Lock(within(), lockRequest(txn, skep.LockType_LOCK_TYPE_SHARED_WRITE, update)))
	check("the lock is held", held.State, skep.LockState_LOCK_STATE_ACQUIRED)
	again := must(locks.CheckLock(within(), &skep.CheckLockRequest{LockId: held.LockId}))
	check("and still is", again.State, skep.LockState_LOCK_STATE_ACQUIRED)
	beat := must(txns.HeartbeatTxns(within(), &skep.HeartbeatTxnsRequest{TxnIds: []int64{txn, never}}))
	check("a heartbeat tells what is not open", beat.NoSuchTxnIds, []int64{never})
	check("others do not see the write", visible(txns), []string{"default." + table + ":1:1:1:"})

	waiter := openOne(txns, user)
	noTxn := skep.DataOperation_DATA_OPERATION_NO_TXN
	waits := must(locks.Lock(within(), lockRequest(waiter, skep.LockType_LOCK_TYPE_EXCLUSIVE, noTxn)))
	by := waits.BlockedBy
	check("an exclusive lock waits, and says for whom",
		[]any{waits.State, by.GetLockId(), by.GetTxnId(), by.GetUser(), by.GetTable()},
		[]any{skep.LockState_LOCK_STATE_WAITING, held.LockId, txn, user, table})
	commit := must(txns.CommitTxn(within(), &skep.CommitTxnRequest{TxnId: txn}))
	check("the commit has a time", commit.CommitTimeMs > 1_600_000_000_000, true)
	granted := must(locks.CheckLock(within(), &skep.CheckLockRequest{LockId: waits.LockId}))
	check("which releases the lock to the next", granted.State, skep.LockState_LOCK_STATE_ACQUIRED)
	check("and shows the write", visible(txns), []string{"default." + table + ":1:9223372036854775807::"})

	check("the second write id is 2", allocate(txns, waiter), []int64{waiter, 2})
	abort := &skep.AbortTxnsRequest{TxnIds: []int64{waiter}, ReasonCode: 50005}
	check("an abort", must(txns.AbortTxns(within(), abort)).AbortedTxnIds, []int64{waiter})
	check("is never seen", visible(txns), []string{"default." + table + ":2:9223372036854775807::2"})
	return waiter
}

func failures(txns skep.TransactionServiceClient, locks skep.LockServiceClient, aborted int64) {
	_, err := txns.CommitTxn(within(), &skep.CommitTxnRequest{TxnId: aborted})
	code, detail := failure(err)
	check("commit of an aborted one",
		[]any{code, detail.Code, detail.Kind, detail.GetTxnId()}, []any{codes.Aborted, "TXN_ABORTED", "conflict", aborted})
	named := metadata.AppendToOutgoingContext(within(), "x-request-id", "r-1")
	_, err = txns.CommitTxn(named, &skep.CommitTxnRequest{TxnId: never})
	code, detail = failure(err)
	check("commit of none",
		[]any{code, detail.Code, detail.Kind, detail.GetTxnId(), detail.HiveCode, detail.RequestId},
		[]any{codes.NotFound, "NO_SUCH_TXN", "invalid", never, int32(10262), "r-1"})
	_, err = locks.CheckLock(within(), &skep.CheckLockRequest{LockId: never})
	code, detail = failure(err)
	check("check of no lock", []any{code, detail.Code, detail.GetLockId()}, []any{codes.NotFound, "NO_SUCH_LOCK", never})
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = txns.ShowTxns(cancelled, &skep.ShowTxnsRequest{})
	check("a call that was cancelled", status.Code(err), codes.Canceled)
}

// bearer sends a token with each call.
type bearer string

func (token bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(token)}, nil
}

func (bearer) RequireTransportSecurity() bool { return true }

func secured() {
	dir := os.Getenv("SKEP_TLS")
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(must(os.ReadFile(filepath.Join(dir, "ca.pem"))))
	own := must(tls.LoadX509KeyPair(filepath.Join(dir, "client.pem"), filepath.Join(dir, "client.key")))
	dial := func(config *tls.Config, options ...grpc.DialOption) skep.TransactionServiceClient {
		options = append(options, grpc.WithTransportCredentials(credentials.NewTLS(config)))
		return skep.NewTransactionServiceClient(must(grpc.NewClient(os.Getenv("SKEP_SECURE"), options...)))
	}
	mutual := &tls.Config{RootCAs: authorities, Certificates: []tls.Certificate{own}}
	txns := dial(mutual, grpc.WithPerRPCCredentials(bearer(os.Getenv("SKEP_TOKEN"))))
	check("over TLS with a token", openOne(txns, "token-user") > 0, true)
	_, err := txns.OpenTxns(within(), &skep.OpenTxnsRequest{Count: 1, User: "other"})
	code, detail := failure(err)
	check("but not for another", []any{code, detail.Code, detail.GetCaller(), detail.GetUser()},
		[]any{codes.PermissionDenied, "ACCESS_DENIED", "token-user", "other"})
	check("over TLS as the certificate says", openOne(dial(mutual), "client") > 0, true)
	_, err = dial(&tls.Config{RootCAs: authorities}).ShowTxns(within(), &skep.ShowTxnsRequest{})
	check("without a certificate", status.Code(err), codes.Unavailable)
}

func main() {
	transport := grpc.WithTransportCredentials(insecure.NewCredentials())
	plain := must(grpc.NewClient(os.Getenv("SKEP_PLAIN"), transport))
	txns, locks := skep.NewTransactionServiceClient(plain), skep.NewLockServiceClient(plain)
	failures(txns, locks, life(txns, locks))
	secured()
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
