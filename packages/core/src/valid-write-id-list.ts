import { LONG_MAX, LONG_MIN, type TxnId, type WriteId } from './ids.js';
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
import { InvalidIdListError } from './valid-txn-list.js';

/** Whose list it is: Hive's ValidReaderWriteIdList, ValidCompactorWriteIdList, ValidCleanerWriteIdList. */
export type WriteIdListKind = 'reader' | 'compactor' | 'cleaner';

export interface WriteIdListFields {
  readonly kind?: WriteIdListKind;
  /** `db.table`; null as Hive writes `null`. */
  readonly tableName: string | null;
  readonly highWatermark: WriteId;
  readonly open?: readonly WriteId[];
  readonly aborted?: readonly WriteId[];
  /** Defaults to the smallest open id; LONG_MAX: none. */
  readonly minOpenWriteId?: WriteId;
}

/**
 * Which write ids of one table a reader sees: org.apache.hadoop.hive.common.ValidReaderWriteIdList and its two
 * relatives. String form `db.tbl:highWatermark:minOpenWriteId:open:aborted` (all three kinds). Immutable.
 */
export class ValidWriteIdList implements ValidIds {
  readonly kind: WriteIdListKind;
  readonly tableName: string | null;
  readonly highWatermark: WriteId;
  readonly exceptions: readonly WriteId[];
  readonly aborted: readonly boolean[];
  readonly minOpenWriteId: WriteId;

  private constructor(fields: WriteIdListFields) {
    this.kind = fields.kind ?? 'reader';
    this.tableName = fields.tableName;
    this.highWatermark = fields.highWatermark;
    const ids = mergeExceptions(fields.open ?? [], fields.aborted ?? []);
    this.exceptions = ids.exceptions;
    this.aborted = ids.aborted;
    this.minOpenWriteId = fields.minOpenWriteId ?? smallestId(fields.open ?? []);
    Object.freeze(this);
  }

  static of(fields: WriteIdListFields): ValidWriteIdList {
    return new ValidWriteIdList(fields);
  }

  /** Sees everything: how a folder is read without a metastore. */
  static allValid(tableName: string | null = null): ValidWriteIdList {
    return new ValidWriteIdList({ tableName, highWatermark: LONG_MAX });
  }

  /** An empty text sees everything. */
  static parse(text: string, kind: WriteIdListKind = 'reader'): ValidWriteIdList {
    if (text === '') return new ValidWriteIdList({ kind, tableName: null, highWatermark: LONG_MAX });
    const [table, watermarkText, minOpenText, openText, abortedText, ...rest] = text.split(':');
    const highWatermark = parseLong(watermarkText ?? '');
    const minOpenWriteId = minOpenText === undefined || minOpenText === '' ? LONG_MAX : parseLong(minOpenText);
    const open = parseIds(openText ?? '');
    const aborted = parseIds(abortedText ?? '');
    if (highWatermark === undefined || minOpenWriteId === undefined || !open || !aborted || rest.length > 0) {
      throw new InvalidIdListError('ValidWriteIdList', text);
    }
    const tableName = table === 'null' ? null : table;
    return new ValidWriteIdList({ kind, tableName, highWatermark, minOpenWriteId, open, aborted });
  }

  /**
   * TxnUtils.createValidCompactWriteIdList: a compactor works below the first open write id only; what is left of the
   * exceptions is aborted.
   */
  static forCompactor(reader: ValidWriteIdList): ValidWriteIdList {
    const hasOpen = reader.minOpenWriteId !== LONG_MAX;
    const highWatermark = hasOpen ? reader.minOpenWriteId - 1n : reader.highWatermark;
    return new ValidWriteIdList({
      kind: 'compactor',
      tableName: reader.tableName,
      highWatermark,
      minOpenWriteId: reader.minOpenWriteId,
      aborted: reader.exceptions.filter((id) => id <= highWatermark),
    });
  }

  /** ValidCleanerWriteIdList: a reader that never counts a range that reaches above its high watermark. */
  static forCleaner(reader: ValidWriteIdList, highWatermark: WriteId = reader.highWatermark): ValidWriteIdList {
    return reader.with({ kind: 'cleaner', highWatermark });
  }

  /** The same list with some fields replaced (ValidReaderWriteIdList.updateHighWatermark). */
  with(fields: { kind?: WriteIdListKind; highWatermark?: WriteId; tableName?: string | null }): ValidWriteIdList {
    return new ValidWriteIdList({
      kind: fields.kind ?? this.kind,
      tableName: fields.tableName === undefined ? this.tableName : fields.tableName,
      highWatermark: fields.highWatermark ?? this.highWatermark,
      open: openIdsOf(this),
      aborted: abortedIdsOf(this),
      minOpenWriteId: this.minOpenWriteId,
    });
  }

  get openWriteIds(): readonly WriteId[] {
    return openIdsOf(this);
  }

  get abortedWriteIds(): readonly WriteId[] {
    return abortedIdsOf(this);
  }

  isWriteIdValid(writeId: WriteId): boolean {
    return isIdValid(this, writeId);
  }

  isWriteIdAborted(writeId: WriteId): boolean {
    return isIdAborted(this, writeId);
  }

  isWriteIdRangeValid(min: WriteId, max: WriteId): RangeResponse {
    switch (this.kind) {
      case 'compactor':
        return max <= this.highWatermark ? 'ALL' : 'NONE';
      case 'cleaner':
        return max > this.highWatermark ? 'NONE' : isRangeValid(this, min, max);
      case 'reader':
        return isRangeValid(this, min, max);
    }
  }

  isWriteIdRangeAborted(min: WriteId, max: WriteId): RangeResponse {
    return isRangeAborted(this, min, max);
  }

  /** May a base compacted up to this write id be used: nothing open lies below it. */
  isValidBase(writeId: WriteId): boolean {
    return writeId === LONG_MIN || (writeId < this.minOpenWriteId && writeId <= this.highWatermark);
  }

  toString(): string {
    const ids = `${formatIds(openIdsOf(this))}:${formatIds(abortedIdsOf(this))}`;
    return `${this.tableName}:${this.highWatermark}:${this.minOpenWriteId}:${ids}`;
  }
}

/**
 * The lists of all tables of one transaction: org.apache.hadoop.hive.common.ValidTxnWriteIdList (configuration
 * value `hive.txn.tables.valid.writeids`). String form `txnId$list$list`.
 */
export interface ValidTxnWriteIdList {
  readonly txnId: TxnId;
  /** By `db.table`. */
  readonly lists: ReadonlyMap<string, ValidWriteIdList>;
}

export function formatValidTxnWriteIdList(list: ValidTxnWriteIdList): string {
  return [String(list.txnId), ...[...list.lists.values()].map(String)].join('$');
}

export function parseValidTxnWriteIdList(text: string): ValidTxnWriteIdList {
  const [head, ...parts] = text.split('$');
  const txnId = parseLong(head);
  if (txnId === undefined) throw new InvalidIdListError('ValidTxnWriteIdList', text);
  const lists = new Map<string, ValidWriteIdList>();
  for (const part of parts) {
    const list = ValidWriteIdList.parse(part);
    if (list.tableName === null) throw new InvalidIdListError('ValidTxnWriteIdList', text);
    lists.set(list.tableName, list);
  }
  return { txnId, lists };
}
