import { type ErrorKind, SkepError } from '@skep/core';
import type { BlockingLock } from './gen/skep/v1/lock.js';

/** The request itself cannot be right. */
export class InvalidRequestError extends SkepError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('INVALID_REQUEST', 'invalid', message, options);
  }
}

/** Hive's NoSuchTxnException: an id that was never opened, is forgotten, or (where an open one is needed) is committed. */
export class NoSuchTxnError extends SkepError {
  readonly txnId: bigint;
  constructor(txnId: bigint, message = `No such transaction txnid:${txnId}`) {
    super('NO_SUCH_TXN', 'invalid', message, { hiveCode: 10262 });
    this.txnId = txnId;
  }
}

/** Hive's TxnAbortedException: redo the work in a new transaction. */
export class TxnAbortedError extends SkepError {
  readonly txnId: bigint;
  constructor(txnId: bigint, message = `Transaction txnid:${txnId} already aborted`, code = 'TXN_ABORTED') {
    super(code, 'conflict', message, { hiveCode: 10263 });
    this.txnId = txnId;
  }
}

/** The first committer won: this transaction was aborted at its commit because of another's committed write. */
export class TxnConflictError extends TxnAbortedError {
  readonly winnerTxnId: bigint;
  constructor(txnId: bigint, winnerTxnId: bigint, message: string) {
    super(txnId, message, 'TXN_CONFLICT');
    this.winnerTxnId = winnerTxnId;
  }
}

/** hive.max.open.txns is reached. */
export class TooManyOpenTxnsError extends SkepError {
  constructor(message: string) {
    super('TOO_MANY_OPEN_TXNS', 'unavailable', message);
  }
}

/** Hive's NoSuchLockException: released, expired, or never asked for. */
export class NoSuchLockError extends SkepError {
  readonly lockId: bigint;
  constructor(lockId: bigint, message = `No such lock lockid:${lockId}`) {
    super('NO_SUCH_LOCK', 'invalid', message, { hiveCode: 10270 });
    this.lockId = lockId;
  }
}

/** Hive's TxnOpenException: a lock that was acquired for a transaction goes at its commit or abort only. */
export class TxnOpenError extends SkepError {
  readonly lockId: bigint;
  readonly txnId: bigint;
  constructor(lockId: bigint, txnId: bigint, message?: string) {
    super('TXN_OPEN', 'invalid', message ?? `Unlock of lockid:${lockId}, which belongs to the open txnid:${txnId}`);
    this.lockId = lockId;
    this.txnId = txnId;
  }
}

/** No such request in the compaction queue, or not in the state, or not the caller's, that the call needs. */
export class NoSuchCompactionError extends SkepError {
  readonly compactionId: bigint;
  constructor(compactionId: bigint, message: string) {
    super('NO_SUCH_COMPACTION', 'invalid', message);
    this.compactionId = compactionId;
  }
}

/** The other side cannot be reached, or did not answer in time; whether it did what was asked is not known. */
export class UnreachableError extends SkepError {
  readonly address: string;
  constructor(address: string, message: string, options: { cause?: unknown; code?: 'UNREACHABLE' | 'DEADLINE' } = {}) {
    super(options.code ?? 'UNREACHABLE', 'unavailable', message, { cause: options.cause });
    this.address = address;
  }
}

/** One side does not take the other's certificate, or speaks no TLS: trying again changes nothing. */
export class TlsError extends SkepError {
  readonly address: string;
  constructor(address: string, message: string, options: { cause?: unknown } = {}) {
    super('TLS', 'invalid', message, options);
    this.address = address;
  }
}

/** An error that came over the wire and has no class of its own here. */
export class RemoteError extends SkepError {
  readonly path: string | undefined;
  readonly txnId?: bigint;
  readonly lockId?: bigint;
  readonly compactionId?: bigint;
  readonly blockedBy?: BlockingLock;
  constructor(
    code: string,
    kind: ErrorKind,
    message: string,
    options: {
      hiveCode?: number;
      sqlState?: string;
      path?: string;
      txnId?: bigint;
      lockId?: bigint;
      compactionId?: bigint;
      blockedBy?: BlockingLock;
    },
  ) {
    super(code, kind, message, options);
    this.path = options.path;
    if (options.txnId !== undefined) this.txnId = options.txnId;
    if (options.lockId !== undefined) this.lockId = options.lockId;
    if (options.compactionId !== undefined) this.compactionId = options.compactionId;
    if (options.blockedBy !== undefined) this.blockedBy = options.blockedBy;
  }
}

/** Nobody, or nobody known: no token, a wrong one, or a certificate that names no user. */
export class UnauthenticatedError extends SkepError {
  constructor(message: string) {
    super('UNAUTHENTICATED', 'invalid', message);
  }
}

/** The caller may not act for that user (org.apache.hadoop.security.authorize.AuthorizationException). */
export class AccessDeniedError extends SkepError {
  readonly caller: string;
  readonly user: string;
  constructor(caller: string, user: string, message: string) {
    super('ACCESS_DENIED', 'invalid', message);
    this.caller = caller;
    this.user = user;
  }
}

/** The server has as many calls as it takes, or is about to end; the call was not begun. */
export class NotBegunError extends SkepError {
  constructor(code: 'OVERLOADED' | 'SHUTTING_DOWN', message: string) {
    super(code, 'unavailable', message);
  }
}

/** Why a call's signal is aborted at the server. */
export class CallEndedError extends SkepError {
  constructor(code: 'CANCELLED' | 'DEADLINE' | 'SHUTTING_DOWN', message: string) {
    super(code, 'unavailable', message);
  }
}
