import { appendableStripes, stripeLength, type WholeStripe } from '@skep/orc';
import { acidSchema } from '../read/acid-schema.js';
import { askedBlockBytes, type FileRole, orcWriterOptions } from '../write/orc-options.js';
import type { CompactionInput } from './compaction-input.js';

/**
 * By how much a stripe that is taken over may be smaller than one that would be written: of 64 MiB, 1 MiB. What a reader pays for a
 * stripe of its own (its footer, its indexes, a seek) is then still little beside reading its rows, and a file of a gigabyte has
 * a thousand of them at most; that much a delta of a batch of rows has (a delta's own stripes end at 8 MiB). Smaller ones are merged.
 */
const SMALLEST_PART = 64;

/** Which stripes a compaction may take over as they are. */
export interface TakenStripes {
  readonly leastBytes: number;
  /** Why a stripe is not as one that would be written; undefined: it is. */
  readonly whyNot: (stripe: WholeStripe) => string | undefined;
}

/** What can be taken over into files of this role. */
export function takenStripes({ schema, orc = {}, leastStripeBytes }: CompactionInput, role: FileRole): TakenStripes {
  const options = orcWriterOptions(orc, role);
  const whyNotAppended = appendableStripes(role === 'plain' ? schema : acidSchema(schema), options);
  const askedBytes = askedBlockBytes(orc) ?? Number.POSITIVE_INFINITY;
  return {
    leastBytes: leastStripeBytes ?? Math.ceil((options.stripeSizeBytes ?? 1) / SMALLEST_PART),
    whyNot: (stripe) =>
      stripe.tail.blockSize > askedBytes ? 'its compression chunks are larger than asked for' : whyNotAppended(stripe),
  };
}

/** The stripe that is being collected, and rows on their way to it. */
export interface PendingRows {
  readonly rows: number;
  readonly bytes: number;
  readonly gathered: number;
}

/**
 * Whether a stripe can come next without leaving one behind that is too small: the one that is being collected ends before it.
 * Rows that are not in it yet count as this stripe's own.
 */
export function leavesNoCrumb(leastBytes: number, { information }: WholeStripe, pending: PendingRows): boolean {
  if (pending.rows + pending.gathered === 0) return true;
  const rowBytes = stripeLength(information) / Math.max(1, information.numberOfRows);
  return pending.bytes + pending.gathered * rowBytes >= leastBytes;
}
