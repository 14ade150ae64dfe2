import { SkepError } from '@skep/core';

/** As many snapshots or transactions are kept as this process keeps. */
export class TooManyHeldError extends SkepError {
  constructor(message: string) {
    super('OVERLOADED', 'unavailable', message);
  }
}

/** A transaction that this service did not begin, or no longer has. */
export class NotHeldError extends SkepError {
  readonly txnId: bigint;
  constructor(txnId: bigint, message: string) {
    super('NO_SUCH_TXN', 'invalid', message, { hiveCode: 10262 });
    this.txnId = txnId;
  }
}
