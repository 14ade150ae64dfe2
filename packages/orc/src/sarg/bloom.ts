import { BloomFilter, bitsetBytes } from '../encoding/bloom-filter.js';
import type { BloomFilter as BloomMessage } from '../proto/gen/orc_proto.js';
import { decimalText } from '../row-json.js';
import { CUTOVER_DAY } from '../time/calendar.js';
import type { TypeDescription } from '../type-description.js';
import type { SargLiteral } from './sarg.js';
import type { StatisticsOrigin } from './value-range.js';

/** The C++ writer made filters that miss values until 1.6.11 and in 1.7.0; files before 1.5.13 do not say their version. */
const BAD_CPP = /^(1\.6\.(\d|10|11)|1\.7\.0)(-.*)?$/;
const HIVE_12055 = 3;
const ORC_135 = 6;
const MOST_FUNCTIONS = 64;

/** Whether filters of this kind can be relied on for a column (Java: StripePlanner.hadBadBloomFilters, ORC-135, ORC-1024). */
export function trustsBloomFilter(
  type: TypeDescription,
  utf8: boolean,
  bloomEncoding: number,
  origin: StatisticsOrigin,
): boolean {
  if (origin.writer === 'cpp' && (origin.softwareVersion === undefined || BAD_CPP.test(origin.softwareVersion))) {
    return false;
  }
  const { writerVersion } = origin;
  switch (type.kind) {
    case 'string':
    case 'varchar':
      return utf8 || writerVersion >= HIVE_12055;
    case 'decimal':
      return utf8;
    case 'timestamp':
    case 'timestamp_instant':
      return writerVersion >= ORC_135 && bloomEncoding >= 1;
    case 'byte':
    case 'short':
    case 'int':
    case 'long':
    case 'float':
    case 'double':
    case 'date':
      return true;
    default:
      return false;
  }
}

export function decodeBloomFilter(message: BloomMessage | undefined): BloomFilter | undefined {
  const functions = message?.numHashFunctions ?? 0;
  const bytes = message?.utf8bitset ?? bitsetBytes(message?.bitset ?? []);
  if (bytes.length === 0 || functions < 1 || functions > MOST_FUNCTIONS) return undefined;
  return new BloomFilter(bytes, functions);
}

/** False only when the filter tells that no row has this value. */
export function mightContain(filter: BloomFilter, literal: SargLiteral, type: TypeDescription): boolean {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'int':
    case 'long': {
      const value = typeof literal === 'number' && Number.isInteger(literal) ? BigInt(literal) : literal;
      return typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value || filter.mightContainLong(value);
    }
    case 'date':
      if (typeof literal !== 'number' || !Number.isInteger(literal) || literal < CUTOVER_DAY) return true;
      return filter.mightContainLong(BigInt(literal));
    case 'float':
    case 'double': {
      const value = typeof literal === 'bigint' ? Number(literal) : literal;
      if (typeof value !== 'number' || Number.isNaN(value)) return true;
      // 0.0 equals -0.0, whose bits differ.
      if (value === 0) return filter.mightContainDouble(0) || filter.mightContainDouble(-0);
      return filter.mightContainDouble(value);
    }
    case 'string':
    case 'varchar':
      return typeof literal !== 'string' || filter.mightContainBytes(Buffer.from(literal, 'utf8'));
    case 'decimal':
      return mightContainDecimal(filter, literal, type.scale ?? 0);
    case 'timestamp':
    case 'timestamp_instant':
      // Milliseconds; values before 1970 may have been moved by a second, those before 1582 by days.
      if (typeof literal !== 'object' || literal === null || !('seconds' in literal) || literal.seconds < 1n)
        return true;
      return filter.mightContainLong(literal.seconds * 1000n + BigInt(Math.floor(literal.nanos / 1_000_000)));
    default:
      return true;
  }
}

/** Writers hash a decimal's text: Java without zeros at the end, others with all of the scale. */
function mightContainDecimal(filter: BloomFilter, literal: SargLiteral, scale: number): boolean {
  if (typeof literal !== 'object' || literal === null || !('unscaled' in literal)) return true;
  const has = (text: string) => filter.mightContainBytes(Buffer.from(text, 'latin1'));
  const text = decimalText(literal.unscaled, literal.scale);
  const trimmed = text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text;
  const fraction = trimmed.includes('.') ? trimmed.length - trimmed.indexOf('.') - 1 : 0;
  const zeros = '0'.repeat(Math.max(0, scale - fraction));
  const full = fraction === 0 && scale > 0 ? `${trimmed}.${zeros}` : `${trimmed}${zeros}`;
  return has(trimmed) || has(full) || has(text);
}
