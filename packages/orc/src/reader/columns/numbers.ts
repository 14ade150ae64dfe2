import type { ColumnVector } from '../../vector.js';
import { StreamKind } from '../stripe.js';
import type { ColumnReader } from './column-reader.js';
import {
  booleanDecoder,
  byteDecoder,
  type ColumnSource,
  corruptStream,
  integerDecoder,
  openOrEmpty,
  presentDecoder,
} from './column-streams.js';
import { freshInts, freshLongs, passingInts, unfilled } from './fresh.js';
import { presentRows, spread8, spread32, spread64 } from './rows.js';

export function booleanReader(source: ColumnSource): ColumnReader {
  const present = presentDecoder(source);
  const data = booleanDecoder(openOrEmpty(source, StreamKind.data));
  return (parent) => {
    const rows = presentRows(present, parent);
    const values = new Uint8Array(rows.length);
    data.readBooleans(values, 0, rows.count);
    spread8(values, rows);
    return { kind: 'boolean', length: rows.length, validity: rows.validity, values };
  };
}

export function byteReader(source: ColumnSource): ColumnReader {
  const present = presentDecoder(source);
  const data = byteDecoder(openOrEmpty(source, StreamKind.data));
  return (parent) => {
    const rows = presentRows(present, parent);
    const values = new Int8Array(rows.length);
    data.readBytes(values, 0, rows.count);
    spread8(new Uint8Array(values.buffer), rows);
    return { kind: 'byte', length: rows.length, validity: rows.validity, values };
  };
}

export function shortReader(source: ColumnSource): ColumnReader {
  const present = presentDecoder(source);
  const data = integerDecoder(openOrEmpty(source, StreamKind.data), source.layout.rleV2, true);
  return (parent) => {
    const rows = presentRows(present, parent);
    const wide = passingInts(rows.length);
    data.readInts(wide, 0, rows.count);
    if (rows.count < rows.length) wide.fill(0, rows.count);
    spread32(wide, rows);
    const values = new Int16Array(rows.length);
    values.set(wide);
    return { kind: 'short', length: rows.length, validity: rows.validity, values };
  };
}

export function intReader(
  source: ColumnSource,
  kind: 'int' | 'date',
  fix?: (values: Int32Array) => void,
): ColumnReader {
  const present = presentDecoder(source);
  const data = integerDecoder(openOrEmpty(source, StreamKind.data), source.layout.rleV2, true);
  return (parent) => {
    const rows = presentRows(present, parent);
    const values = freshInts(rows.length, rows.count);
    data.readInts(values, 0, rows.count);
    fix?.(values.subarray(0, rows.count));
    spread32(values, rows);
    return { kind, length: rows.length, validity: rows.validity, values };
  };
}

export function longReader(source: ColumnSource): ColumnReader {
  const present = presentDecoder(source);
  const data = integerDecoder(openOrEmpty(source, StreamKind.data), source.layout.rleV2, true);
  return (parent) => {
    const rows = presentRows(present, parent);
    const values = freshLongs(rows.length, rows.count);
    data.readLongs(values, 0, rows.count);
    spread64(new Int32Array(values.buffer), rows);
    return { kind: 'long', length: rows.length, validity: rows.validity, values };
  };
}

/** IEEE 754, little endian, one after the other. */
export function floatReader(source: ColumnSource, kind: 'float' | 'double'): ColumnReader {
  const width = kind === 'float' ? 4 : 8;
  const present = presentDecoder(source);
  const stream = openOrEmpty(source, StreamKind.data);
  let at = stream.at;
  return (parent): ColumnVector => {
    const rows = presentRows(present, parent);
    const wanted = rows.count * width;
    if (wanted > stream.bytes.length - at) {
      throw corruptStream(stream, `${wanted} bytes needed at ${at}, the stream has ${stream.bytes.length}`);
    }
    const base = { length: rows.length, validity: rows.validity };
    const from = stream.bytes.byteOffset + at;
    if (stream.isOwn && rows.count === rows.length && from % width === 0) {
      // The stream's memory becomes the vectors': nothing else looks at it.
      at += wanted;
      const shared = stream.bytes.buffer as ArrayBuffer;
      return kind === 'float'
        ? { ...base, kind, values: new Float32Array(shared, from, rows.length) }
        : { ...base, kind, values: new Float64Array(shared, from, rows.length) };
    }
    const buffer = unfilled(rows.length * width);
    const bytes = new Uint8Array(buffer);
    bytes.set(stream.bytes.subarray(at, at + wanted));
    if (rows.count < rows.length) bytes.fill(0, wanted);
    at += wanted;
    if (kind === 'float') {
      spread32(new Int32Array(buffer), rows);
      return { ...base, kind, values: new Float32Array(buffer) };
    }
    spread64(new Int32Array(buffer), rows);
    return { ...base, kind, values: new Float64Array(buffer) };
  };
}
