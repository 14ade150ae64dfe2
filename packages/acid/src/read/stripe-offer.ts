import type { ValidWriteIdList } from '@skep/core';
import { type ColumnStatistics, type OrcReader, stripeLength, type WholeStripe } from '@skep/orc';
import { ACID_COLUMN } from './acid-schema.js';
import { ACID_KEY_INDEX_KEY } from './acid-version.js';
import { compareOrdered, type OrderedKeys, orderedKeys } from './key-runs.js';
import { isWholeRangeValid } from './valid-rows.js';

/** Which stripes a merge offers as they are, instead of their events. */
export interface StripeTerms {
  /** The operation that all events have (acid-schema.ts). */
  readonly operation: number;
  /** Smaller stripes are merged event by event. */
  readonly leastBytes: number;
  /** Why a stripe cannot go where it should; undefined: it can. */
  readonly whyNot: (stripe: WholeStripe) => string | undefined;
  /** Asked when a stripe comes next in the order, after all events before it were handed out: false has its events handed out. */
  readonly takes: (offer: StripeOffer) => boolean;
}

/** A stripe of a file of events of which all are valid. */
export interface StripeOffer {
  readonly stripe: WholeStripe;
  readonly rows: number;
  readonly operation: number;
  /** One key: none in the stripe is below it. */
  readonly first: OrderedKeys;
  /** One key: the last event's. */
  readonly last: OrderedKeys;
  /** The stripe's part of hive.acid.key.index. */
  readonly keyText: string;
}

/**
 * Of each stripe of a file of events what can be offered, by what the tail says of it: hive.acid.key.index has the last key, the
 * statistics bound the first one, tell the operation and of which writes the events are.
 */
export async function offersOf(
  reader: OrcReader,
  writeIds: ValidWriteIdList,
  terms: StripeTerms,
): Promise<readonly (StripeOffer | undefined)[]> {
  const isLarge = reader.stripes.map((stripe) => stripeLength(stripe) >= terms.leastBytes);
  if (!isLarge.includes(true)) return [];
  const keys = keyIndexOf(reader);
  if (keys === undefined) return [];
  const offers: (StripeOffer | undefined)[] = [];
  for (const [number, large] of isLarge.entries()) {
    offers.push(large ? offerOf(await reader.wholeStripe(number), keys[number], writeIds, terms) : undefined);
  }
  return offers;
}

function offerOf(
  stripe: WholeStripe,
  { key: last, text: keyText }: IndexedKey,
  writeIds: ValidWriteIdList,
  terms: StripeTerms,
): StripeOffer | undefined {
  const { operation } = terms;
  const bounds = (name: keyof typeof ACID_COLUMN) => boundsOf(stripe.statistics?.[ACID_COLUMN[name]]);
  const [operations, writes, buckets, rowIds, current] = [
    bounds('operation'),
    bounds('originalTransaction'),
    bounds('bucket'),
    bounds('rowId'),
    bounds('currentTransaction'),
  ];
  if (!operations || !writes || !buckets || !rowIds || !current) return undefined;
  if (operations.minimum !== BigInt(operation) || operations.maximum !== BigInt(operation)) return undefined;
  if (!isWholeRangeValid(writeIds, current.minimum, current.maximum)) return undefined;
  const first = oneKey(writes.minimum, buckets.minimum, rowIds.minimum);
  // The last key is the greatest, so its write id is.
  if (last.writeIds[0] !== writes.maximum || compareOrdered(first, 0, last, 0) > 0) return undefined;
  if (terms.whyNot(stripe) !== undefined) return undefined;
  return { stripe, rows: stripe.information.numberOfRows, operation, first, last, keyText };
}

interface IndexedKey {
  readonly key: OrderedKeys;
  readonly text: string;
}

/** The last key of each stripe; undefined where the file does not tell, or tells what cannot be. */
function keyIndexOf(reader: OrcReader): IndexedKey[] | undefined {
  const bytes = reader.userMetadata.get(ACID_KEY_INDEX_KEY);
  if (bytes === undefined) return undefined;
  const texts = new TextDecoder().decode(bytes).split(';').slice(0, -1);
  if (texts.length !== reader.stripes.length) return undefined;
  const keys: IndexedKey[] = [];
  for (const text of texts) {
    const match = /^(\d{1,19}),(-?\d{1,10}),(\d{1,19})$/.exec(text);
    if (match === null) return undefined;
    const key = oneKey(BigInt(match[1]), BigInt(match[2]), BigInt(match[3]));
    const before = keys.at(-1);
    if (before !== undefined && compareOrdered(before.key, 0, key, 0) >= 0) return undefined;
    keys.push({ key, text: `${text};` });
  }
  return keys;
}

function oneKey(writeId: bigint, bucket: bigint, rowId: bigint): OrderedKeys {
  return orderedKeys({
    length: 1,
    writeIds: BigInt64Array.of(writeId),
    buckets: Int32Array.of(Number(bucket)),
    rowIds: BigInt64Array.of(rowId),
  });
}

function boundsOf(statistics: ColumnStatistics | undefined): { minimum: bigint; maximum: bigint } | undefined {
  const { minimum, maximum } = statistics?.intStatistics ?? {};
  // Events have no NULL in these columns.
  if (minimum === undefined || maximum === undefined || statistics?.hasNull !== false) return undefined;
  return { minimum, maximum };
}
