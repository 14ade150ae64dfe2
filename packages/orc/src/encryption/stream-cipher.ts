import { decryptCounter } from './keys.js';

/*
 * The IV of a stream (spec: "Stream Encryption"; Java: CryptoUtils.modifyIvForStream). It is never used twice with one local key:
 *
 *   column id (3 bytes) | stream kind (2) | stripe id (3) | number of the cipher block in the stream (8)
 */
const LARGEST = 0xffffff;
const BLOCK_BYTES = 16;

/** What a stream was encrypted with. */
export interface StreamCipher {
  readonly key: Uint8Array;
  readonly column: number;
  readonly kind: number;
  /** Of the stripe in the file in which it was encrypted, from 1. */
  readonly stripeId: number;
}

/** Whether the ids fit into an IV. */
export function fitsIv({ column, stripeId }: StreamCipher): boolean {
  return column <= LARGEST && stripeId >= 1 && stripeId <= LARGEST;
}

/** Bytes of a stream that begin `at` bytes behind its start. */
export function decryptStream(cipher: StreamCipher, bytes: Uint8Array, at = 0): Uint8Array {
  if (bytes.length === 0) return bytes;
  const iv = new Uint8Array(BLOCK_BYTES);
  const view = new DataView(iv.buffer);
  view.setUint32(0, cipher.column * 0x100 + (cipher.kind >>> 8));
  view.setUint32(4, (cipher.kind & 0xff) * 0x1000000 + cipher.stripeId);
  view.setBigUint64(8, BigInt(Math.floor(at / BLOCK_BYTES)));
  const skipped = at % BLOCK_BYTES;
  if (skipped === 0) return decryptCounter(bytes, cipher.key, iv);
  // The range begins inside a block: the cipher has to go through what is before.
  const whole = new Uint8Array(skipped + bytes.length);
  whole.set(bytes, skipped);
  return decryptCounter(whole, cipher.key, iv).subarray(skipped);
}
