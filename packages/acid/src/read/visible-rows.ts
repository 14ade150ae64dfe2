import { type BooleanVector, compactVector, type StructVector } from '@skep/orc';
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

/** What is left of a batch without invisible and deleted rows (`deleted` may be empty: none); nothing where no row is left. */
export function* visibleRows(
  { length, root, valid, keys }: ReadRows,
  deleted: Uint8Array,
  options: ScanOptions,
  scratch: Scratch,
): Generator<AcidBatch, void, unknown> {
  const picked = visibleSelection(length, valid, options.includeDeleted ? undefined : deleted, scratch);
  if (options.counts !== undefined) {
    options.counts.rows += length;
    options.counts.hiddenRows += length - (picked?.length ?? length);
  }
  if (picked?.length === 0) return;
  yield {
    length: picked?.length ?? length,
    root: picked === undefined ? root : pickRows(root, picked),
    ...(options.rowIds && keys !== undefined
      ? { rowIds: rowIdVectors(picked === undefined ? keys : pickKeys(keys, picked)) }
      : {}),
    ...(options.includeDeleted ? { isDeleted: flagsOf(deleted, length, picked) } : {}),
  };
}

/** Arrays that one batch needs and the next one may use again: the rows handed out are no views of them. */
export class Scratch {
  private bytes = new Uint8Array(0);
  private ints = new Int32Array(0);

  /** All zero. */
  flags(length: number): Uint8Array {
    if (this.bytes.length < length) this.bytes = new Uint8Array(length);
    return this.bytes.subarray(0, length).fill(0);
  }

  numbers(length: number): Int32Array {
    if (this.ints.length < length) this.ints = new Int32Array(length);
    return this.ints.subarray(0, length);
  }
}

/** The numbers of the rows to hand out; undefined: all. */
function visibleSelection(
  length: number,
  valid: Uint8Array | undefined,
  deleted: Uint8Array | undefined,
  scratch: Scratch,
): Int32Array | undefined {
  const isHit = deleted?.includes(1) ?? false;
  if (valid === undefined && !isHit) return undefined;
  const selection = scratch.numbers(length);
  const count =
    valid === undefined && deleted !== undefined
      ? selectClear(deleted, selection)
      : selectValid(valid, isHit ? deleted : undefined, selection);
  return count === length ? undefined : selection.subarray(0, count);
}

function pickRows(root: StructVector, selection: Int32Array): StructVector {
  if (root.children.length === 0) return { ...root, length: selection.length };
  return compactVector(root, selection) as StructVector;
}

function pickKeys(keys: RowKeys, selection: Int32Array): RowKeys {
  const { length } = selection;
  const writeIds = new BigInt64Array(length);
  const buckets = new Int32Array(length);
  const rowIds = new BigInt64Array(length);
  for (let i = 0; i < length; i++) {
    writeIds[i] = keys.writeIds[selection[i]];
    buckets[i] = keys.buckets[selection[i]];
    rowIds[i] = keys.rowIds[selection[i]];
  }
  return { length, writeIds, buckets, rowIds };
}

/** A copy: the next batch has its flags in the same memory. */
function flagsOf(deleted: Uint8Array, length: number, picked: Int32Array | undefined): BooleanVector {
  if (deleted.length === 0) return noneDeleted(picked?.length ?? length);
  return flagVector(picked === undefined ? deleted.slice() : Uint8Array.from(picked, (row) => deleted[row]));
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

/** Without a branch: which rows are deleted cannot be foretold. */
function selectClear(flags: Uint8Array, selection: Int32Array): number {
  let count = 0;
  for (let row = 0; row < flags.length; row++) {
    selection[count] = row;
    count += flags[row] ^ 1;
  }
  return count;
}

function selectValid(valid: Uint8Array | undefined, deleted: Uint8Array | undefined, selection: Int32Array): number {
  let count = 0;
  for (let row = 0; row < selection.length; row++) {
    if (valid?.[row] !== 0 && deleted?.[row] !== 1) selection[count++] = row;
  }
  return count;
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
