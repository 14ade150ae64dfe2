import { type BooleanVector, dropRows, type StructVector } from '@skep/orc';
import type { KeyRun } from './key-runs.js';
import type { RowKeys } from './row-keys.js';
import type { AcidBatch, RowIdVectors, ScanOptions } from './scan-types.js';

/** A batch as it was read. */
export interface ReadRows {
  readonly length: number;
  readonly root: StructVector;
  /** 0: a row of a write that is not valid; undefined: all are. */
  readonly valid: Uint8Array | undefined;
  /** For the ROW__IDs that the caller wants. */
  readonly keys: RowKeys | undefined;
  /** For finding the deleted rows. */
  readonly runs: readonly KeyRun[];
}

/**
 * What is left of a batch without invisible and deleted rows (`deleted` may be empty: none; `deletedCount` of its flags are set);
 * nothing where no row is left.
 */
export function* visibleRows(
  { length, root, valid, keys }: ReadRows,
  deleted: Uint8Array,
  deletedCount: number,
  options: ScanOptions,
): Generator<AcidBatch, void, unknown> {
  const hidden = options.includeDeleted ? withInvalid(undefined, 0, valid) : withInvalid(deleted, deletedCount, valid);
  const kept = length - hidden.count;
  if (options.counts !== undefined) {
    options.counts.rows += length;
    options.counts.hiddenRows += hidden.count;
  }
  if (kept === 0) return;
  const { flags } = hidden;
  const isWhole = flags === undefined || hidden.count === 0;
  yield {
    length: kept,
    root: isWhole ? root : (dropRows(root, flags, kept) as StructVector),
    ...(options.rowIds && keys !== undefined
      ? { rowIds: rowIdVectors(isWhole ? keys : pickKeys(keys, flags, kept)) }
      : {}),
    ...(options.includeDeleted ? { isDeleted: flagsOf(deleted, length, isWhole ? undefined : flags) } : {}),
  };
}

/** The rows not to be handed out: 1; `flags` is undefined where there is none. Writes into the flags given. */
function withInvalid(
  flags: Uint8Array | undefined,
  count: number,
  valid: Uint8Array | undefined,
): { flags: Uint8Array | undefined; count: number } {
  if (valid === undefined) return { flags, count };
  const all = flags === undefined || flags.length === 0 ? new Uint8Array(valid.length) : flags;
  let hidden = 0;
  for (let row = 0; row < valid.length; row++) {
    if (valid[row] === 0) all[row] = 1;
    hidden += all[row];
  }
  return { flags: all, count: hidden };
}

/** Flags that one batch needs and the next one may use again: the rows handed out are no views of them. */
export class Scratch {
  private bytes = new Uint8Array(0);

  /** All zero. */
  flags(length: number): Uint8Array {
    if (this.bytes.length < length) this.bytes = new Uint8Array(length);
    return this.bytes.subarray(0, length).fill(0);
  }
}

function pickKeys(keys: RowKeys, hidden: Uint8Array, length: number): RowKeys {
  const writeIds = new BigInt64Array(length);
  const buckets = new Int32Array(length);
  const rowIds = new BigInt64Array(length);
  for (let row = 0, at = 0; row < hidden.length; row++) {
    if (hidden[row] !== 0) continue;
    writeIds[at] = keys.writeIds[row];
    buckets[at] = keys.buckets[row];
    rowIds[at] = keys.rowIds[row];
    at++;
  }
  return { length, writeIds, buckets, rowIds };
}

/** A copy: the next batch has its flags in the same memory. */
function flagsOf(deleted: Uint8Array, length: number, hidden: Uint8Array | undefined): BooleanVector {
  if (hidden === undefined) return deleted.length === 0 ? noneDeleted(length) : flagVector(deleted.slice());
  const all = deleted.length === 0 ? new Uint8Array(length) : deleted;
  return flagVector(all.filter((_, row) => hidden[row] === 0));
}

function rowIdVectors({ length, writeIds, buckets, rowIds }: RowKeys): RowIdVectors {
  return {
    writeId: { kind: 'long', length, values: writeIds },
    bucket: { kind: 'int', length, values: buckets },
    rowId: { kind: 'long', length, values: rowIds },
  };
}

function flagVector(values: Uint8Array): BooleanVector {
  return { kind: 'boolean', length: values.length, values };
}

export function noneDeleted(length: number): BooleanVector {
  return flagVector(new Uint8Array(length));
}

/** The reader answers columns in the file's order; the caller asked in its own. */
export function orderColumns(root: StructVector, { columns, schema }: ScanOptions): StructVector {
  const wanted = columns ?? [...schema.children.keys()];
  const inFileOrder = [...new Set(wanted)].sort((a, b) => a - b);
  return {
    ...root,
    fieldNames: wanted.map((column) => schema.fieldNames[column]),
    children: wanted.map((column) => root.children[inFileOrder.indexOf(column)]),
  };
}
