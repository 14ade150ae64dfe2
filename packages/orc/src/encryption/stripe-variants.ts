import { CorruptFileError } from '@skep/core';
import { toNumber } from '../file/file-tail.js';
import {
  type ColumnLayout,
  columnLayout,
  type StreamInformation,
  StreamKind,
  type StripeLayout,
} from '../file/stripe-layout.js';
import type { StripeFooter } from '../proto/gen/orc_proto.js';
import { type FileEncryption, variantOf } from './file-encryption.js';
import { decryptStream, fitsIv } from './stream-cipher.js';

/** Stream.Kind of the streams that stand for those of all variants. */
const ENCRYPTED_INDEX = 9;
const ENCRYPTED_DATA = 10;
const INDEX_KINDS: ReadonlySet<number> = new Set([
  StreamKind.dictionaryCount,
  StreamKind.rowIndex,
  StreamKind.bloomFilter,
  StreamKind.bloomFilterUtf8,
]);

/** A stripe's footer and where it is. */
export interface LocatedFooter {
  readonly footer: StripeFooter;
  readonly path: string;
  readonly offset: number;
}

/**
 * A stripe's layout with the streams and encodings of the open variants in the place of those that the mask left. In the
 * stripe are, in this order: index streams, ENCRYPTED_INDEX, data streams, ENCRYPTED_DATA; the two encrypted parts have the
 * streams of the variants one behind the other (spec: "Stripe Footer"; Java: StripePlanner.findStreams).
 */
export function withVariants(
  layout: StripeLayout,
  located: LocatedFooter,
  encryption: FileEncryption,
  stripe: number,
): StripeLayout {
  const index = encryptedPart(layout, ENCRYPTED_INDEX);
  const data = encryptedPart(layout, ENCRYPTED_DATA);
  const columns = [...layout.columns];
  const streams = [...layout.streams];
  for (const variant of encryption.variants) {
    const { root, number, state } = variant;
    const { streams: messages = [], encoding = [] } = located.footer.encryption?.[number] ?? {};
    if (encoding.length !== root.maximumId - root.id + 1) {
      throw corrupt(located, `the stripe footer has ${encoding.length} encodings for encryption variant ${number}`);
    }
    const ofColumn = encoding.map(() => new Map<number, StreamInformation>());
    for (const { kind = 0, column = 0, length: size } of messages) {
      const part = INDEX_KINDS.has(kind) ? index : data;
      const length = toNumber(size, located.path, located.offset, 'stream length');
      const stream = { kind, column, offset: part.at, length, variant: number };
      part.at += length;
      if (part.at > part.end) {
        throw corrupt(located, `encrypted stream ${kind} of column ${column} goes beyond its part of the stripe`);
      }
      streams.push(stream);
      if (length === 0 || state !== 'open') continue;
      const cipher = { key: variant.stripeKeys[stripe], column, kind, stripeId: encryption.stripeIds[stripe] };
      if (!fitsIv(cipher)) throw corrupt(located, `column ${column} of stripe ${stripe} cannot be encrypted`);
      const decrypt = (bytes: Uint8Array, at: number) => decryptStream(cipher, bytes, at);
      ofColumn[column - root.id]?.set(kind, { ...stream, decrypt });
    }
    for (const [i, message] of encoding.entries()) {
      const id = root.id + i;
      if (variantOf(encryption, id) !== variant) continue;
      if (state !== 'open') columns[id] = withoutBloomFilter(columns[id]);
      else columns[id] = columnLayout(message, id, ofColumn[i], located.path, located.offset);
    }
  }
  return { ...layout, streams, columns };
}

/**
 * Java writes the bloom filters of an encrypted column not encrypted, those of the values in front of those of the masked ones
 * (TreeWriterBase names the stream without the variant): for the masked ones they are wrong.
 */
function withoutBloomFilter(column: ColumnLayout): ColumnLayout {
  const bloom: readonly number[] = [StreamKind.bloomFilter, StreamKind.bloomFilterUtf8];
  return { ...column, streams: new Map([...column.streams].filter(([kind]) => !bloom.includes(kind))) };
}

function encryptedPart({ streams }: StripeLayout, kind: number): { at: number; readonly end: number } {
  const { offset: at, length } = streams.find((stream) => stream.kind === kind) ?? { offset: 0, length: 0 };
  return { at, end: at + length };
}

function corrupt({ path, offset }: LocatedFooter, what: string): CorruptFileError {
  return new CorruptFileError(path, offset, what);
}
