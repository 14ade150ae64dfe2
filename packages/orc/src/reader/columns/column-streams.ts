import { CorruptFileError } from '@skep/core';
import { BooleanRleDecoder } from '../../encoding/boolean-rle.js';
import { ByteRleDecoder } from '../../encoding/byte-rle.js';
import type { IntegerDecoder } from '../../encoding/integer-decoder.js';
import { RleV1Decoder } from '../../encoding/rle-v1.js';
import { RleV2Decoder } from '../../encoding/rle-v2/decoder.js';
import type { TypeDescription } from '../../type-description.js';
import { type ColumnLayout, STREAM_NAMES, StreamKind } from '../stripe.js';

/** Decompressed bytes of a stream and the place in them where reading starts. */
export interface OpenStream {
  readonly bytes: Uint8Array;
  /** See Decompressed.isOwn. */
  readonly isOwn: boolean;
  readonly at: number;
  readonly skipValues: number;
  readonly skipBits: number;
  /** For errors. */
  readonly name: string;
}

/** What the file says about time that a column needs. */
export interface FileCalendar {
  /** Dates and timestamps before 1582-10-15 are in the Julian calendar. */
  readonly hybrid: boolean;
}

/** The streams of one column, ready to be decoded. */
export interface ColumnSource {
  readonly type: TypeDescription;
  readonly layout: ColumnLayout;
  /** Named in errors. */
  readonly name: string;
  /** The stream, or undefined when the file has none of this kind. */
  open(kind: number): OpenStream | undefined;
}

/** The decoder of PRESENT, or undefined when no value of the column is NULL. */
export function presentDecoder(source: ColumnSource): BooleanRleDecoder | undefined {
  const stream = source.open(StreamKind.present);
  return stream === undefined ? undefined : booleanDecoder(stream);
}

export function booleanDecoder(stream: OpenStream): BooleanRleDecoder {
  const decoder = new BooleanRleDecoder(stream.bytes, stream.at, stream.name);
  decoder.skip(stream.skipValues * 8 + stream.skipBits);
  return decoder;
}

export function byteDecoder(stream: OpenStream): ByteRleDecoder {
  const decoder = new ByteRleDecoder(stream.bytes, stream.at, stream.name);
  decoder.skip(stream.skipValues);
  return decoder;
}

/** Integers in the version that the column's encoding names. */
export function integerDecoder(stream: OpenStream, rleV2: boolean, signed: boolean): IntegerDecoder {
  const Decoder = rleV2 ? RleV2Decoder : RleV1Decoder;
  const decoder = new Decoder(stream.bytes, stream.at, signed, stream.name);
  decoder.skip(stream.skipValues);
  return decoder;
}

/** A stream that may be absent only when no value is read from it (a column that is all NULL, for example). */
export function openOrEmpty(source: ColumnSource, kind: number): OpenStream {
  return (
    source.open(kind) ?? {
      bytes: new Uint8Array(0),
      isOwn: false,
      at: 0,
      skipValues: 0,
      skipBits: 0,
      name: `${source.name}, ${STREAM_NAMES[kind]} stream (missing)`,
    }
  );
}

export function corruptStream(stream: OpenStream, what: string): CorruptFileError {
  return new CorruptFileError(stream.name, undefined, what);
}
