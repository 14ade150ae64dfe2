import { SkepError } from '@skep/core';
import { type ColumnVector, decimalUnscaled, isNull } from '@skep/orc';
import type { EventRun } from '../read/merge-events.js';

/** A column that rows are sorted by. */
export interface SortKey {
  /** Index in the table's schema. */
  readonly column: number;
  readonly isDescending: boolean;
  readonly nullsFirst: boolean;
}

/** Rows cannot be sorted by a list, a map, a struct or a union, nor more of them than there are 32-bit numbers. */
export class UnsortableRowsError extends SkepError {
  constructor(why: string) {
    super('UNSORTABLE_ROWS', 'invalid', why);
  }
}

type Value = number | bigint | Uint8Array | null;

/** As many rows as 32 bits can number. */
const MAX_ROWS = 2 ** 32 - 1;

/**
 * The place of each row in a sorted order, found from the columns that it is sorted by alone. Rows are added in the order of
 * their ROW__IDs, which decides among equal ones.
 */
export class RowOrder {
  length = 0;
  /** The highest write id of the rows. */
  maxWriteId = 0n;
  private readonly values: Value[][];

  constructor(private readonly keys: readonly SortKey[]) {
    this.values = keys.map(() => []);
  }

  /** What has to be read: each column once. */
  get columns(): number[] {
    return [...new Set(this.keys.map(({ column }) => column))];
  }

  add({ batch, start, end }: EventRun): void {
    this.length += end - start;
    if (this.keys.length === 0) return;
    if (this.length > MAX_ROWS) throw new UnsortableRowsError(`more than ${MAX_ROWS} rows cannot be sorted`);
    const { columns } = this;
    this.keys.forEach(({ column }, k) => {
      const vector = batch.row.children[columns.indexOf(column)];
      const read = readerOf(vector);
      const values = this.values[k];
      for (let i = start; i < end; i++) values.push(isNull(vector, i) ? null : read(i));
    });
    const { writeIds } = batch.keys;
    for (let i = start; i < end; i++) if (writeIds[i] > this.maxWriteId) this.maxWriteId = writeIds[i];
  }

  /** The place of each row, in the order they were added. */
  ranks(): Uint32Array {
    const order = Uint32Array.from({ length: this.length }, (_, i) => i);
    order.sort((a, b) => this.compare(a, b));
    const ranks = new Uint32Array(this.length);
    for (let place = 0; place < order.length; place++) ranks[order[place]] = place;
    return ranks;
  }

  private compare(a: number, b: number): number {
    for (let k = 0; k < this.keys.length; k++) {
      const { isDescending, nullsFirst } = this.keys[k];
      const [x, y] = [this.values[k][a], this.values[k][b]];
      if (x === null || y === null) {
        if (x === y) continue;
        return (x === null) === nullsFirst ? -1 : 1;
      }
      const order = compareValues(x, y);
      if (order !== 0) return isDescending ? -order : order;
    }
    return a - b;
  }
}

/** Bytes as Hive compares text; NaN after every number. */
function compareValues(x: number | bigint | Uint8Array, y: number | bigint | Uint8Array): number {
  if (x instanceof Uint8Array && y instanceof Uint8Array) return Buffer.compare(x, y);
  if (x < y) return -1;
  if (x > y) return 1;
  return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
}

/** What of a column's values is compared: numbers of one scale, or bytes. */
function readerOf(vector: ColumnVector): (row: number) => Value {
  switch (vector.kind) {
    case 'boolean':
    case 'byte':
    case 'short':
    case 'int':
    case 'date':
    case 'long':
    case 'float':
    case 'double':
      return (row) => vector.values[row];
    case 'string':
    case 'varchar':
    case 'char':
    case 'binary':
      // A copy: the batch is gone when rows are sorted.
      return (row) => vector.bytes.slice(vector.offsets[row], vector.offsets[row + 1]);
    case 'timestamp':
    case 'timestamp_instant':
      return (row) => BigInt(vector.seconds[row]) * 1_000_000_000n + BigInt(vector.nanos[row]);
    case 'decimal':
      return (row) => decimalUnscaled(vector, row);
    default:
      throw new UnsortableRowsError(`rows cannot be sorted by a column of type ${vector.kind}`);
  }
}
