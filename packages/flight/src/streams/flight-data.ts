import type { FlightData } from '../gen/flight.js';

/**
 * FlightData of a DoGet on the wire (no descriptor): data_header = 2, app_metadata = 3, data_body = 1000, each with its tag and
 * length. One copy of the body, where the generated encoder makes two.
 */
export function encodeFlightData({ dataHeader, appMetadata, dataBody }: FlightData): Buffer {
  const parts = [
    { tag: [18], bytes: dataHeader },
    { tag: [26], bytes: appMetadata },
    // (1000 << 3) | 2 as a varint
    { tag: [194, 62], bytes: dataBody },
  ].filter(({ bytes }) => bytes.length > 0);
  const lengths = parts.map(({ bytes }) => varint(bytes.length));
  const size = parts.reduce((sum, { tag, bytes }, i) => sum + tag.length + lengths[i].length + bytes.length, 0);
  const message = Buffer.allocUnsafe(size);
  let at = 0;
  parts.forEach(({ tag, bytes }, i) => {
    for (const byte of [...tag, ...lengths[i]]) message[at++] = byte;
    message.set(bytes, at);
    at += bytes.length;
  });
  return message;
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  bytes.push(rest);
  return bytes;
}
