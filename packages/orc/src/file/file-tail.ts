import { CorruptFileError } from '@skep/core';
import { decompressRange } from '../compression/chunks.js';
import type { Codec, CompressionKind } from '../compression/codec.js';
import { codecOf } from '../compression/codecs.js';
import { UnsupportedFileError } from '../errors.js';
import { Footer, Metadata, PostScript } from '../proto/gen/orc_proto.js';
import type { Fetching } from './fetching.js';

/*
 * An ORC file from its end (spec: "File Tail"):
 *
 *   "ORC" | stripes | [encrypted stripe statistics] | metadata | footer | postscript | postscript's length (1 byte)
 *
 * Metadata (stripe statistics) and footer are compressed as the file is, the postscript never is.
 */
const FIRST_READ_BYTES = 16 * 1024;
const MAGIC = 'ORC';
const DEFAULT_BLOCK_SIZE = 256 * 1024;
const LARGEST_BLOCK_SIZE = 1 << 23;
const KINDS: readonly CompressionKind[] = ['none', 'zlib', 'snappy', 'lzo', 'lz4', 'zstd'];

export interface FileTail {
  readonly path: string;
  readonly fileSize: number;
  readonly postScript: PostScript;
  readonly footer: Footer;
  readonly compression: CompressionKind;
  readonly codec: Codec | undefined;
  /** Most bytes that a compression chunk holds. */
  readonly blockSize: number;
  readonly footerOffset: number;
  readonly metadataOffset: number;
  readonly metadataLength: number;
  /** What the first read gave: the last 16 KiB, or the whole of a smaller file. */
  readonly lastBytes: Uint8Array;
}

/** Reads postscript and footer: one read of 16 KiB, and a second one when the footer is longer. */
export function* readFileTail(path: string, fileSize: number): Fetching<FileTail> {
  if (fileSize === 0) throw new CorruptFileError(path, 0, 'the file is empty, not ORC');
  const [last] = yield [{ start: Math.max(0, fileSize - FIRST_READ_BYTES), end: fileSize }];
  const postScriptLength = last[last.length - 1];
  const postScriptEnd = fileSize - 1;
  const postScriptStart = postScriptEnd - postScriptLength;
  if (postScriptLength === 0 || postScriptStart < 0) {
    throw new CorruptFileError(path, postScriptEnd, `not ORC: a postscript of ${postScriptLength} bytes does not fit`);
  }
  const head = last.length === fileSize ? last.subarray(0, 3) : (yield [{ start: 0, end: 3 }])[0];
  const postScriptBytes = last.subarray(last.length - 1 - postScriptLength, last.length - 1);
  if (!isMagic(postScriptBytes.subarray(-3)) && !isMagic(head)) {
    throw new CorruptFileError(path, postScriptStart, 'not ORC: the postscript does not end in "ORC"');
  }
  const postScript = decodeMessage(path, postScriptStart, 'postscript', () => PostScript.decode(postScriptBytes));
  if (postScript.magic !== undefined && postScript.magic !== MAGIC) {
    throw new CorruptFileError(path, postScriptStart, `not ORC: the magic is '${postScript.magic}'`);
  }
  const { compression, blockSize } = compressionOf(path, postScriptStart, postScript);
  const codec = codecOf(compression);
  const footerLength = toNumber(postScript.footerLength, path, postScriptStart, 'footer length');
  const metadataLength = toNumber(postScript.metadataLength, path, postScriptStart, 'metadata length');
  const footerOffset = postScriptStart - footerLength;
  const metadataOffset = footerOffset - metadataLength;
  if (metadataOffset < 0) {
    const what = `a footer of ${footerLength} and metadata of ${metadataLength} bytes are longer than the file`;
    throw new CorruptFileError(path, postScriptStart, what);
  }
  const firstRead = fileSize - last.length;
  const inFirstRead = (start: number, end: number) => last.subarray(start - firstRead, end - firstRead);
  const footerBytes =
    footerOffset >= firstRead
      ? inFirstRead(footerOffset, postScriptStart)
      : (yield [{ start: footerOffset, end: postScriptStart }])[0];
  const context = { path, name: 'footer', fileOffset: footerOffset, codec, blockSize };
  const { bytes } = decompressRange(footerBytes, context);
  const footer = decodeMessage(path, footerOffset, 'footer', () => Footer.decode(bytes));
  return {
    path,
    fileSize,
    postScript,
    footer,
    compression,
    codec,
    blockSize,
    footerOffset,
    metadataOffset,
    metadataLength,
    lastBytes: last,
  };
}

/** Reads the stripe statistics: an entry for each stripe, fewer or none in files of writers that leave them out. */
export function* readMetadata(tail: FileTail): Fetching<Metadata> {
  if (tail.metadataLength === 0) return Metadata.decode(new Uint8Array(0));
  const range = { start: tail.metadataOffset, end: tail.metadataOffset + tail.metadataLength };
  const [raw] = yield [range];
  const { path, codec, blockSize } = tail;
  const { bytes } = decompressRange(raw, { path, name: 'metadata', fileOffset: range.start, codec, blockSize });
  return decodeMessage(path, range.start, 'metadata', () => Metadata.decode(bytes));
}

function isMagic(bytes: Uint8Array): boolean {
  return bytes.length === 3 && bytes[0] === 0x4f && bytes[1] === 0x52 && bytes[2] === 0x43;
}

function compressionOf(
  path: string,
  offset: number,
  postScript: PostScript,
): { compression: CompressionKind; blockSize: number } {
  const kind = postScript.compression ?? 0;
  const compression = KINDS[kind];
  if (compression === undefined) {
    throw new UnsupportedFileError(path, `compression kind ${kind}${kind === 6 ? ' (brotli)' : ''} is not known`);
  }
  const given = toNumber(postScript.compressionBlockSize, path, offset, 'compression block size');
  const blockSize = given === 0 ? DEFAULT_BLOCK_SIZE : given;
  if (compression !== 'none' && blockSize > LARGEST_BLOCK_SIZE) {
    throw new CorruptFileError(path, offset, `a compression block size of ${blockSize} is above ${LARGEST_BLOCK_SIZE}`);
  }
  return { compression, blockSize };
}

/** Decodes a message; whatever is thrown is told as corruption of the file. */
export function decodeMessage<T>(path: string, offset: number, what: string, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CorruptFileError(path, offset, `the ${what} cannot be decoded: ${why}`, { cause });
  }
}

/** A size, count or offset of the file as a number; absent is 0. */
export function toNumber(value: bigint | undefined, path: string, offset: number, what: string): number {
  if (value === undefined) return 0;
  if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < 0n) {
    throw new CorruptFileError(path, offset, `${what} is ${value}`);
  }
  return Number(value);
}
