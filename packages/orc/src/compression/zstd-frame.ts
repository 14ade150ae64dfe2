/*
 * Zstandard frames (RFC 8878), as far as needed to know how much a frame can hold and to say so in its header.
 *
 *   magic FD2FB528 (little endian) | descriptor | [window] | [dictionary id] | [content size] | blocks | [checksum]
 *   descriptor: size flag 2 bits | single segment 1 | unused 1 | reserved 1 | checksum 1 | dictionary flag 2
 *   block: 3 bytes little endian = last 1 bit | type 2 bits (raw, RLE, compressed) | size 21 bits; then its bytes
 */
const MAGIC = 0xfd2fb528;
const BLOCK_MAXIMUM = 128 * 1024;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4];
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];

interface FrameHeader {
  readonly headerBytes: number;
  readonly contentSize: number | undefined;
  readonly checksum: boolean;
}

function frameHeader(chunk: Uint8Array): FrameHeader {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
  if (chunk.length < 6 || view.getUint32(0, true) !== MAGIC) throw new RangeError('not a zstd frame');
  const descriptor = chunk[4];
  const singleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >>> 6;
  const sizeBytes = sizeFlag === 0 && singleSegment ? 1 : CONTENT_SIZE_BYTES[sizeFlag];
  const sizeAt = 5 + (singleSegment ? 0 : 1) + DICTIONARY_ID_BYTES[descriptor & 3];
  if (chunk.length < sizeAt + sizeBytes) throw new RangeError('the zstd frame ends in its header');
  let contentSize: number | undefined;
  if (sizeBytes === 1) contentSize = chunk[sizeAt];
  else if (sizeBytes === 2) contentSize = view.getUint16(sizeAt, true) + 256;
  else if (sizeBytes === 4) contentSize = view.getUint32(sizeAt, true);
  else if (sizeBytes === 8) contentSize = Number(view.getBigUint64(sizeAt, true));
  return { headerBytes: sizeAt + sizeBytes, contentSize, checksum: (descriptor & 4) !== 0 };
}

/**
 * Checks, before anything is allocated, that a chunk does not hold more than `maximumLength` bytes: by the frame's
 * content size, else by its blocks, each of which holds at most 128 KiB (so that the check may be generous by one block).
 */
export function zstdBound(chunk: Uint8Array, maximumLength: number): void {
  const { headerBytes, contentSize } = frameHeader(chunk);
  if (contentSize !== undefined && contentSize > maximumLength) {
    throw new RangeError(`${contentSize} bytes are announced, ${maximumLength} is the most`);
  }
  let at = headerBytes;
  let least = 0;
  for (;;) {
    if (at + 3 > chunk.length) throw new RangeError('the zstd frame ends early');
    const header = chunk[at] | (chunk[at + 1] << 8) | (chunk[at + 2] << 16);
    const size = header >>> 3;
    const type = (header >>> 1) & 3;
    // Compressed blocks other than the last are full in every known encoder; a small one still cannot inflate beyond 128 KiB.
    least += type === 2 ? ((header & 1) === 0 ? BLOCK_MAXIMUM : 0) : size;
    if (least > maximumLength + BLOCK_MAXIMUM) throw new RangeError(`more than ${maximumLength} bytes`);
    at += 3 + (type === 1 ? 1 : size);
    if ((header & 1) === 1) return;
  }
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
