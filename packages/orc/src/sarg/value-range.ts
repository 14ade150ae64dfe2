import type { ColumnStatistics } from '../proto/gen/orc_proto.js';
import { DAY_SECONDS, hybridToProleptic } from '../time/calendar.js';
import type { TypeDescription } from '../type-description.js';
import type { SargLiteral } from './sarg.js';

/** What is known of the writer that statistics depend on. */
export interface StatisticsOrigin {
  readonly writer: string;
  readonly writerVersion: number;
  readonly softwareVersion: string | undefined;
  /** Dates and timestamps are in the hybrid calendar. */
  readonly hybrid: boolean;
}

/** The values of a column in some rows lie in [low, high]; both are of the form that `comparable` makes. */
export interface ValueRange {
  readonly low: Comparable;
  readonly high: Comparable;
  /** low and high are values themselves, not only bounds. */
  readonly exact: boolean;
}

/** Numbers (a bigint and a number compare exactly in JavaScript), or text as its UTF-8 bytes in latin1. */
export type Comparable = number | bigint | string;

const NANOS = 1_000_000_000n;
const MILLISECOND_NANOS = 1_000_000n;
/** Java's writer versions (PostScript.writerVersion). */
const HIVE_8732 = 1;
const ORC_135 = 6;
const ORC_517 = 7;

/** The range that statistics give, or undefined when they say nothing that can be relied on. */
export function valueRange(
  statistics: ColumnStatistics,
  type: TypeDescription,
  origin: StatisticsOrigin,
): ValueRange | undefined {
  const java = origin.writer === 'java';
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'int':
    case 'long': {
      const { minimum, maximum } = statistics.intStatistics ?? {};
      return rangeOf(minimum, maximum, true);
    }
    case 'float':
    case 'double': {
      // A NaN makes the sum NaN, and the range depends on where it came (ORC-629): no sum, no range.
      const { minimum, maximum, sum } = statistics.doubleStatistics ?? {};
      if (sum === undefined || Number.isNaN(sum) || Number.isNaN(minimum) || Number.isNaN(maximum)) return undefined;
      return rangeOf(minimum, maximum, true);
    }
    case 'boolean': {
      const trues = statistics.bucketStatistics?.count?.[0];
      const all = statistics.numberOfValues;
      if (trues === undefined || all === undefined || trues > all) return undefined;
      return { low: trues === all ? 1 : 0, high: trues === 0n ? 0 : 1, exact: true };
    }
    case 'string':
    case 'varchar': {
      // Before HIVE-8732 text was ordered as UTF-16. CHAR is not used: blanks at its end are not compared.
      if (java && origin.writerVersion < HIVE_8732) return undefined;
      const { minimum, maximum, lowerBound, upperBound } = statistics.stringStatistics ?? {};
      const low = textBytes(minimum ?? lowerBound);
      const high = textBytes(maximum ?? upperBound);
      return rangeOf(low, high, minimum !== undefined && maximum !== undefined);
    }
    case 'date': {
      const { minimum, maximum } = statistics.dateStatistics ?? {};
      if (minimum === undefined || maximum === undefined || !origin.hybrid) return rangeOf(minimum, maximum, true);
      return rangeOf(hybridToProleptic(minimum), hybridToProleptic(maximum), true);
    }
    case 'timestamp':
    case 'timestamp_instant': {
      if (java && origin.writerVersion < ORC_135) return undefined;
      const { minimumUtc, maximumUtc } = statistics.timestampStatistics ?? {};
      if (minimumUtc === undefined || maximumUtc === undefined) return undefined;
      return timestampRange(minimumUtc, maximumUtc, origin.hybrid);
    }
    case 'decimal': {
      if (java && origin.writerVersion < ORC_517) return undefined;
      const { minimum, maximum } = statistics.decimalStatistics ?? {};
      return rangeOf(decimalKey(minimum), decimalKey(maximum), true);
    }
    default:
      return undefined;
  }
}

function rangeOf(low: Comparable | undefined, high: Comparable | undefined, exact: boolean): ValueRange | undefined {
  if (low === undefined || high === undefined || low > high) return undefined;
  return { low, high, exact };
}

/** Milliseconds (floor) as nanoseconds; the fraction of the last one is not known. */
function timestampRange(minimum: bigint, maximum: bigint, hybrid: boolean): ValueRange {
  // A value in the last second before 1970 with a fraction is read a second later than it was written.
  const late = maximum < 0n && maximum > -1000n ? 1000n : 0n;
  const low = hybrid ? prolepticMilliseconds(minimum) : minimum;
  const high = (hybrid ? prolepticMilliseconds(maximum) : maximum) + late;
  return { low: low * MILLISECOND_NANOS, high: high * MILLISECOND_NANOS + MILLISECOND_NANOS - 1n, exact: false };
}

function prolepticMilliseconds(milliseconds: bigint): bigint {
  const day = Math.floor(Number(milliseconds) / (DAY_SECONDS * 1000));
  return milliseconds + BigInt(hybridToProleptic(day) - day) * BigInt(DAY_SECONDS * 1000);
}

/** UTF-8 as latin1 text, so that `<` compares bytes; undefined when bytes were lost in decoding. */
function textBytes(text: string | undefined): string | undefined {
  if (text === undefined || text.includes('\ufffd')) return undefined;
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Decimals of up to 38 digits, of any scale to 38, as integers of scale 38. */
const KEY_SCALE = 38;
const MOST_DIGITS = 80;

function decimalKey(text: string | undefined): bigint | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text ?? '');
  if (match === null || text === undefined || text.length > MOST_DIGITS) return undefined;
  const [, sign, whole, fraction = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  return scaled(BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n), fraction.length);
}

function scaled(unscaled: bigint, scale: number): bigint | undefined {
  if (scale > KEY_SCALE || scale < -KEY_SCALE) return undefined;
  return unscaled * 10n ** BigInt(KEY_SCALE - scale);
}

/** The literal in the form that the column's range has; undefined when it is not of the column's type. */
export function comparable(literal: SargLiteral, type: TypeDescription): Comparable | undefined {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'int':
    case 'long':
    case 'float':
    case 'double':
      if (typeof literal === 'bigint') return literal;
      return typeof literal === 'number' && !Number.isNaN(literal) ? literal : undefined;
    case 'date':
      return typeof literal === 'number' && !Number.isNaN(literal) ? literal : undefined;
    case 'boolean':
      return typeof literal === 'boolean' ? Number(literal) : undefined;
    case 'string':
    case 'varchar':
      return typeof literal === 'string' ? Buffer.from(literal, 'utf8').toString('latin1') : undefined;
    case 'timestamp':
    case 'timestamp_instant':
      return typeof literal === 'object' && literal !== null && 'seconds' in literal
        ? literal.seconds * NANOS + BigInt(literal.nanos)
        : undefined;
    case 'decimal':
      if (typeof literal === 'bigint') return scaled(literal, 0);
      if (typeof literal === 'number') return Number.isSafeInteger(literal) ? scaled(BigInt(literal), 0) : undefined;
      return typeof literal === 'object' && literal !== null && 'unscaled' in literal
        ? scaled(literal.unscaled, literal.scale)
        : undefined;
    default:
      return undefined;
  }
}
