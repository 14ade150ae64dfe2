import { CorruptFileError } from '@skep/core';
import { UnsupportedFileError } from '../errors.js';
import { type FileTail, toNumber } from '../file/file-tail.js';
import type { ColumnStatistics, EncryptionVariant, StripeInformation } from '../proto/gen/orc_proto.js';
import { columnById, type TypeDescription } from '../type-description.js';
import { decryptFileStatistics } from './file-statistics.js';
import { type EncryptionAlgorithm, type EncryptionKey, KEY_BYTES, type LocalKey } from './keys.js';

/*
 * An encrypted column is in the file twice (spec: "Encryption Variants"): masked, among the other columns, and encrypted, in streams
 * of its variant. A variant has a local key for the file's tail and one for each stripe; the local keys are encrypted with a
 * master key. Merged files have stripes with the keys and numbers of the files that they come from.
 */
const ALGORITHMS: readonly (EncryptionAlgorithm | undefined)[] = [undefined, 'AES_CTR_128', 'AES_CTR_256'];

/** An encrypted column with its descendants, as one key encrypted it. */
export interface Variant {
  /** Its place in Encryption.variants and in the stripes' footers. */
  readonly number: number;
  readonly root: TypeDescription;
  readonly key: EncryptionKey;
  /** The mask of what is among the columns that are not encrypted. */
  readonly mask: string;
  /** `wrong`: the key that was given does not open the file. */
  readonly state: 'open' | 'locked' | 'wrong';
  /** Of an open variant: the key of the file's tail, those of the stripes, and the file's statistics by column behind the root. */
  readonly tailKey?: Uint8Array | undefined;
  readonly stripeKeys: readonly Uint8Array[];
  readonly statistics: readonly ColumnStatistics[];
}

export interface FileEncryption {
  readonly variants: readonly Variant[];
  /** By stripe: the number that its streams were encrypted with. */
  readonly stripeIds: readonly number[];
}

/** What is asked of a KeyProvider; it is resumed with the answer. */
export interface KeyRequest {
  readonly key: EncryptionKey;
  readonly encryptedKey: Uint8Array;
}
export type AskingKeys<T> = Generator<KeyRequest, T, LocalKey>;

/** The file's encryption with the keys that are to be had; undefined when nothing is encrypted. Does no I/O itself. */
export function* openEncryption(tail: FileTail, schema: TypeDescription): AskingKeys<FileEncryption | undefined> {
  const { encryption, stripes = [] } = tail.footer;
  const messages = encryption?.variants ?? [];
  if (messages.length === 0) return undefined;
  const { stripeIds, encryptedKeys } = stripeEncryption(tail, stripes, messages.length);
  const masks = new Map(
    (encryption?.mask ?? []).flatMap(({ name, columns = [] }) => columns.map((id) => [id, name ?? 'nullify'] as const)),
  );
  const variants: Variant[] = [];
  for (const [number, message] of messages.entries()) {
    const root = columnById(schema, message.root ?? 0);
    if (root === undefined) throw corrupt(tail, `encryption variant ${number} is of column ${message.root}`);
    const key = keyOf(tail, message, number);
    const base = { number, root, key, mask: masks.get(root.id) ?? 'nullify' };
    const ofStripes = encryptedKeys.map((keys) => keys[number]);
    variants.push({ ...base, ...(yield* openVariant(tail, base, message, ofStripes)) });
  }
  return { variants, stripeIds };
}

/** The variant that a column is read from: the first that is open (spec), else the first. Undefined: it is not encrypted. */
export function variantOf(encryption: FileEncryption | undefined, column: number): Variant | undefined {
  const found = encryption?.variants.filter(({ root }) => column >= root.id && column <= root.maximumId) ?? [];
  return found.find(({ state }) => state === 'open') ?? found.find(({ state }) => state === 'wrong') ?? found[0];
}

type Opened = Pick<Variant, 'state' | 'tailKey' | 'stripeKeys' | 'statistics'>;

function* openVariant(
  tail: FileTail,
  variant: Pick<Variant, 'number' | 'root' | 'key'>,
  message: EncryptionVariant,
  encryptedStripeKeys: readonly Uint8Array[],
): AskingKeys<Opened> {
  const { key, number } = variant;
  const length = KEY_BYTES[key.algorithm];
  const closed = (state: 'locked' | 'wrong'): Opened => ({ state, stripeKeys: [], statistics: [] });
  const local = function* (encryptedKey: Uint8Array | undefined): AskingKeys<LocalKey> {
    if (encryptedKey?.length !== length) {
      const what = `a local key of encryption variant ${number} has ${encryptedKey?.length ?? 0} bytes, not ${length}`;
      throw corrupt(tail, what);
    }
    return yield { key, encryptedKey };
  };
  const tailKey = yield* local(message.encryptedKey);
  if (tailKey === undefined) return closed('locked');
  if (tailKey.length !== length) return closed('wrong');
  const statistics = decryptFileStatistics(tail, variant.root, message.fileStatistics, tailKey);
  if (statistics === undefined) return closed('wrong');
  const known = new Map<string, Uint8Array>();
  const stripeKeys: Uint8Array[] = [];
  for (const encryptedKey of encryptedStripeKeys) {
    const text = Buffer.from(encryptedKey).toString('hex');
    const stripeKey = known.get(text) ?? (yield* local(encryptedKey));
    if (stripeKey?.length !== length) return closed('wrong');
    known.set(text, stripeKey);
    stripeKeys.push(stripeKey);
  }
  return { state: 'open', tailKey, stripeKeys, statistics };
}

function keyOf(tail: FileTail, message: EncryptionVariant, number: number): EncryptionKey {
  const found = tail.footer.encryption?.key?.[message.key ?? 0];
  if (found === undefined)
    throw corrupt(tail, `encryption variant ${number} is of key ${message.key ?? 0}, which is not there`);
  const algorithm = ALGORITHMS[found.algorithm ?? 0];
  const name = found.keyName ?? '';
  if (algorithm === undefined) {
    throw new UnsupportedFileError(tail.path, `key '${name}' is for encryption algorithm ${found.algorithm ?? 0}`);
  }
  return { name, version: found.keyVersion ?? 0, algorithm };
}

/** Numbers and encrypted local keys of the stripes: where a stripe has none, one more than the last, and the same keys. */
function stripeEncryption(tail: FileTail, stripes: readonly StripeInformation[], variants: number) {
  const stripeIds: number[] = [];
  const encryptedKeys: (readonly Uint8Array[])[] = [];
  for (const [number, { encryptStripeId, encryptedLocalKeys = [] }] of stripes.entries()) {
    const what = `encryption id of stripe ${number}`;
    const id = toNumber(encryptStripeId, tail.path, tail.footerOffset, what) || (stripeIds.at(-1) ?? 0) + 1;
    const keys = encryptedLocalKeys.length > 0 ? encryptedLocalKeys : (encryptedKeys.at(-1) ?? []);
    if (keys.length !== variants) {
      throw corrupt(tail, `stripe ${number} has ${keys.length} local keys for ${variants} encryption variants`);
    }
    stripeIds.push(id);
    encryptedKeys.push(keys);
  }
  return { stripeIds, encryptedKeys };
}

function corrupt({ path, footerOffset }: FileTail, what: string): CorruptFileError {
  return new CorruptFileError(path, footerOffset, what);
}
