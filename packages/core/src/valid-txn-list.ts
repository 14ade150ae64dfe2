import { SkepError } from './errors.js';
import { LONG_MAX, type TxnId } from './ids.js';
import {
  abortedIdsOf,
  formatIds,
  isIdAborted,
  isIdValid,
  isRangeAborted,
  isRangeValid,
  mergeExceptions,
  openIdsOf,
  parseIds,
  parseLong,
  type RangeResponse,
  smallestId,
  type ValidIds,
} from './valid-ids.js';

/** A text that is not a list of valid ids in Hive's form. */
export class InvalidIdListError extends SkepError {
  readonly text: string;
  constructor(what: string, text: string) {
    super('INVALID_ID_LIST', 'invalid', `not a ${what} in Hive's form: '${text}'`);
    this.text = text;
  }
}

/** From how many consecutive ids on Hive writes a run as `a-b` (ValidReadTxnList). */
const RANGE_FROM = 5;

/**
 * Which transactions a reader sees: org.apache.hadoop.hive.common.ValidReadTxnList (the configuration value
 * `hive.txn.valid.txns`). String form `highWatermark:minOpenTxn:open:aborted`. Immutable.
 */
export class ValidTxnList implements ValidIds {
  readonly highWatermark: TxnId;
  readonly exceptions: readonly TxnId[];
  readonly aborted: readonly boolean[];
  /** LONG_MAX: none. */
  readonly minOpenTxn: TxnId;

  private constructor(highWatermark: TxnId, ids: Omit<ValidIds, 'highWatermark'>, minOpenTxn: TxnId) {
    this.highWatermark = highWatermark;
    this.exceptions = ids.exceptions;
    this.aborted = ids.aborted;
    this.minOpenTxn = minOpenTxn;
    Object.freeze(this);
  }

  /** `minOpenTxn` defaults to the smallest open id. */
  static of(
    highWatermark: TxnId,
    options: { open?: readonly TxnId[]; aborted?: readonly TxnId[]; minOpenTxn?: TxnId } = {},
  ): ValidTxnList {
    const open = options.open ?? [];
    const minOpenTxn = options.minOpenTxn ?? smallestId(open);
    return new ValidTxnList(highWatermark, mergeExceptions(open, options.aborted ?? []), minOpenTxn);
  }

  /** Sees every transaction: what the empty text means. */
  static allValid(): ValidTxnList {
    return ValidTxnList.of(LONG_MAX);
  }

  /**
   * What the Cleaner may judge by (TxnUtils.createValidTxnListForCleaner): nothing from `minOpenTxn` on is valid,
   * below it all but the aborted ids (and, for the clean-up of aborts, the open ones).
   */
  static forCleaner(list: ValidTxnList, minOpenTxn: TxnId, keepOpen = false): ValidTxnList {
    const highWatermark = minOpenTxn - 1n;
    const below = (id: TxnId) => id <= highWatermark;
    return ValidTxnList.of(highWatermark, {
      open: keepOpen ? list.openTxns.filter(below) : [],
      aborted: list.abortedTxns.filter(below),
      minOpenTxn: LONG_MAX,
    });
  }

  static parse(text: string): ValidTxnList {
    if (text === '') return ValidTxnList.allValid();
    const [highWatermark, minOpen, open, aborted, ...rest] = text.split(':');
    const parsed = [parseLong(highWatermark), minOpen === undefined ? LONG_MAX : parseLong(minOpen)] as const;
    const ids = [parseIds(open ?? ''), parseIds(aborted ?? '')] as const;
    if (parsed[0] === undefined || parsed[1] === undefined || !ids[0] || !ids[1] || rest.length > 0) {
      throw new InvalidIdListError('ValidTxnList', text);
    }
    return ValidTxnList.of(parsed[0], { open: ids[0], aborted: ids[1], minOpenTxn: parsed[1] });
  }

  get openTxns(): readonly TxnId[] {
    return openIdsOf(this);
  }

  get abortedTxns(): readonly TxnId[] {
    return abortedIdsOf(this);
  }

  isTxnValid(txnId: TxnId): boolean {
    return isIdValid(this, txnId);
  }

  isTxnAborted(txnId: TxnId): boolean {
    return isIdAborted(this, txnId);
  }

  isTxnRangeValid(min: TxnId, max: TxnId): RangeResponse {
    return isRangeValid(this, min, max);
  }

  isTxnRangeAborted(min: TxnId, max: TxnId): RangeResponse {
    return isRangeAborted(this, min, max);
  }

  toString(): string {
    const ids = `${formatIds(openIdsOf(this), RANGE_FROM)}:${formatIds(abortedIdsOf(this), RANGE_FROM)}`;
    return `${this.highWatermark}:${this.minOpenTxn}:${ids}`;
  }
}
