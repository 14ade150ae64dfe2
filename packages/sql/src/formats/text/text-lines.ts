import { gunzipSync, inflateSync } from 'node:zlib';
import { BugError, type ByteSource, memorySource } from '@skep/core';
import { UnsupportedFormatError } from '../errors.js';

const windowBytes = 1 << 20;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * The lines of a file without their ends, which are \n, \r or \r\n (org.apache.hadoop.util.LineReader). A line is
 * bytes[start, end) until the next call.
 */
export class TextLines {
  bytes = new Uint8Array(0);
  start = 0;
  end = 0;
  /** Where the next line starts in `bytes`. */
  private next = 0;
  /** How far `bytes` is filled, and how far the source is read. */
  private filled = 0;
  private position = 0;

  constructor(private readonly source: ByteSource) {
    this.fill();
    // A byte order mark at the start of a file is no data (LineRecordReader.skipUtfByteOrderMark).
    if (this.bytes[0] === 0xef && this.bytes[1] === 0xbb && this.bytes[2] === 0xbf) this.next = 3;
  }

  /** Moves on; false at the end. */
  advance(): boolean {
    for (let at = this.next; ; ) {
      const { bytes, filled } = this;
      while (at < filled && bytes[at] !== lineFeed && bytes[at] !== carriageReturn) at++;
      // A \r may have its \n in the next window.
      const isEnough = at < filled && (bytes[at] === lineFeed || at + 1 < filled);
      if (isEnough || this.position === this.source.size) {
        if (at >= filled && this.next >= filled) return false;
        this.start = this.next;
        this.end = at;
        this.next = at + (bytes[at] === carriageReturn && at + 1 < filled && bytes[at + 1] === lineFeed ? 2 : 1);
        return true;
      }
      const scanned = at - this.next;
      this.fill();
      at = this.next + scanned;
    }
  }

  /** Reads on behind what is left of the window. */
  private fill(): void {
    const rest = this.bytes.subarray(this.next, this.filled);
    const size = Math.min(Math.max(windowBytes, rest.length), this.source.size - this.position);
    const more = this.source.slice(this.position, this.position + size);
    if (more instanceof Promise) throw new BugError(`${this.source.path} cannot be read without waiting`);
    const bytes = new Uint8Array(rest.length + size);
    bytes.set(rest);
    bytes.set(more, rest.length);
    this.bytes = bytes;
    this.filled = bytes.length;
    this.next = 0;
    this.position += size;
  }
}

/** Decompresses by the file's ending, as Hadoop's TextInputFormat does (CompressionCodecFactory). */
export function plainText(path: string, source: ByteSource): ByteSource {
  const ending = /\.(gz|deflate|bz2|lz4|snappy|zst|lzo)$/i.exec(path)?.[1].toLowerCase();
  if (ending === undefined) return source;
  const whole = source.slice(0, source.size);
  if (whole instanceof Promise) throw new BugError(`${path} cannot be read without waiting`);
  switch (ending) {
    case 'gz':
      return memorySource(gunzipSync(whole), path);
    case 'deflate':
      return memorySource(inflateSync(whole), path);
    default:
      throw new UnsupportedFormatError(`Text compressed as .${ending} (${path})`);
  }
}
