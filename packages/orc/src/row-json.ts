import { dateText, timestampText } from './time/date-text.js';
import { decimalUnscaled, isNull } from './vector/value.js';
import type { ColumnVector } from './vector.js';

const UTF8 = new TextDecoder();

/**
 * One row as JSON text, in the form in which ORC's orc-contents prints files: binary as an array of numbers, decimals as
 * numbers with all digits of their scale, maps as arrays of {"key", "value"}, unions as {"tag", "value"}, dates and
 * timestamps as text, integers with all their digits; float with 7 significant digits and double with 14, as that tool
 * has them. NaN and infinities, for which JSON has no form, are texts.
 */
export function rowToJson(vector: ColumnVector, row: number): string {
  if (isNull(vector, row)) return 'null';
  switch (vector.kind) {
    case 'boolean':
      return vector.values[row] === 0 ? 'false' : 'true';
    case 'byte':
    case 'short':
    case 'int':
    case 'long':
      return String(vector.values[row]);
    case 'float':
      return number(vector.values[row], 7);
    case 'double':
      return number(vector.values[row], 14);
    case 'string':
    case 'char':
    case 'varchar':
      return JSON.stringify(UTF8.decode(vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1])));
    case 'binary':
      return `[${vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1]).join(', ')}]`;
    case 'date':
      return `"${dateText(vector.values[row])}"`;
    case 'timestamp':
      return `"${timestampText(vector.seconds[row], vector.nanos[row])}"`;
    case 'timestamp_instant':
      return `"${timestampText(vector.seconds[row], vector.nanos[row])} UTC"`;
    case 'decimal':
      return decimalText(decimalUnscaled(vector, row), vector.scale);
    case 'list': {
      const items: string[] = [];
      for (let i = vector.offsets[row]; i < vector.offsets[row + 1]; i++) items.push(rowToJson(vector.child, i));
      return `[${items.join(', ')}]`;
    }
    case 'map': {
      const items: string[] = [];
      for (let i = vector.offsets[row]; i < vector.offsets[row + 1]; i++) {
        items.push(`{"key": ${rowToJson(vector.keys, i)}, "value": ${rowToJson(vector.values, i)}}`);
      }
      return `[${items.join(', ')}]`;
    }
    case 'struct': {
      const fields = vector.children.map(
        (child, i) => `${JSON.stringify(vector.fieldNames[i])}: ${rowToJson(child, row)}`,
      );
      return `{${fields.join(', ')}}`;
    }
    case 'union': {
      const tag = vector.tags[row];
      return `{"tag": ${tag}, "value": ${rowToJson(vector.children[tag], vector.rowOffsets[row])}}`;
    }
  }
}

/** C's %.7g and %.14g, but for the form of exponents. */
function number(value: number, digits: number): string {
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? String(Number(value.toPrecision(digits))) : `"${value}"`;
}

/** An unscaled value with its point: 12345, 2 is 123.45. */
export function decimalText(unscaled: bigint, scale: number): string {
  if (scale === 0) return String(unscaled);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
