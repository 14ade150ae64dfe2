/** Java's short names for zones that Intl does not know by them (java.time.ZoneId.SHORT_IDS). */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  ACT: 'Australia/Darwin',
  AET: 'Australia/Sydney',
  AST: 'America/Anchorage',
  BST: 'Asia/Dhaka',
  CST: 'America/Chicago',
  CTT: 'Asia/Shanghai',
  ECT: 'Europe/Paris',
  EST: '-05:00',
  HST: '-10:00',
  IST: 'Asia/Kolkata',
  JST: 'Asia/Tokyo',
  MST: '-07:00',
  NST: 'Pacific/Auckland',
  PST: 'America/Los_Angeles',
};

const formats = new Map<string, Intl.DateTimeFormat | undefined>();

/**
 * How far a zone is ahead of UTC. `seconds` is an instant (`isInstant`), or the zone's own wall time. undefined: there is no
 * such zone.
 */
export function zoneOffsetSeconds(seconds: number, zone: string, isInstant: boolean): number | undefined {
  const name = SHORT_NAMES[zone] ?? zone;
  const fixed = /^(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d\d))?$/.exec(name);
  if (fixed !== null) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 3600 + Number(fixed[3] ?? 0) * 60);
  if (/^(UTC|GMT|UT|Z)$/.test(name)) return 0;
  const format = formatOf(name);
  if (format === undefined) return undefined;
  if (isInstant) return offsetAt(format, seconds);
  // Of two wall times that an hour repeats, the earlier instant; what a gap leaves out is moved on by its length
  // (LocalDateTime.atZone), so that it is the offset before the gap that counts.
  const earlier = offsetAt(format, seconds - 86400);
  if (offsetAt(format, seconds - earlier) === earlier) return earlier;
  const later = offsetAt(format, seconds + 86400);
  return offsetAt(format, seconds - later) === later ? later : earlier;
}

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  if (formats.has(zone)) return formats.get(zone);
  let made: Intl.DateTimeFormat | undefined;
  try {
    made = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      era: 'short',
    });
  } catch (error) {
    // A RangeError says that there is no such zone.
    if (!(error instanceof RangeError)) throw error;
  }
  formats.set(zone, made);
  return made;
}

function offsetAt(format: Intl.DateTimeFormat, seconds: number): number {
  const parts = Object.fromEntries(format.formatToParts(seconds * 1000).map(({ type, value }) => [type, value]));
  const year = parts.era === 'BC' ? 1 - Number(parts.year) : Number(parts.year);
  const local = new Date(0);
  local.setUTCFullYear(year, Number(parts.month) - 1, Number(parts.day));
  local.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second));
  return local.getTime() / 1000 - Math.floor(seconds);
}
