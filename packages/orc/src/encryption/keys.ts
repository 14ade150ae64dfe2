import { createDecipheriv } from 'node:crypto';
import { InvalidKeyError } from '../errors.js';

/** How a key encrypts (spec: "Encryption Keys"): AES in counter mode, with 16 or 32 bytes of key. */
export type EncryptionAlgorithm = 'AES_CTR_128' | 'AES_CTR_256';

/** A master key as a file names it; the key itself is elsewhere. */
export interface EncryptionKey {
  readonly name: string;
  readonly version: number;
  readonly algorithm: EncryptionAlgorithm;
}

/**
 * Who has the master keys (org.apache.orc.impl.KeyProvider): a key management server, or inMemoryKeys. A file holds local keys,
 * encrypted with master keys; all that a file has are asked for when it is opened.
 */
export interface KeyProvider {
  /** The local key behind `encryptedKey`, or undefined when the master key is not to be had: its columns are then refused. */
  decryptLocalKey(key: EncryptionKey, encryptedKey: Uint8Array): LocalKey | Promise<LocalKey>;
}

export type LocalKey = Uint8Array | undefined;

export interface MasterKey {
  readonly name: string;
  /** Absent: the key is for every version of the name. */
  readonly version?: number;
  /** Absent: by the length of `material`, 16 or 32 bytes. */
  readonly algorithm?: EncryptionAlgorithm;
  /** With an algorithm given, a shorter key is filled with zeros and a longer one cut (org.apache.orc.InMemoryKeystore). */
  readonly material: Uint8Array;
}

export const KEY_BYTES: Readonly<Record<EncryptionAlgorithm, number>> = { AES_CTR_128: 16, AES_CTR_256: 32 };
const IV_BYTES = 16;

/** "pii version 1 (AES_CTR_128)", for messages. */
export function keyText({ name, version, algorithm }: EncryptionKey): string {
  return `'${name}' version ${version} (${algorithm})`;
}

/**
 * Master keys that the program has itself. A local key is decrypted with its own first 16 bytes as the IV, as Java's
 * InMemoryKeystore does it and, through ORC, the key management servers of Hadoop and Ranger.
 */
export function inMemoryKeys(keys: Iterable<MasterKey>): KeyProvider {
  const known = [...keys].map((key) => ({ ...key, material: materialOf(key) }));
  return {
    decryptLocalKey(wanted, encryptedKey) {
      const named = known.filter(({ name }) => name === wanted.name);
      const master =
        named.find(({ version }) => version === wanted.version) ?? named.find(({ version }) => version === undefined);
      if (master === undefined) return undefined;
      return decryptCounter(encryptedKey, master.material, encryptedKey.subarray(0, IV_BYTES));
    },
  };
}

function materialOf({ name, algorithm, material }: MasterKey): Uint8Array {
  if (algorithm === undefined) {
    if (material.length === 16 || material.length === 32) return material.slice();
    throw new InvalidKeyError(`key '${name}' has ${material.length} bytes: AES_CTR_128 needs 16, AES_CTR_256 needs 32`);
  }
  const filled = new Uint8Array(KEY_BYTES[algorithm]);
  filled.set(material.subarray(0, filled.length));
  return filled;
}

/** AES in counter mode; the key's length tells which. Decrypting is encrypting. */
export function decryptCounter(bytes: Uint8Array, key: Uint8Array, iv: Uint8Array): Uint8Array {
  const decipher = createDecipheriv(key.length === 32 ? 'aes-256-ctr' : 'aes-128-ctr', key, iv);
  const plain = decipher.update(bytes);
  return new Uint8Array(plain.buffer, plain.byteOffset, plain.length);
}

/**
 * Keys from text, one a line: `NAME=HEX` for every version of a key or `NAME@VERSION=HEX`, with 32 or 64 digits. Empty lines and
 * those that begin with # are left out. `origin` names the text in errors, which never show a key.
 */
export function parseKeys(text: string, origin: string): MasterKey[] {
  return text.split('\n').flatMap((line, i) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    const [, name, version, hex] = /^([^=]+?)(?:@(\d{1,9}))?\s*=\s*((?:[0-9a-fA-F]{2})+)$/.exec(trimmed) ?? [];
    if (name === undefined) {
      throw new InvalidKeyError(`${origin} line ${i + 1}: not NAME=HEX or NAME@VERSION=HEX with hexadecimal digits`);
    }
    const key = { name, material: Uint8Array.from(Buffer.from(hex, 'hex')) };
    if (key.material.length !== 16 && key.material.length !== 32) {
      const what = `key '${name}' has ${hex.length} hexadecimal digits: 32 or 64 are a key`;
      throw new InvalidKeyError(`${origin} line ${i + 1}: ${what}`);
    }
    return [version === undefined ? key : { ...key, version: Number(version) }];
  });
}
