import type { Fetching, MeteredSource } from '../file/fetching.js';
import type { FileTail } from '../file/file-tail.js';
import type { ColumnStatistics } from '../proto/gen/orc_proto.js';
import { decodeBloomFilter } from '../sarg/bloom.js';
import type { TypeDescription } from '../type-description.js';
import { readBloomFilters } from './pruning.js';
import { StreamKind, type StripeInformation, type StripeLayout } from './stripe.js';

/** The size of a column's bloom filters. */
export interface BloomShape {
  readonly bytes: number;
  readonly hashFunctions: number;
}

/**
 * A stripe as it is in its file, to be copied without being decoded: OrcReader.wholeStripe makes it, OrcWriter.appendStripe takes it.
 */
export interface WholeStripe {
  readonly tail: FileTail;
  readonly schema: TypeDescription;
  /** Its place in the file. */
  readonly number: number;
  readonly information: StripeInformation;
  readonly layout: StripeLayout;
  /** By column id; undefined where the writer left them out. */
  readonly statistics: readonly ColumnStatistics[] | undefined;
  /** By column id; filters of the kind that our writer makes. */
  readonly bloomFilters: ReadonlyMap<number, BloomShape>;
  /** Index, data and footer, in pieces, from the open file. */
  bytes(): AsyncGenerator<Uint8Array>;
}

/** Read and written at once: a stripe may be larger than what should be in memory. */
const PIECE_BYTES = 4 << 20;

/** The bytes of a stripe, index and footer included. */
export async function* stripeBytes(source: MeteredSource, stripe: StripeInformation): AsyncGenerator<Uint8Array> {
  const end = stripe.offset + stripeLength(stripe);
  for (let at = stripe.offset; at < end; at += PIECE_BYTES) {
    yield await source.read({ start: at, end: Math.min(end, at + PIECE_BYTES) });
  }
}

export const stripeLength = ({ indexLength, dataLength, footerLength }: StripeInformation): number =>
  indexLength + dataLength + footerLength;

/** Reads the sizes of a stripe's bloom filters: those of the first row group, all are alike. */
export function* readBloomShapes(tail: FileTail, { columns }: StripeLayout): Fetching<ReadonlyMap<number, BloomShape>> {
  const shapes = new Map<number, BloomShape>();
  for (const [id, { streams }] of columns.entries()) {
    const stream = streams.get(StreamKind.bloomFilterUtf8);
    if (stream === undefined) continue;
    const { bloomFilter } = yield* readBloomFilters(tail, stream);
    const filter = decodeBloomFilter(bloomFilter?.[0]);
    shapes.set(id, { bytes: filter?.bytes.length ?? 0, hashFunctions: filter?.hashFunctions ?? 0 });
  }
  return shapes;
}
