import { type VectorValue, vectorValue } from '../vector/value.js';
import type { ColumnVector } from '../vector.js';

/** A row in a text form that other ORC readers' rows can be brought to: see scripts/compare-pyarrow.py. */
export function canonicalRow(vector: ColumnVector, row: number): string {
  return JSON.stringify(canonical(vector, vectorValue(vector, row), row));
}

function canonical(vector: ColumnVector, value: VectorValue, row: number): unknown {
  if (value === null) return null;
  switch (vector.kind) {
    case 'boolean':
      return value;
    case 'long':
    case 'byte':
    case 'short':
    case 'int':
    case 'date':
      return String(value);
    case 'float':
    case 'double': {
      const bits = new DataView(new ArrayBuffer(8));
      bits.setFloat64(0, value as number);
      return Number.isNaN(value) ? 'nan' : bits.getBigUint64(0).toString(16);
    }
    case 'char':
      return (value as string).replace(/ +$/, '');
    case 'binary':
      return Buffer.from(value as Uint8Array).toString('hex');
    case 'timestamp':
    case 'timestamp_instant': {
      const { seconds, nanos } = value as { seconds: bigint; nanos: number };
      return String(seconds * 1_000_000_000n + BigInt(nanos));
    }
    case 'decimal':
      return String((value as { unscaled: bigint }).unscaled);
    case 'list': {
      const start = vector.offsets[row];
      return (value as VectorValue[]).map((item, i) => canonical(vector.child, item, start + i));
    }
    case 'map': {
      const start = vector.offsets[row];
      return (value as [VectorValue, VectorValue][]).map(([key, item], i) => [
        canonical(vector.keys, key, start + i),
        canonical(vector.values, item, start + i),
      ]);
    }
    case 'struct':
      return vector.children.map((child) => canonical(child, vectorValue(child, row), row));
    case 'union': {
      const tag = vector.tags[row];
      return [
        tag,
        canonical(
          vector.children[tag],
          vectorValue(vector.children[tag], vector.rowOffsets[row]),
          vector.rowOffsets[row],
        ),
      ];
    }
    default:
      return value;
  }
}
