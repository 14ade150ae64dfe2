import { DAY_SECONDS } from '../../time/calendar.js';
import { dateText } from '../../time/date-text.js';
import type { TypeDescription, TypeKind } from '../../type-description.js';
import type { DecimalValue, TimestampValue, VectorValue } from '../../vector/value.js';
import {
  decimalToText,
  fitDecimal,
  javaDoubleText,
  parseDate,
  parseDecimal,
  parseInstant,
  parseTimestamp,
  timestampToText,
  truncateText,
} from './texts.js';

/** Converts one value that is not NULL; the answer is NULL where the target cannot hold it. */
export type ValueConversion = (value: VectorValue) => VectorValue;

const INTEGER_BITS: Readonly<Record<string, number>> = { byte: 8, short: 16, int: 32, long: 64 };
const BILLION = 1_000_000_000n;

type Family = 'boolean' | 'integer' | 'floating' | 'decimal' | 'text' | 'timestamp' | 'date' | 'binary' | 'nested';

export function familyOf(type: TypeDescription): Family {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'int':
    case 'long':
      return 'integer';
    case 'float':
    case 'double':
      return 'floating';
    case 'string':
    case 'char':
    case 'varchar':
      return 'text';
    case 'timestamp':
    case 'timestamp_instant':
      return 'timestamp';
    case 'list':
    case 'map':
    case 'struct':
    case 'union':
      return 'nested';
    default:
      return type.kind;
  }
}

/**
 * The conversion from a file's primitive type to another one, or undefined when ORC defines none (Java:
 * ConvertTreeReaderFactory). Timestamps and numbers convert as if the wall time were UTC.
 */
export function valueConversion(file: TypeDescription, target: TypeDescription): ValueConversion | undefined {
  const from = familyOf(file);
  const to = familyOf(target);
  switch (to) {
    case 'boolean':
    case 'integer': {
      // Of all numbers that are not whole only decimals are true below one (AnyIntegerFromDecimalTreeReader).
      if (to === 'boolean' && from === 'decimal') return (value) => (value as DecimalValue).unscaled !== 0n;
      const toInteger = integerOf(from);
      return toInteger && ((value) => fitInteger(toInteger(value), target));
    }
    case 'floating': {
      const toDouble = doubleOf(from);
      return toDouble && ((value) => (target.kind === 'float' ? single(toDouble(value)) : toDouble(value)));
    }
    case 'decimal': {
      const toDecimal = decimalOf(from);
      const { precision = 38, scale = 0 } = target;
      return (
        toDecimal &&
        ((value) => {
          const decimal = toDecimal(value);
          return decimal === null ? null : fitDecimal(decimal, precision, scale);
        })
      );
    }
    case 'text': {
      const toText = textOf(from, file.kind);
      return (
        toText &&
        ((value) => {
          const text = toText(value);
          return text === null ? null : truncateText(text, target.kind, target.maximumLength);
        })
      );
    }
    case 'timestamp':
      return from === 'text' && target.kind === 'timestamp_instant'
        ? (value) => parseInstant(value as string)
        : timestampOf(from);
    case 'date':
      return dateOf(from);
    case 'binary':
      return from === 'text' ? (value) => new TextEncoder().encode(value as string) : undefined;
    case 'nested':
      return undefined;
  }
}

function fitInteger(value: bigint | null, target: TypeDescription): VectorValue {
  if (value === null) return null;
  if (target.kind === 'boolean') return value !== 0n;
  const bits = INTEGER_BITS[target.kind];
  return BigInt.asIntN(bits, value) === value ? (bits === 64 ? value : Number(value)) : null;
}

function single(value: number | null): number | null {
  return value === null ? null : Math.fround(value);
}

function integerOf(from: Family): ((value: VectorValue) => bigint | null) | undefined {
  switch (from) {
    case 'boolean':
      return (value) => (value === true ? 1n : 0n);
    case 'integer':
      return (value) => BigInt(value as number | bigint);
    case 'floating':
      return (value) => {
        const number = Math.trunc(value as number);
        return number >= -(2 ** 63) && number < 2 ** 63 ? BigInt(number) : null;
      };
    case 'decimal':
      return (value) => {
        const { unscaled, scale } = value as DecimalValue;
        return unscaled / 10n ** BigInt(scale);
      };
    case 'text':
      return (value) => {
        if (!/^[+-]?\d{1,30}$/.test(value as string)) return null;
        const number = BigInt((value as string).replace('+', ''));
        return BigInt.asIntN(64, number) === number ? number : null;
      };
    case 'timestamp':
      return (value) => (value as TimestampValue).seconds;
    default:
      return undefined;
  }
}

function doubleOf(from: Family): ((value: VectorValue) => number | null) | undefined {
  switch (from) {
    case 'boolean':
      return (value) => (value === true ? 1 : 0);
    case 'integer':
    case 'floating':
      return (value) => Number(value);
    case 'decimal':
      return (value) => Number(decimalToText(value as DecimalValue));
    case 'text':
      return (value) => {
        const text = (value as string).trim();
        if (/^[+-]?(NaN|Infinity)$/.test(text)) return Number(text.replace('+', ''));
        return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[dDfF]?$/.test(text) ? Number.parseFloat(text) : null;
      };
    case 'timestamp':
      return (value) => {
        const { seconds, nanos } = value as TimestampValue;
        return Number(seconds) + nanos / 1e9;
      };
    default:
      return undefined;
  }
}

function decimalOf(from: Family): ((value: VectorValue) => DecimalValue | null) | undefined {
  switch (from) {
    case 'boolean':
      return (value) => ({ unscaled: value === true ? 1n : 0n, scale: 0 });
    case 'integer':
      return (value) => ({ unscaled: BigInt(value as number | bigint), scale: 0 });
    case 'floating':
      return (value) => parseDecimal(javaDoubleText(value as number));
    case 'decimal':
      return (value) => value as DecimalValue;
    case 'text':
      return (value) => parseDecimal(value as string);
    case 'timestamp':
      return (value) => {
        const { seconds, nanos } = value as TimestampValue;
        return { unscaled: seconds * BILLION + BigInt(nanos), scale: 9 };
      };
    default:
      return undefined;
  }
}

function textOf(from: Family, kind: TypeKind): ((value: VectorValue) => string | null) | undefined {
  switch (from) {
    case 'boolean':
      return (value) => (value === true ? 'TRUE' : 'FALSE');
    case 'integer':
      return (value) => String(value);
    case 'floating':
      return (value) => (Number.isNaN(value) ? null : javaDoubleText(value as number));
    case 'decimal':
      return (value) => decimalToText(value as DecimalValue);
    case 'text':
      return (value) => value as string;
    case 'timestamp':
      return kind === 'timestamp_instant'
        ? (value) => `${timestampToText(value as TimestampValue)} UTC`
        : (value) => timestampToText(value as TimestampValue);
    case 'date':
      return (value) => dateText(value as number);
    case 'binary':
      return (value) => [...(value as Uint8Array)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    default:
      return undefined;
  }
}

function timestampOf(from: Family): ValueConversion | undefined {
  switch (from) {
    case 'boolean':
      return (value) => ({ seconds: value === true ? 1n : 0n, nanos: 0 });
    case 'integer':
      return (value) => ({ seconds: BigInt(value as number | bigint), nanos: 0 });
    case 'floating':
      return (value) => {
        const milliseconds = Math.round((value as number) * 1000);
        // As Java: a number so little below zero that it rounds to zero is none.
        if (!Number.isSafeInteger(milliseconds) || milliseconds >= 0 !== (value as number) >= 0) return null;
        const seconds = Math.floor(milliseconds / 1000);
        return { seconds: BigInt(seconds), nanos: (milliseconds - seconds * 1000) * 1_000_000 };
      };
    case 'decimal':
      return (value) => {
        const { unscaled, scale } = value as DecimalValue;
        const nanos = scale <= 9 ? unscaled * 10n ** BigInt(9 - scale) : unscaled / 10n ** BigInt(scale - 9);
        const rest = ((nanos % BILLION) + BILLION) % BILLION;
        const seconds = (nanos - rest) / BILLION;
        return BigInt.asIntN(64, seconds) === seconds ? { seconds, nanos: Number(rest) } : null;
      };
    case 'text':
      return (value) => parseTimestamp(value as string);
    case 'timestamp':
      return (value) => value;
    case 'date':
      return (value) => ({ seconds: BigInt(value as number) * BigInt(DAY_SECONDS), nanos: 0 });
    default:
      return undefined;
  }
}

function dateOf(from: Family): ValueConversion | undefined {
  switch (from) {
    case 'text':
      return (value) => parseDate(value as string);
    case 'timestamp':
      return (value) =>
        Number((value as TimestampValue).seconds / BigInt(DAY_SECONDS)) - dayBefore(value as TimestampValue);
    case 'date':
      return (value) => value;
    default:
      return undefined;
  }
}

/** BigInt division rounds toward zero, days are counted down. */
function dayBefore({ seconds }: TimestampValue): number {
  return seconds < 0n && seconds % BigInt(DAY_SECONDS) !== 0n ? 1 : 0;
}
