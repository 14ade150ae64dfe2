import { CorruptFileError } from '@skep/core';
import { decompressRange } from '../compression/chunks.js';
import type { FileEncryption } from '../encryption/file-encryption.js';
import { withVariants } from '../encryption/stripe-variants.js';
import type { Fetching } from '../file/fetching.js';
import { decodeMessage, type FileTail, toNumber } from '../file/file-tail.js';
import {
  columnLayout,
  type StreamInformation,
  type StripeInformation,
  type StripeLayout,
} from '../file/stripe-layout.js';
import { StripeFooter, type StripeInformation as StripeMessage } from '../proto/gen/orc_proto.js';

export * from '../file/stripe-layout.js';

/** No stripe has more rows: Java counts them in an int. */
const MOST_ROWS = 0x7fffffff;

/** The footer's list of stripes, checked against the file's size. */
export function stripesOf(tail: FileTail): StripeInformation[] {
  const { path, footerOffset } = tail;
  let firstRow = 0;
  return (tail.footer.stripes ?? []).map((message: StripeMessage, number) => {
    const field = (value: bigint | undefined, what: string) =>
      toNumber(value, path, footerOffset, `${what} of stripe ${number}`);
    const stripe = {
      offset: field(message.offset, 'offset'),
      indexLength: field(message.indexLength, 'index length'),
      dataLength: field(message.dataLength, 'data length'),
      footerLength: field(message.footerLength, 'footer length'),
      numberOfRows: field(message.numberOfRows, 'number of rows'),
      firstRow,
    };
    const end = stripe.offset + stripe.indexLength + stripe.dataLength + stripe.footerLength;
    if (end > tail.metadataOffset) {
      throw new CorruptFileError(
        path,
        footerOffset,
        `stripe ${number} ends at ${end}, behind the last stripe's possible end`,
      );
    }
    if (stripe.numberOfRows > MOST_ROWS) {
      throw new CorruptFileError(path, footerOffset, `stripe ${number} has ${stripe.numberOfRows} rows`);
    }
    firstRow += stripe.numberOfRows;
    if (!Number.isSafeInteger(firstRow)) throw new CorruptFileError(path, footerOffset, 'too many rows');
    return stripe;
  });
}

/** Reads the footer of a stripe; `number` is its place in the file. */
export function* readStripeLayout(
  tail: FileTail,
  stripe: StripeInformation,
  columns: number,
  encryption: FileEncryption | undefined,
  number: number,
): Fetching<StripeLayout> {
  const { path, codec, blockSize } = tail;
  const start = stripe.offset + stripe.indexLength + stripe.dataLength;
  const [raw] = yield [{ start, end: start + stripe.footerLength }];
  const { bytes } = decompressRange(raw, { path, name: 'stripe footer', fileOffset: start, codec, blockSize });
  const footer = decodeMessage(path, start, 'stripe footer', () => StripeFooter.decode(bytes));
  const layout = stripeLayout(footer, path, start, stripe, columns);
  return encryption === undefined ? layout : withVariants(layout, { footer, path, offset: start }, encryption, number);
}

function stripeLayout(
  footer: StripeFooter,
  path: string,
  footerOffset: number,
  stripe: StripeInformation,
  columns: number,
): StripeLayout {
  const encodings = footer.columns ?? [];
  if (encodings.length !== columns) {
    const what = `the stripe footer has ${encodings.length} column encodings, the file has ${columns} columns`;
    throw new CorruptFileError(path, footerOffset, what);
  }
  const ofColumn = encodings.map(() => new Map<number, StreamInformation>());
  const streams: StreamInformation[] = [];
  let offset = stripe.offset;
  for (const message of footer.streams ?? []) {
    const length = toNumber(message.length, path, footerOffset, 'stream length');
    const { kind = 0, column = 0 } = message;
    if (offset + length > footerOffset) {
      const what = `stream ${kind} of column ${column}, ${length} bytes at ${offset}, goes beyond its stripe`;
      throw new CorruptFileError(path, footerOffset, what);
    }
    const stream = { kind, column, offset, length };
    streams.push(stream);
    // Later versions may have streams for what is not a column; those of no length are as if absent.
    if (length > 0) ofColumn[column]?.set(kind, stream);
    offset += length;
  }
  return {
    stripe,
    streams,
    columns: encodings.map((encoding, column) => columnLayout(encoding, column, ofColumn[column], path, footerOffset)),
    writerTimezone: footer.writerTimezone,
  };
}
