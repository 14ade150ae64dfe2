import { type ErrorKind, SkepError } from '@skep/core';

/** The request itself cannot be right. */
export class InvalidRequestError extends SkepError {
  constructor(message: string) {
    super('INVALID_REQUEST', 'invalid', message);
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

/** The other side cannot be reached, or did not answer in time. */
export class UnreachableError extends SkepError {
  readonly address: string;
  constructor(address: string, message: string, options: { cause?: unknown; code?: 'UNREACHABLE' | 'DEADLINE' } = {}) {
    super(options.code ?? 'UNREACHABLE', 'unavailable', message, { cause: options.cause });
    this.address = address;
  }
}

/** An error that came over the wire and has no class of its own here. */
export class RemoteError extends SkepError {
  readonly path: string | undefined;
  constructor(
    code: string,
    kind: ErrorKind,
    message: string,
    options: { hiveCode?: number; sqlState?: string; path?: string },
  ) {
    super(code, kind, message, options);
    this.path = options.path;
  }
}
