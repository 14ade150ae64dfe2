/**
 * Nanoseconds as the SECONDARY stream of a timestamp holds them (spec: "Timestamp columns";
 * Java: TimestampTreeWriter.formatNanos): decimal zeros at the end are taken off when there are two or more (at most
 * eight), the low three bits keep their number less one. The decoder is IntegerDecoder.readNanos.
 */
export function encodeNanos(nanos: number): number {
  if (nanos === 0) return 0;
  if (nanos % 100 !== 0) return nanos * 8;
  let digits = nanos / 100;
  let zeros = 1;
  while (digits % 10 === 0 && zeros < 7) {
    digits /= 10;
    zeros++;
  }
  return digits * 8 + zeros;
}
