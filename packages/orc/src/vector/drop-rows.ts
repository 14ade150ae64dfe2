import type { ColumnVector } from '../vector.js';
import { filterVector } from './rearrange.js';

/**
 * The rows whose flag in `dropped` is 0, `kept` of them; flags are 0 or 1. In the vector's own memory where its values have a
 * fixed width: the vector must not be used any more. For many batches of which a few rows go: fresh memory for what stays
 * costs more than moving it. A vector may stand in a struct more than once: a column that was asked for twice.
 */
export function dropRows(vector: ColumnVector, dropped: Uint8Array, kept: number): ColumnVector {
  let selection: Int32Array | undefined;
  const done = new Map<ColumnVector, ColumnVector>();
  const drop = (of: ColumnVector): ColumnVector => {
    const answer = done.get(of) ?? dropFrom(of);
    done.set(of, answer);
    return answer;
  };
  const dropFrom = (of: ColumnVector): ColumnVector => {
    if (of.validity === undefined) {
      switch (of.kind) {
        case 'int':
        case 'date':
          return { kind: of.kind, length: kept, validity: undefined, values: move(of.values, dropped) };
        case 'long':
          return { kind: of.kind, length: kept, validity: undefined, values: moveLongs(of.values, dropped) };
        case 'double':
          return { kind: of.kind, length: kept, validity: undefined, values: move(of.values, dropped) };
        case 'struct':
          return { ...of, length: kept, children: of.children.map(drop) };
      }
    }
    selection ??= keptRows(dropped, kept);
    return filterVector(of, selection);
  };
  return drop(vector);
}

/** Without a branch, here and below: which rows go cannot be foretold. */
function keptRows(dropped: Uint8Array, kept: number): Int32Array {
  // One more: behind the last kept row others are written, and not counted.
  const rows = new Int32Array(kept + 1);
  let count = 0;
  for (let row = 0; row < dropped.length; row++) {
    rows[count] = row;
    count += dropped[row] ^ 1;
  }
  return rows.subarray(0, kept);
}

function move<T extends Int32Array | Float64Array>(values: T, dropped: Uint8Array): T {
  let count = 0;
  for (let row = 0; row < dropped.length; row++) {
    values[count] = values[row];
    count += dropped[row] ^ 1;
  }
  return values.subarray(0, count) as T;
}

/** By itself: a loop over elements of two kinds would allocate a bigint for each. */
function moveLongs(values: BigInt64Array, dropped: Uint8Array): BigInt64Array {
  let count = 0;
  for (let row = 0; row < dropped.length; row++) {
    values[count] = values[row];
    count += dropped[row] ^ 1;
  }
  return values.subarray(0, count);
}
