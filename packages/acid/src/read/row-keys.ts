import { BugError, CorruptFileError } from '@skep/core';
import { type ColumnVector, countSet, type StructVector } from '@skep/orc';

/** The identities of consecutive rows as plain arrays. */
export interface RowKeys {
  readonly length: number;
  readonly writeIds: BigInt64Array;
  readonly buckets: Int32Array;
  readonly rowIds: BigInt64Array;
}

/** ACID's own columns of a batch by name; they never hold NULL. */
export class AcidColumns {
  constructor(
    private readonly root: StructVector,
    private readonly path: string,
  ) {}

  private vector(name: string): ColumnVector {
    const vector = this.root.children[this.root.fieldNames.indexOf(name)];
    if (vector === undefined) throw new BugError(`${name} was not read of ${this.path}`);
    const { validity, length } = vector;
    if (validity !== undefined && countSet(validity, length) < length) {
      throw new CorruptFileError(this.path, undefined, `${name} is NULL in an event`);
    }
    return vector;
  }

  int(name: 'operation' | 'bucket'): Int32Array {
    const vector = this.vector(name);
    if (vector.kind !== 'int') throw new CorruptFileError(this.path, undefined, `${name} is ${vector.kind}, not int`);
    return vector.values;
  }

  long(name: 'originalTransaction' | 'rowId' | 'currentTransaction'): BigInt64Array {
    const vector = this.vector(name);
    if (vector.kind !== 'long')
      throw new CorruptFileError(this.path, undefined, `${name} is ${vector.kind}, not bigint`);
    return vector.values;
  }

  keys(): RowKeys {
    return {
      length: this.root.length,
      writeIds: this.long('originalTransaction'),
      buckets: this.int('bucket'),
      rowIds: this.long('rowId'),
    };
  }

  /** The user columns that were read; without any, a struct without fields. */
  row(): StructVector {
    const row = this.root.children[this.root.fieldNames.indexOf('row')];
    if (row === undefined) return emptyStruct(this.root.length);
    if (row.kind !== 'struct') throw new CorruptFileError(this.path, undefined, `row is ${row.kind}, not struct`);
    return row;
  }
}

export function emptyStruct(length: number): StructVector {
  return { kind: 'struct', length, fieldNames: [], children: [] };
}

export function structOf(vector: ColumnVector, path: string): StructVector {
  if (vector.kind !== 'struct') throw new CorruptFileError(path, undefined, `rows are ${vector.kind}, not struct`);
  return vector;
}

/** Keys of rows that get theirs from their position: one write, one bucket property, rowIds in a row. */
export function consecutiveKeys(length: number, writeId: bigint, bucket: number, firstRowId: bigint): RowKeys {
  const rowIds = new BigInt64Array(length);
  const halves = new Int32Array(rowIds.buffer);
  let low = Number(BigInt.asUintN(32, firstRowId));
  let high = Number(BigInt.asIntN(32, firstRowId >> 32n));
  for (let i = 0; i < length; i++) {
    halves[2 * i] = low;
    halves[2 * i + 1] = high;
    low++;
    if (low === 0x1_0000_0000) {
      low = 0;
      high++;
    }
  }
  return {
    length,
    writeIds: new BigInt64Array(length).fill(writeId),
    buckets: new Int32Array(length).fill(bucket),
    rowIds,
  };
}

/** Three-way order by (writeId, bucket, rowId). */
export function compareKeys(a: RowKeys, i: number, b: RowKeys, j: number): number {
  if (a.writeIds[i] !== b.writeIds[j]) return a.writeIds[i] < b.writeIds[j] ? -1 : 1;
  if (a.buckets[i] !== b.buckets[j]) return a.buckets[i] - b.buckets[j];
  if (a.rowIds[i] !== b.rowIds[j]) return a.rowIds[i] < b.rowIds[j] ? -1 : 1;
  return 0;
}
