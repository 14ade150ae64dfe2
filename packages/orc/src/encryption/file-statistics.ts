import { CorruptFileError } from '@skep/core';
import { decompressRange } from '../compression/chunks.js';
import { decodeMessage, type FileTail } from '../file/file-tail.js';
import { type ColumnStatistics, FileStatistics } from '../proto/gen/orc_proto.js';
import type { TypeDescription } from '../type-description.js';
import { decryptStream, fitsIv, type StreamCipher } from './stream-cipher.js';

/** Stream.Kind of what is in the file's tail. */
export const STRIPE_STATISTICS = 100;
const FILE_STATISTICS = 101;
/** FileStatistics begins with its first column: field 1, bytes. */
const FIRST_BYTE = 0x0a;
const MOST_VALUES_PER_ROW = 1n << 32n;

/** What the tail is encrypted with: Java counts it as one stripe more (the specification says: the number of stripes). */
export function tailCipher(tail: FileTail, key: Uint8Array, column: number, kind: number): StreamCipher {
  const cipher = { key, column, kind, stripeId: (tail.footer.stripes?.length ?? 0) + 1 };
  if (fitsIv(cipher)) return cipher;
  throw new CorruptFileError(tail.path, tail.footerOffset, `too many columns or stripes to be encrypted`);
}

/**
 * A variant's statistics of the whole file, the root's first, or undefined when the key is not the right one: nothing else in a
 * file tells, so what a wrong key makes of them must not pass for statistics. A variant without statistics takes any key.
 */
export function decryptFileStatistics(
  tail: FileTail,
  root: TypeDescription,
  encrypted: Uint8Array | undefined,
  key: Uint8Array,
): readonly ColumnStatistics[] | undefined {
  if (encrypted === undefined || encrypted.length === 0) return [];
  const { path, codec, blockSize, footerOffset: fileOffset } = tail;
  try {
    const plain = decryptStream(tailCipher(tail, key, root.id, FILE_STATISTICS), encrypted);
    const { bytes } = decompressRange(plain, { path, name: 'file statistics', fileOffset, codec, blockSize });
    if (bytes[0] !== FIRST_BYTE) return undefined;
    const what = 'encrypted file statistics';
    const { column = [] } = decodeMessage(path, fileOffset, what, () => FileStatistics.decode(bytes));
    if (column.length !== root.maximumId - root.id + 1) return undefined;
    return column.every((statistics) => isPlausible(statistics, tail)) ? column : undefined;
  } catch (error) {
    if (error instanceof CorruptFileError) return undefined;
    throw error;
  }
}

/** Chance makes messages that can be decoded, but hardly with the two fields that Java always writes, and so few values. */
function isPlausible({ numberOfValues, hasNull }: ColumnStatistics, { footer }: FileTail): boolean {
  // Inside a list there may be more values than rows.
  const most = (footer.numberOfRows ?? 0n) * MOST_VALUES_PER_ROW;
  return numberOfValues !== undefined && hasNull !== undefined && numberOfValues <= most;
}
