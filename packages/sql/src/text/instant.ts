import { parseTimestamp } from './calendar.js';
import { zoneOffsetSeconds } from './time-zone.js';

/** Text with a zone at its end (TimestampTZUtil.parse): the instant; without one, of UTC, our session's zone. */
export function parseInstant(text: string): { seconds: bigint; nanos: number } | undefined {
  const match = /^(.*\d)\s*((?:UTC|GMT|UT)?[+-]\d{1,2}(?::?\d\d)?|Z|[A-Za-z]+(?:\/[A-Za-z0-9_+-]+)*)$/.exec(
    text.trim(),
  );
  // Of a date alone the last number with its hyphen is no zone.
  if (match === null || /^\d+-\d+$/.test(match[1])) return parseTimestamp(text);
  const local = parseTimestamp(match[1]);
  const offset = local && zoneOffsetSeconds(Number(local.seconds), match[2], false);
  return local === undefined || offset === undefined
    ? undefined
    : { ...local, seconds: local.seconds - BigInt(offset) };
}
