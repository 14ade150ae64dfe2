import { CorruptFileError } from '@skep/core';
import { decompressRange } from '../compression/chunks.js';
import { type ByteRange, type Fetching, fetchRanges } from '../file/fetching.js';
import { decodeMessage, type FileTail, readMetadata, toNumber } from '../file/file-tail.js';
import { ColumnarStripeStatistics, type ColumnStatistics } from '../proto/gen/orc_proto.js';
import { type FileEncryption, variantOf } from './file-encryption.js';
import { STRIPE_STATISTICS, tailCipher } from './file-statistics.js';
import { decryptStream } from './stream-cipher.js';

/**
 * Statistics by stripe and column id; shorter than the stripes in files whose writer left them out. Those of the encrypted columns
 * whose keys are there are read too, of `columns` only when given; what cannot be had is as the mask left it.
 */
export function* readStripeStatistics(
  tail: FileTail,
  encryption: FileEncryption | undefined,
  columns?: ReadonlySet<number>,
): Fetching<readonly (readonly ColumnStatistics[])[]> {
  const { stripeStats = [] } = yield* readMetadata(tail);
  const plain = stripeStats.map(({ colStats = [] }) => colStats);
  if (encryption === undefined) return plain;
  const wanted = statisticsStreams(tail, encryption).filter(({ column }) => columns?.has(column) ?? true);
  const answers = yield* fetchRanges(
    wanted.map(({ range }) => range),
    0,
  );
  const decrypted = plain.map((ofStripe) => [...ofStripe]);
  for (const [i, { column, key, range }] of wanted.entries()) {
    const { path, codec, blockSize } = tail;
    const name = `stripe statistics of column ${column}`;
    const raw = decryptStream(tailCipher(tail, key, column, STRIPE_STATISTICS), answers[i]);
    const { bytes } = decompressRange(raw, { path, name, fileOffset: range.start, codec, blockSize });
    const { colStats = [] } = decodeMessage(path, range.start, name, () => ColumnarStripeStatistics.decode(bytes));
    // A stripe that is not told of is one of which nothing is known.
    for (const [stripe, ofStripe] of decrypted.entries()) ofStripe[column] = colStats[stripe] ?? {};
  }
  return decrypted;
}

/** Where the stripe statistics of open variants are: those of all variants lie in front of the metadata, in their order. */
function statisticsStreams(tail: FileTail, encryption: FileEncryption) {
  const { path, footerOffset, metadataOffset, postScript, footer } = tail;
  const size = toNumber(postScript.stripeStatisticsLength, path, footerOffset, 'length of encrypted stripe statistics');
  let offset = metadataOffset - size;
  const streams: { readonly column: number; readonly key: Uint8Array; readonly range: ByteRange }[] = [];
  for (const [number, { stripeStatistics = [] }] of (footer.encryption?.variants ?? []).entries()) {
    const { state, tailKey: key } = encryption.variants[number];
    for (const { kind = 0, column = 0, length } of stripeStatistics) {
      const range = { start: offset, end: offset + toNumber(length, path, footerOffset, 'stream length') };
      offset = range.end;
      if (range.start < 0 || offset > metadataOffset) {
        throw new CorruptFileError(path, footerOffset, `encrypted stripe statistics go beyond their ${size} bytes`);
      }
      if (state !== 'open' || key === undefined || kind !== STRIPE_STATISTICS) continue;
      if (variantOf(encryption, column)?.number === number) streams.push({ column, key, range });
    }
  }
  return streams;
}
