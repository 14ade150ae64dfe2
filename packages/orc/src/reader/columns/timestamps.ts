import { CUTOVER_DAY, DAY_SECONDS, gregorianDay, hybridToProleptic } from '../../time/calendar.js';
import type { TimeZone } from '../../time/time-zone.js';
import { StreamKind } from '../stripe.js';
import type { ColumnReader } from './column-reader.js';
import { type ColumnSource, integerDecoder, openOrEmpty, presentDecoder } from './column-streams.js';
import { freshInts, freshLongs } from './fresh.js';
import { presentRows, spread32, spread64 } from './rows.js';

/** 2015-01-01 00:00:00 as if UTC: what DATA counts from, in the writer's time zone. */
const BASE_LOCAL = gregorianDay(2015, 1, 1) * DAY_SECONDS;
const MILLISECOND_NANOS = 1_000_000;
const TWO_32 = 0x100000000;
const CUTOVER_SECONDS = CUTOVER_DAY * DAY_SECONDS;

/** Replaces dates of the hybrid calendar by those with the same label in the proleptic one. */
export function fixHybridDates(days: Int32Array): void {
  for (let i = 0; i < days.length; i++) if (days[i] < CUTOVER_DAY) days[i] = hybridToProleptic(days[i]);
}

/**
 * Timestamps (spec: "Timestamp columns"; Java: TreeReaderFactory.TimestampTreeReader). DATA has seconds since
 * 2015-01-01 00:00:00 in the writer's zone, SECONDARY the nanoseconds. Writers round seconds toward zero: a value before 1970
 * with a fraction is one second late, which is undone here, before the shift to wall time (so that the zone cannot
 * change the sign). `zone` undefined is UTC, and also what timestamp_instant is read with.
 */
export function timestampReader(
  source: ColumnSource,
  kind: 'timestamp' | 'timestamp_instant',
  zone: TimeZone | undefined,
  hybrid: boolean,
): ColumnReader {
  const present = presentDecoder(source);
  const { rleV2 } = source.layout;
  const data = integerDecoder(openOrEmpty(source, StreamKind.data), rleV2, true);
  const secondary = integerDecoder(openOrEmpty(source, StreamKind.secondary), rleV2, false);
  const base = zone === undefined ? BASE_LOCAL : zone.instantOf(BASE_LOCAL);
  return (parent) => {
    const rows = presentRows(present, parent);
    const seconds = freshLongs(rows.length, rows.count);
    const nanos = freshInts(rows.length, rows.count);
    data.readLongs(seconds, 0, rows.count);
    secondary.readNanos(nanos, 0, rows.count);
    const halves = new Int32Array(seconds.buffer);
    toWallTime(halves, nanos, rows.count, base, zone, hybrid);
    spread64(halves, rows);
    spread32(nanos, rows);
    return { kind, length: rows.length, validity: rows.validity, seconds, nanos };
  };
}

/** On halves of int64: seconds are far below 2^53, so that doubles hold them; what is not keeps its 64 bits. */
function toWallTime(
  halves: Int32Array,
  nanos: Int32Array,
  count: number,
  base: number,
  zone: TimeZone | undefined,
  hybrid: boolean,
): void {
  for (let i = 0, at = 0; i < count; i++, at += 2) {
    const low = halves[at];
    // From 1970 to 2083, in 32 bits: no fraction to mend, no other calendar.
    if (halves[at + 1] === low >> 31 && low >= DAY_SECONDS - base) {
      const instant = (low + base) >>> 0;
      halves[at] = zone === undefined ? instant : instant + zone.offsetAt(instant);
      halves[at + 1] = 0;
      continue;
    }
    let seconds = halves[at + 1] * TWO_32 + (halves[at] >>> 0) + base;
    if (!(Math.abs(seconds) < Number.MAX_SAFE_INTEGER)) continue;
    if (seconds < 0 && nanos[i] >= MILLISECOND_NANOS) seconds--;
    if (zone !== undefined) seconds += zone.offsetAt(seconds);
    if (hybrid && seconds < CUTOVER_SECONDS) {
      const day = Math.floor(seconds / DAY_SECONDS);
      seconds += (hybridToProleptic(day) - day) * DAY_SECONDS;
    }
    halves[at] = seconds;
    halves[at + 1] = Math.floor(seconds / TWO_32);
  }
}
