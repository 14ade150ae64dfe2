/** Values as Hive prints them, for comparing with what it answered. Only for tests. */
import { type ColumnVector, decimalUnscaled, isNull, type TypeDescription } from '@skep/orc';

const UTF8 = new TextDecoder();

/** A value of a top-level column: NULL, text as it is, nested values as JSON. */
export function hiveText(vector: ColumnVector, row: number, type?: TypeDescription): string {
  if (isNull(vector, row)) return 'NULL';
  // Vectors hold CHAR without its blanks.
  if (type?.kind === 'char') return padTo(scalar(vector, row), type.maximumLength ?? 0);
  switch (vector.kind) {
    case 'list':
    case 'map':
    case 'struct':
    case 'union':
      return nested(vector, row);
    default:
      return scalar(vector, row);
  }
}

function padTo(text: string, characters: number): string {
  return text + ' '.repeat(Math.max(0, characters - [...text].length));
}

function nested(vector: ColumnVector, row: number): string {
  if (isNull(vector, row)) return 'null';
  switch (vector.kind) {
    case 'list': {
      const items: string[] = [];
      for (let i = vector.offsets[row]; i < vector.offsets[row + 1]; i++) items.push(nested(vector.child, i));
      return `[${items.join(',')}]`;
    }
    case 'map': {
      const items: string[] = [];
      for (let i = vector.offsets[row]; i < vector.offsets[row + 1]; i++) {
        const key = nested(vector.keys, i);
        items.push(`${key.startsWith('"') ? key : `"${key}"`}:${nested(vector.values, i)}`);
      }
      return `{${items.join(',')}}`;
    }
    case 'struct':
      return `{${vector.children.map((child, i) => `"${vector.fieldNames[i]}":${nested(child, row)}`).join(',')}}`;
    case 'union': {
      const tag = vector.tags[row];
      return `{${tag}:${nested(vector.children[tag], vector.rowOffsets[row])}}`;
    }
    case 'string':
    case 'char':
    case 'varchar':
    case 'date':
    case 'timestamp':
      return JSON.stringify(scalar(vector, row));
    default:
      return scalar(vector, row);
  }
}

function scalar(vector: ColumnVector, row: number): string {
  switch (vector.kind) {
    case 'boolean':
      return vector.values[row] === 0 ? 'false' : 'true';
    case 'byte':
    case 'short':
    case 'int':
    case 'long':
      return String(vector.values[row]);
    case 'float':
      return javaNumber(vector.values[row], shortestFloat(vector.values[row]));
    case 'double':
      return javaNumber(vector.values[row], vector.values[row].toExponential());
    case 'string':
    case 'char':
    case 'varchar':
    case 'binary':
      return UTF8.decode(vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1]));
    case 'date':
      return new Date(vector.values[row] * 86_400_000).toISOString().slice(0, 10);
    case 'timestamp':
    case 'timestamp_instant': {
      const text = new Date(Number(vector.seconds[row]) * 1000).toISOString();
      const fraction = String(vector.nanos[row]).padStart(9, '0').replace(/0+$/, '');
      return `${text.slice(0, 10)} ${text.slice(11, 19)}${fraction === '' ? '' : `.${fraction}`}`;
    }
    case 'decimal': {
      const unscaled = decimalUnscaled(vector, row);
      const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(vector.scale + 1, '0');
      const point = digits.length - vector.scale;
      const sign = unscaled < 0n ? '-' : '';
      return `${sign}${digits.slice(0, point)}${vector.scale === 0 ? '' : `.${digits.slice(point)}`}`;
    }
    default:
      return nested(vector, row);
  }
}

function shortestFloat(value: number): string {
  for (let digits = 0; digits < 9; digits++) {
    const text = value.toExponential(digits);
    if (Math.fround(Number(text)) === value) return text;
  }
  return value.toExponential();
}

/** Java's Double.toString from the shortest digits in exponential form. */
function javaNumber(value: number, exponential: string): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e7) {
    const plain = Number(exponential).toString();
    return plain.includes('.') ? plain : `${plain}.0`;
  }
  const [mantissa, exponent] = exponential.split('e');
  // Java prints the smallest double with one digit more than needed.
  const digits = size === 5e-324 ? mantissa.replace('5', '4.9') : mantissa;
  return `${digits.includes('.') ? digits : `${digits}.0`}E${Number(exponent)}`;
}
