/*
 * Zstandard frames (RFC 8878), as far as needed to know how much a frame can hold and to say so in its header.
 *
 *   magic FD2FB528 (little endian) | descriptor | [window] | [dictionary id] | [content size] | blocks | [checksum]
 *   descriptor: size flag 2 bits | single segment 1 | unused 1 | reserved 1 | checksum 1 | dictionary flag 2
 *   block: 3 bytes little endian = last 1 bit | type 2 bits (raw, RLE, compressed) | size 21 bits; then its bytes
 */
const MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4];
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];

export interface FrameHeader {
  readonly headerBytes: number;
  readonly contentSize: number | undefined;
  readonly checksum: boolean;
}

export function frameHeader(chunk: Uint8Array): FrameHeader {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
  if (chunk.length < 6 || view.getUint32(0, true) !== MAGIC) throw new RangeError('not a zstd frame');
  const descriptor = chunk[4];
  if ((descriptor & 8) !== 0) throw new RangeError('a zstd frame of a later version');
  const singleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >>> 6;
  const sizeBytes = sizeFlag === 0 && singleSegment ? 1 : CONTENT_SIZE_BYTES[sizeFlag];
  const sizeAt = 5 + (singleSegment ? 0 : 1) + DICTIONARY_ID_BYTES[descriptor & 3];
  if (chunk.length < sizeAt + sizeBytes) throw new RangeError('the zstd frame ends in its header');
  for (let i = 0; i < DICTIONARY_ID_BYTES[descriptor & 3]; i++) {
    if (chunk[sizeAt - 1 - i] !== 0) throw new RangeError('the zstd frame needs a dictionary');
  }
  let contentSize: number | undefined;
  if (sizeBytes === 1) contentSize = chunk[sizeAt];
  else if (sizeBytes === 2) contentSize = view.getUint16(sizeAt, true) + 256;
  else if (sizeBytes === 4) contentSize = view.getUint32(sizeAt, true);
  else if (sizeBytes === 8) contentSize = Number(view.getBigUint64(sizeAt, true));
  return { headerBytes: sizeAt + sizeBytes, contentSize, checksum: (descriptor & 4) !== 0 };
}

/** The length of a frame that only carries something else (RFC 8878, 3.1.2); 0 of one that is data. */
export function skippableBytes(chunk: Uint8Array): number {
  if (chunk.length < 8) return 0;
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
  if ((view.getUint32(0, true) & 0xfffffff0) >>> 0 !== SKIPPABLE_MAGIC) return 0;
  const length = 8 + view.getUint32(4, true);
  if (length > chunk.length) throw new RangeError('a skippable frame is longer than its chunk');
  return length;
}

/**
 * The same frame with its content size in the header, which some readers (Trino's, aircompressor) rely on.
 * Frames of @toondepauw/node-zstd have a window byte and no size: a size of 4 bytes is put behind the window.
 */
export function withContentSize(frame: Uint8Array, contentSize: number): Uint8Array {
  const header = frameHeader(frame);
  if (header.contentSize !== undefined) return frame;
  const out = new Uint8Array(frame.length + 4);
  out.set(frame.subarray(0, header.headerBytes));
  out[4] |= 0x80;
  new DataView(out.buffer).setUint32(header.headerBytes, contentSize, true);
  out.set(frame.subarray(header.headerBytes), header.headerBytes + 4);
  return out;
}
