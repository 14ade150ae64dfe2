import { SkepError } from '@skep/core';

/** A lock was not to be had: Hive's 10307 (waited too long) or 10104 (refused at once). */
export class LockNotAcquiredError extends SkepError {
  /** Who is in the way, first: the record of the abort has little room. */
  readonly brief: string;

  constructor(code: string, kind: 'unavailable' | 'conflict', message: string, hiveCode: number, brief: string) {
    super(code, kind, message.trim(), { hiveCode, sqlState: '42000' });
    this.brief = brief;
  }
}

/** `inTheWay`: the lock manager's words for it; `locks`: all of them, where they are to be told. */
export const lockTimedOut = (txnId: bigint, waitedMs: number, inTheWay: string, locks: string): LockNotAcquiredError =>
  new LockNotAcquiredError(
    'LOCK_ACQUIRE_TIMEDOUT',
    'unavailable',
    `Lock acquisition for txnid:${txnId} timed out after ${waitedMs}ms. ${inTheWay}`.trim() + locks,
    10307,
    `no lock in ${waitedMs}ms: ${inTheWay}`,
  );

export const lockRefused = (inTheWay: string): LockNotAcquiredError =>
  new LockNotAcquiredError(
    'LOCK_CANNOT_BE_ACQUIRED',
    'conflict',
    `Locks on the underlying objects cannot be acquired, retry after some time. ${inTheWay}`,
    10104,
    `no lock: ${inTheWay}`,
  );
