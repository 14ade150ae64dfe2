/*
 * Bloom filters of row groups (spec: "Bloom Filter Index"; Java: org.apache.orc.util.BloomFilter). A value is hashed to 64 bits:
 * text and bytes by Murmur3 (the first half of its 128-bit form, seed 104729), numbers by Thomas Wang's integer hash. Of the two
 * 32-bit halves h1 and h2, bit |h1 + i × h2| mod bits is set for each i from 1 to the number of hash functions, where | | is
 * the complement of negative numbers. All 64-bit arithmetic is on int32 halves: BigInt would cost twenty times as much.
 */
const SEED = 104729;
const LN2 = Math.log(2);

/** A filter's bits and how many are set for a value. */
export class BloomFilter {
  /** Bits as little endian 64-bit words: what utf8bitset holds. */
  readonly bytes: Uint8Array;
  private readonly bits: number;

  constructor(
    bytes: Uint8Array,
    readonly hashFunctions: number,
  ) {
    this.bytes = bytes;
    this.bits = bytes.length * 8;
  }

  /** An empty filter for so many distinct values at this rate of false positives. */
  static forEntries(entries: number, falsePositiveRate: number): BloomFilter {
    const wanted = Math.trunc((-entries * Math.log(falsePositiveRate)) / (LN2 * LN2));
    const functions = Math.max(1, Math.round((wanted / entries) * LN2));
    return new BloomFilter(new Uint8Array((wanted + 64 - (wanted % 64)) / 8), functions);
  }

  addBytes(bytes: Uint8Array, start: number, end: number): void {
    murmur3(bytes, start, end);
    this.set();
  }

  /** A 64-bit integer in two halves. */
  addLong(lo: number, hi: number): void {
    hashLong(lo, hi);
    this.set();
  }

  /** The bits of a double, as Java's Double.doubleToLongBits. */
  addDouble(value: number): void {
    splitDouble(value);
    this.addLong(doubleHalves[0], doubleHalves[1]);
  }

  mightContainBytes(bytes: Uint8Array, start = 0, end = bytes.length): boolean {
    murmur3(bytes, start, end);
    return this.test();
  }

  mightContainLong(value: bigint): boolean {
    hashLong(Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n)));
    return this.test();
  }

  mightContainDouble(value: number): boolean {
    splitDouble(value);
    hashLong(doubleHalves[0], doubleHalves[1]);
    return this.test();
  }

  clear(): void {
    this.bytes.fill(0);
  }

  private set(): void {
    for (let i = 1; i <= this.hashFunctions; i++) {
      const position = this.position(i);
      this.bytes[position >>> 3] |= 1 << (position & 7);
    }
  }

  private test(): boolean {
    for (let i = 1; i <= this.hashFunctions; i++) {
      const position = this.position(i);
      if ((this.bytes[position >>> 3] & (1 << (position & 7))) === 0) return false;
    }
    return true;
  }

  private position(i: number): number {
    const combined = (hashLo + Math.imul(i, hashHi)) | 0;
    return (combined < 0 ? ~combined : combined) % this.bits;
  }
}

const doubleValue = new Float64Array(1);
const doubleHalves = new Int32Array(doubleValue.buffer);

function splitDouble(value: number): void {
  doubleValue[0] = Number.isNaN(value) ? Number.NaN : value;
  if (Number.isNaN(value)) {
    doubleHalves[0] = 0;
    doubleHalves[1] = 0x7ff80000;
  }
}

/** The hash of the last value. */
let hashLo = 0;
let hashHi = 0;

/** Java: BloomFilter.getLongHash. */
function hashLong(keyLo: number, keyHi: number): void {
  let lo = keyLo;
  let hi = keyHi;
  // key = ~key + (key << 21)
  add(~lo, ~hi, lo << 21, (hi << 21) | (lo >>> 11));
  lo = sumLo;
  hi = sumHi;
  // key ^= key >> 24
  const a = (lo >>> 24) | (hi << 8);
  lo ^= a;
  hi ^= hi >> 24;
  // key += (key << 3) + (key << 8)
  add(lo, hi, lo << 3, (hi << 3) | (lo >>> 29));
  add(sumLo, sumHi, lo << 8, (hi << 8) | (lo >>> 24));
  lo = sumLo;
  hi = sumHi;
  // key ^= key >> 14
  const b = (lo >>> 14) | (hi << 18);
  lo ^= b;
  hi ^= hi >> 14;
  // key += (key << 2) + (key << 4)
  add(lo, hi, lo << 2, (hi << 2) | (lo >>> 30));
  add(sumLo, sumHi, lo << 4, (hi << 4) | (lo >>> 28));
  lo = sumLo;
  hi = sumHi;
  // key ^= key >> 28
  const c = (lo >>> 28) | (hi << 4);
  lo ^= c;
  hi ^= hi >> 28;
  // key += key << 31
  add(lo, hi, lo << 31, (hi << 31) | (lo >>> 1));
  hashLo = sumLo;
  hashHi = sumHi;
}

let sumLo = 0;
let sumHi = 0;

function add(aLo: number, aHi: number, bLo: number, bHi: number): void {
  const low = (aLo >>> 0) + (bLo >>> 0);
  sumLo = low | 0;
  sumHi = (aHi + bHi + (low > 0xffffffff ? 1 : 0)) | 0;
}

let productLo = 0;
let productHi = 0;

/** 64-bit product, in 16-bit limbs for the low half's carry. */
function multiply(aLo: number, aHi: number, bLo: number, bHi: number): void {
  const a0 = aLo & 0xffff;
  const a1 = aLo >>> 16;
  const b0 = bLo & 0xffff;
  const b1 = bLo >>> 16;
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  const middle2 = a0 * b1 + (middle & 0xffff);
  productLo = Math.imul(aLo, bLo);
  const carry = a1 * b1 + Math.floor(middle / 0x10000) + Math.floor(middle2 / 0x10000);
  productHi = (carry + Math.imul(aLo, bHi) + Math.imul(aHi, bLo)) | 0;
}

/** C1 0x87c37b91114253d5, C2 0x4cf5ad432745937f. */
const C1_LO = 0x114253d5;
const C1_HI = 0x87c37b91 | 0;
const C2_LO = 0x2745937f;
const C2_HI = 0x4cf5ad43;

/** Java: Murmur3.hash64, which mixes 8 bytes at a time. */
function murmur3(bytes: Uint8Array, start: number, end: number): void {
  let lo = SEED;
  let hi = 0;
  let at = start;
  for (; at + 8 <= end; at += 8) {
    const kLo = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    const kHi = bytes[at + 4] | (bytes[at + 5] << 8) | (bytes[at + 6] << 16) | (bytes[at + 7] << 24);
    mixKey(kLo, kHi);
    lo ^= productLo;
    hi ^= productHi;
    // hash = rotl(hash, 27) * 5 + 0x52dce729
    const rotatedLo = (lo << 27) | (hi >>> 5);
    const rotatedHi = (hi << 27) | (lo >>> 5);
    multiply(rotatedLo, rotatedHi, 5, 0);
    add(productLo, productHi, 0x52dce729, 0);
    lo = sumLo;
    hi = sumHi;
  }
  if (at < end) {
    let kLo = 0;
    let kHi = 0;
    for (let i = 0; at + i < end; i++) {
      if (i < 4) kLo |= bytes[at + i] << (8 * i);
      else kHi |= bytes[at + i] << (8 * (i - 4));
    }
    mixKey(kLo, kHi);
    lo ^= productLo;
    hi ^= productHi;
  }
  lo ^= end - start;
  finalMix(lo, hi);
}

/** k = rotl(k * C1, 31) * C2. */
function mixKey(lo: number, hi: number): void {
  multiply(lo, hi, C1_LO, C1_HI);
  const rotatedLo = (productLo << 31) | (productHi >>> 1);
  const rotatedHi = (productHi << 31) | (productLo >>> 1);
  multiply(rotatedLo, rotatedHi, C2_LO, C2_HI);
}

/** Murmur3's fmix64. */
function finalMix(startLo: number, startHi: number): void {
  let lo = startLo ^ (startHi >>> 1);
  let hi = startHi;
  multiply(lo, hi, 0xed558ccd | 0, 0xff51afd7 | 0);
  lo = productLo ^ (productHi >>> 1);
  hi = productHi;
  multiply(lo, hi, 0x1a85ec53, 0xc4ceb9fe | 0);
  hashLo = productLo ^ (productHi >>> 1);
  hashHi = productHi;
}

/** The bits of an old filter (stream BLOOM_FILTER), whose 64-bit words come as integers. */
export function bitsetBytes(words: readonly bigint[]): Uint8Array {
  return new Uint8Array(BigUint64Array.from(words, (word) => BigInt.asUintN(64, word)).buffer);
}
