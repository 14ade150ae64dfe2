import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { BugError, type ErrorKind, SkepError } from '@skep/core';
import {
  ABORTED,
  ALREADY_EXISTS,
  CANCELLED,
  DATA_LOSS,
  DEADLINE_EXCEEDED,
  FAILED_PRECONDITION,
  INTERNAL,
  INVALID_ARGUMENT,
  NOT_FOUND,
  PERMISSION_DENIED,
  RESOURCE_EXHAUSTED,
  UNAUTHENTICATED,
  UNAVAILABLE,
  UNIMPLEMENTED,
} from './codes.js';
import * as errors from './errors.js';
import { ErrorDetail } from './gen/skep/v1/error.js';
import { BlockingLock } from './gen/skep/v1/lock.js';

/** Trailer of the rich status (google.rpc.Status), read by gRPC's status libraries in every language. */
export const STATUS_DETAILS = 'grpc-status-details-bin';
const DETAIL_TYPE = 'type.googleapis.com/skep.v1.ErrorDetail';

/** Codes of errors that do not follow from their kind. */
const BY_CODE: ReadonlyMap<string, number> = new Map([
  ['ALREADY_EXISTS', ALREADY_EXISTS],
  ['TXN_OPEN', FAILED_PRECONDITION],
  ['INVALID_OPERATION', FAILED_PRECONDITION],
  ['TICKET_EXPIRED', FAILED_PRECONDITION],
  ['TXN_ELSEWHERE', FAILED_PRECONDITION],
  ['UNAUTHENTICATED', UNAUTHENTICATED],
  ['ACCESS_DENIED', PERMISSION_DENIED],
  ['OVERLOADED', RESOURCE_EXHAUSTED],
  ['CANCELLED', CANCELLED],
  ['DEADLINE', DEADLINE_EXCEEDED],
  ['UNIMPLEMENTED', UNIMPLEMENTED],
]);

export interface WireStatus {
  readonly code: number;
  readonly message: string;
  readonly detail: ErrorDetail;
}

function grpcCode(error: SkepError): number {
  const known = BY_CODE.get(error.code);
  if (known !== undefined) return known;
  switch (error.kind) {
    case 'invalid':
      return error.code.startsWith('NO_SUCH_') ? NOT_FOUND : INVALID_ARGUMENT;
    case 'conflict':
      return ABORTED;
    case 'unavailable':
      return error.code.startsWith('TOO_MANY_') ? RESOURCE_EXHAUSTED : UNAVAILABLE;
    case 'corrupt':
      return DATA_LOSS;
    case 'bug':
      return INTERNAL;
  }
}

function field<T>(error: SkepError, name: string, type: 'bigint' | 'string'): T | undefined {
  const value = (error as unknown as Record<string, unknown>)[name];
  return typeof value === type ? (value as T) : undefined;
}

/** Of an error that was thrown because of a lock. */
function blockingLock(error: SkepError): BlockingLock | undefined {
  const { blockedBy } = error as { blockedBy?: Partial<BlockingLock> };
  return typeof blockedBy?.lockId === 'bigint' ? BlockingLock.fromPartial(blockedBy) : undefined;
}

/** What a server adds to an error that it answers. */
export interface Answered {
  readonly notBegun?: boolean;
  readonly requestId?: string;
}

/** What a server answers for an error. Whatever is not a SkepError is a defect of the server. */
export function toStatus(thrown: unknown, { notBegun = false, requestId = '' }: Answered = {}): WireStatus {
  const error = thrown instanceof SkepError ? thrown : new BugError(String(thrown), { cause: thrown });
  const detail: ErrorDetail = {
    code: error.code,
    kind: error.kind,
    hiveCode: error.hiveCode ?? 0,
    sqlState: error.sqlState ?? '',
    txnId: field<bigint>(error, 'txnId', 'bigint'),
    winnerTxnId: field<bigint>(error, 'winnerTxnId', 'bigint'),
    lockId: field<bigint>(error, 'lockId', 'bigint'),
    path: field<string>(error, 'path', 'string'),
    blockedBy: blockingLock(error),
    compactionId: field<bigint>(error, 'compactionId', 'bigint'),
    caller: field<string>(error, 'caller', 'string'),
    user: field<string>(error, 'user', 'string'),
    notBegun,
    requestId,
  };
  return { code: grpcCode(error), message: error.message, detail };
}

/** google.rpc.Status { int32 code = 1; string message = 2; repeated google.protobuf.Any details = 3 } with the one detail. */
export function statusDetails({ code, message, detail }: WireStatus): Uint8Array {
  const bytes = ErrorDetail.encode(detail).finish();
  const any = new BinaryWriter().uint32(10).string(DETAIL_TYPE).uint32(18).bytes(bytes).finish();
  return new BinaryWriter().uint32(8).int32(code).uint32(18).string(message).uint32(26).bytes(any).finish();
}

/** The ErrorDetail in a google.rpc.Status, if it holds one. */
export function readDetail(status: Uint8Array): ErrorDetail | undefined {
  let detail: ErrorDetail | undefined;
  readFields(status, 3, (any) => {
    readFields(any, 2, (value) => {
      detail = ErrorDetail.decode(value);
    });
  });
  return detail;
}

/** Calls `use` with the bytes of each length-delimited field of that number. */
function readFields(message: Uint8Array, number: number, use: (bytes: Uint8Array) => void): void {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [found, wireType] = reader.tag();
    if (found === number && wireType === 2) use(reader.bytes());
    else reader.skip(wireType, found);
  }
}

/** What a client makes of a status. */
export interface Failure {
  readonly error: SkepError;
  /** Nothing was done: any method may be called again. */
  readonly notBegun: boolean;
  /** The connection broke, or the other side could not do it now: it may have been done. */
  readonly isLost: boolean;
}

/** A status without a detail comes from gRPC itself. */
export interface ReceivedStatus {
  readonly code: number;
  readonly message: string;
  readonly detail?: ErrorDetail | undefined;
}

/** The error a caller sees: of the same class as if the service were in the same process. */
export function fromStatus(address: string, status: ReceivedStatus): Failure {
  const { code, message, detail } = status;
  if (detail !== undefined) {
    const { notBegun } = detail;
    return { error: revive(detail, message), notBegun, isLost: code === UNAVAILABLE };
  }
  return { error: fromGrpc(address, status), notBegun: false, isLost: LOST.has(code) };
}

const LOST: ReadonlySet<number> = new Set([CANCELLED, UNAVAILABLE]);

/** A failure that gRPC itself reports: there is no detail of ours. */
function fromGrpc(address: string, { code, message }: { code: number; message: string }): SkepError {
  const text = `${address}: ${message}`;
  switch (code) {
    case DEADLINE_EXCEEDED:
      return new errors.UnreachableError(address, text, { code: 'DEADLINE' });
    case RESOURCE_EXHAUSTED:
      return new errors.RemoteError('MESSAGE_TOO_LARGE', 'invalid', text, {});
    case UNIMPLEMENTED:
      return new errors.RemoteError('UNIMPLEMENTED', 'invalid', `${text} (is that service served there?)`, {});
    case UNAUTHENTICATED:
      return new errors.UnauthenticatedError(text);
    case INTERNAL:
      return new errors.RemoteError('BUG', 'bug', text, {});
    default:
      return new errors.UnreachableError(address, text);
  }
}

function revive(detail: ErrorDetail, message: string): SkepError {
  const txnId = detail.txnId ?? 0n;
  const lockId = detail.lockId ?? 0n;
  switch (detail.code) {
    case 'INVALID_REQUEST':
      return new errors.InvalidRequestError(message);
    case 'NO_SUCH_TXN':
      return new errors.NoSuchTxnError(txnId, message);
    case 'TXN_ABORTED':
      return new errors.TxnAbortedError(txnId, message);
    case 'TXN_CONFLICT':
      return new errors.TxnConflictError(txnId, detail.winnerTxnId ?? 0n, message);
    case 'TOO_MANY_OPEN_TXNS':
      return new errors.TooManyOpenTxnsError(message);
    case 'NO_SUCH_LOCK':
      return new errors.NoSuchLockError(lockId, message);
    case 'TXN_OPEN':
      return new errors.TxnOpenError(lockId, txnId, message);
    case 'NO_SUCH_COMPACTION':
      return new errors.NoSuchCompactionError(detail.compactionId ?? 0n, message);
    case 'UNAUTHENTICATED':
      return new errors.UnauthenticatedError(message);
    case 'ACCESS_DENIED':
      return new errors.AccessDeniedError(detail.caller ?? '', detail.user ?? '', message);
    default:
      return new errors.RemoteError(detail.code, kindOf(detail.kind), message, {
        hiveCode: detail.hiveCode === 0 ? undefined : detail.hiveCode,
        sqlState: detail.sqlState === '' ? undefined : detail.sqlState,
        path: detail.path,
        txnId: detail.txnId,
        lockId: detail.lockId,
        compactionId: detail.compactionId,
        blockedBy: detail.blockedBy,
      });
  }
}

function kindOf(text: string): ErrorKind {
  switch (text) {
    case 'invalid':
    case 'conflict':
    case 'unavailable':
    case 'corrupt':
      return text;
    default:
      return 'bug';
  }
}
