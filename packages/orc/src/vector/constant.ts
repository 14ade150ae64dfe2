import type { TypeDescription } from '../type-description.js';
import type { ColumnVector } from '../vector.js';
import { bitmapBytes } from './bitmap.js';

/** `length` rows that are all NULL: what a column reads as in a file written before the column was added. */
export function nullVector(type: TypeDescription, length: number): ColumnVector {
  const base = { length, validity: new Uint8Array(bitmapBytes(length)) };
  switch (type.kind) {
    case 'boolean':
      return { ...base, kind: type.kind, values: new Uint8Array(length) };
    case 'byte':
      return { ...base, kind: type.kind, values: new Int8Array(length) };
    case 'short':
      return { ...base, kind: type.kind, values: new Int16Array(length) };
    case 'int':
    case 'date':
      return { ...base, kind: type.kind, values: new Int32Array(length) };
    case 'long':
      return { ...base, kind: type.kind, values: new BigInt64Array(length) };
    case 'float':
      return { ...base, kind: type.kind, values: new Float32Array(length) };
    case 'double':
      return { ...base, kind: type.kind, values: new Float64Array(length) };
    case 'string':
    case 'char':
    case 'varchar':
    case 'binary':
      return { ...base, kind: type.kind, bytes: new Uint8Array(0), offsets: new Int32Array(length + 1) };
    case 'timestamp':
    case 'timestamp_instant':
      return { ...base, kind: type.kind, seconds: new BigInt64Array(length), nanos: new Int32Array(length) };
    case 'decimal': {
      const { precision = 38, scale = 0 } = type;
      return { ...base, kind: type.kind, precision, scale, words: new BigInt64Array(2 * length) };
    }
    case 'list': {
      const [element] = type.children;
      return { ...base, kind: type.kind, offsets: new Int32Array(length + 1), child: nullVector(element, 0) };
    }
    case 'map': {
      const [keys, values] = type.children.map((child) => nullVector(child, 0));
      return { ...base, kind: type.kind, offsets: new Int32Array(length + 1), keys, values };
    }
    case 'struct': {
      const children = type.children.map((child) => nullVector(child, length));
      return { ...base, kind: type.kind, fieldNames: type.fieldNames, children };
    }
    case 'union': {
      const children = type.children.map((child) => nullVector(child, 0));
      return { ...base, kind: type.kind, tags: new Uint8Array(length), rowOffsets: new Int32Array(length), children };
    }
  }
}
