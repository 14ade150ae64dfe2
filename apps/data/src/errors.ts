import { SkepError } from '@skep/core';

/** As many snapshots or transactions are kept as this process keeps. */
export class TooManyHeldError extends SkepError {
  constructor(message: string) {
    super('OVERLOADED', 'unavailable', message);
  }
}

/** A transaction that this service did not begin, or no longer has; where it is open, another service keeps it. */
export class NotHeldError extends SkepError {
  readonly txnId: bigint;
  constructor(txnId: bigint, message: string, isElsewhere: boolean) {
    // Hive's number is for transactions that are not there.
    if (isElsewhere) super('TXN_ELSEWHERE', 'invalid', message);
    else super('NO_SUCH_TXN', 'invalid', message, { hiveCode: 10262 });
    this.txnId = txnId;
  }
}
