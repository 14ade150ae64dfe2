import { type TypeDescription, typesEqual } from '../../type-description.js';
import { VectorBuilder } from '../../vector/builder.js';
import { vectorValue } from '../../vector/value.js';
import type { BytesVector, ColumnVector } from '../../vector.js';
import { valueConversion } from './values.js';

export interface Conversion {
  readonly convert?: (vector: ColumnVector) => ColumnVector;
  /** A predicate on the converted values can be decided by the file's statistics. */
  readonly keepsOrder: boolean;
}

const WIDTHS: Readonly<Record<string, number>> = { byte: 1, short: 2, int: 4, long: 8 };

/** How vectors of a file's primitive type become vectors of another; undefined when ORC defines no such conversion. */
export function conversionOf(file: TypeDescription, target: TypeDescription): Conversion | undefined {
  if (typesEqual(file, target)) return { keepsOrder: true };
  const from = WIDTHS[file.kind];
  const to = WIDTHS[target.kind];
  if (from !== undefined && to !== undefined && from < to) {
    return { convert: (vector) => widen(vector, target.kind), keepsOrder: true };
  }
  if (file.kind === 'float' && target.kind === 'double') {
    return {
      convert: (vector) =>
        vector.kind === 'float' ? { ...vector, kind: 'double', values: Float64Array.from(vector.values) } : vector,
      keepsOrder: false,
    };
  }
  if ((file.kind === 'varchar' || file.kind === 'string') && (target.kind === 'string' || isWider(file, target))) {
    const { kind } = target;
    return { convert: (vector) => ({ ...(vector as BytesVector), kind: kind as 'string' }), keepsOrder: true };
  }
  const convertValue = valueConversion(file, target);
  if (convertValue === undefined) return undefined;
  return {
    convert(vector) {
      if (fitsAsText(vector, target)) return { ...vector, kind: target.kind as 'string' };
      const builder = new VectorBuilder(target);
      for (let row = 0; row < vector.length; row++) {
        const value = vectorValue(vector, row);
        builder.append(value === null ? null : convertValue(value));
      }
      return builder.build();
    },
    keepsOrder: false,
  };
}

/** Text of which no value has to be cut: a value has no more characters than bytes. CHAR may have to lose blanks. */
function fitsAsText(vector: ColumnVector, target: TypeDescription): vector is BytesVector {
  if (vector.kind !== 'string' && vector.kind !== 'varchar' && vector.kind !== 'char') return false;
  if (target.kind !== 'string' && target.kind !== 'varchar') return false;
  const limit = target.maximumLength ?? 0x7fffffff;
  const { offsets, length } = vector;
  for (let row = 0; row < length; row++) if (offsets[row + 1] - offsets[row] > limit) return false;
  return true;
}

function isWider(file: TypeDescription, target: TypeDescription): boolean {
  return (
    target.kind === 'varchar' && file.kind === 'varchar' && (target.maximumLength ?? 0) >= (file.maximumLength ?? 0)
  );
}

function widen(vector: ColumnVector, kind: TypeDescription['kind']): ColumnVector {
  if (vector.kind !== 'byte' && vector.kind !== 'short' && vector.kind !== 'int') return vector;
  const { length, validity, values } = vector;
  if (kind === 'short') return { kind, length, validity, values: Int16Array.from(values) };
  if (kind === 'int') return { kind, length, validity, values: Int32Array.from(values) };
  const longs = new BigInt64Array(length);
  const halves = new Int32Array(longs.buffer);
  for (let i = 0; i < length; i++) {
    halves[2 * i] = values[i];
    halves[2 * i + 1] = values[i] >> 31;
  }
  return { kind: 'long', length, validity, values: longs };
}
