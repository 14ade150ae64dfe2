import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BooleanRleDecoder, BooleanRleEncoder } from './boolean-rle.js';
import { ByteRleDecoder, ByteRleEncoder } from './byte-rle.js';
import { DecimalDecoder, writeDecimals } from './decimal.js';
import { encodeNanos } from './nanos.js';
import { OutputBuffer } from './output-buffer.js';
import { RleV1Decoder, RleV1Encoder } from './rle-v1.js';
import { RleV2Decoder } from './rle-v2/decoder.js';
import { RleV2Encoder } from './rle-v2/encoder.js';

const long = fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n });

describe('byte RLE', () => {
  function encode(values: Uint8Array): Uint8Array {
    const output = new OutputBuffer();
    const encoder = new ByteRleEncoder(output);
    encoder.writeBytes(values, 0, values.length);
    encoder.flush();
    return output.toBytes();
  }
  it('has the bytes of the specification', () => {
    expect([...encode(new Uint8Array(100))]).toEqual([0x61, 0x00]);
    expect([...encode(Uint8Array.of(0x44, 0x45))]).toEqual([0xfe, 0x44, 0x45]);
  });
  it('round trips', () => {
    const run = fc.tuple(fc.integer({ min: 0, max: 255 }), fc.oneof(fc.constant(1), fc.nat(300)));
    fc.assert(
      fc.property(fc.array(run, { maxLength: 200 }), fc.nat(50), (runs, skipped) => {
        const values = Uint8Array.from(runs.flatMap(([value, count]) => Array<number>(count).fill(value)));
        const decoder = new ByteRleDecoder(encode(values));
        const start = Math.min(skipped, values.length);
        decoder.skip(start);
        const out = new Uint8Array(values.length);
        decoder.readBytes(out, start, values.length - start);
        expect(out.subarray(start)).toEqual(values.subarray(start));
      }),
    );
  });
  it('refuses to read past the end', () => {
    const out = new Uint8Array(200);
    for (const bytes of [[], [5], [0xfe, 1], [0x61, 0]]) {
      expect(() => new ByteRleDecoder(Uint8Array.from(bytes)).readBytes(out, 0, 200)).toThrow(/ends early/);
    }
  });
});

describe('boolean RLE', () => {
  it('has the bytes of the specification', () => {
    const output = new OutputBuffer();
    const encoder = new BooleanRleEncoder(output);
    encoder.writeBooleans(Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0), 0, 8);
    encoder.flush();
    expect([...output.toBytes()]).toEqual([0xff, 0x80]);
  });
  it('round trips as bytes and as bitmap, in pieces', () => {
    const bits = fc.array(fc.tuple(fc.integer({ min: 0, max: 1 }), fc.integer({ min: 1, max: 60 })), { maxLength: 60 });
    fc.assert(
      fc.property(bits, fc.array(fc.nat(40), { minLength: 1, maxLength: 20 }), (runs, pieces) => {
        const values = Uint8Array.from(runs.flatMap(([value, count]) => Array<number>(count).fill(value)));
        const bitmap = new Uint8Array(Math.ceil(values.length / 8) + 1);
        values.forEach((value, i) => {
          if (value === 1) bitmap[i >> 3] |= 1 << (i & 7);
        });
        const output = new OutputBuffer();
        const encoder = new BooleanRleEncoder(output);
        const fromBitmap = new OutputBuffer();
        const bitmapEncoder = new BooleanRleEncoder(fromBitmap);
        const plain = new Uint8Array(values.length);
        const readBitmap = new Uint8Array(bitmap.length).fill(0x5a);
        eachPiece(values.length, pieces, (at, count) => {
          encoder.writeBooleans(values, at, count);
          bitmapEncoder.writeBitmap(bitmap, at, count);
        });
        encoder.flush();
        bitmapEncoder.flush();
        expect(fromBitmap.toBytes()).toEqual(output.toBytes());
        const decoder = new BooleanRleDecoder(output.toBytes());
        const bitmapDecoder = new BooleanRleDecoder(output.toBytes());
        const skipper = new BooleanRleDecoder(output.toBytes());
        eachPiece(values.length, pieces, (at, count) => {
          const ones = values.subarray(at, at + count).reduce((sum, bit) => sum + bit, 0);
          expect(decoder.readBooleans(plain, at, count)).toBe(ones);
          expect(bitmapDecoder.readBitmap(readBitmap, at, count)).toBe(ones);
          if (count === 0) return;
          const one = new Uint8Array(1);
          skipper.skip(count - 1);
          skipper.readBooleans(one, 0, 1);
          expect(one[0]).toBe(values[at + count - 1]);
        });
        expect(plain).toEqual(values);
        for (let i = 0; i < values.length; i++) expect((readBitmap[i >> 3] >> (i & 7)) & 1).toBe(values[i]);
        // Bits after the last stay.
        for (let i = values.length; i < readBitmap.length * 8; i++) {
          expect((readBitmap[i >> 3] >> (i & 7)) & 1).toBe((0x5a >> (i & 7)) & 1);
        }
      }),
    );
  });
});

function eachPiece(length: number, pieces: number[], visit: (at: number, count: number) => void): void {
  let at = 0;
  for (let i = 0; at < length; i++) {
    const count = Math.min(length - at, i < pieces.length ? pieces[i] : length - at);
    visit(at, count);
    at += count;
  }
}

describe('RLE v1', () => {
  function encode(values: bigint[], signed: boolean): Uint8Array {
    const output = new OutputBuffer();
    const encoder = new RleV1Encoder(output, signed);
    encoder.writeLongs(BigInt64Array.from(values), 0, values.length);
    encoder.flush();
    return output.toBytes();
  }
  it('has the bytes of the specification', () => {
    expect([...encode(Array<bigint>(100).fill(7n), false)]).toEqual([0x61, 0x00, 0x07]);
    expect([
      ...encode(
        [...Array(100).keys()].map((i) => BigInt(100 - i)),
        false,
      ),
    ]).toEqual([0x61, 0xff, 0x64]);
    expect([...encode([2n, 3n, 6n, 7n, 11n], false)]).toEqual([0xfb, 0x02, 0x03, 0x06, 0x07, 0x0b]);
  });
  it('round trips', () => {
    const run = fc
      .tuple(long, fc.integer({ min: -130, max: 130 }), fc.oneof(fc.constant(1), fc.nat(300)))
      .map(([base, step, count]) =>
        Array.from({ length: count }, (_, i) => BigInt.asIntN(64, base + BigInt(step * i))),
      );
    fc.assert(
      fc.property(fc.array(run, { maxLength: 30 }), fc.boolean(), (runs, signed) => {
        const values = runs.flat();
        const out = new BigInt64Array(values.length);
        new RleV1Decoder(encode(values, signed), 0, signed).readLongs(out, 0, values.length);
        expect([...out]).toEqual(values);
      }),
    );
  });
});

describe('decimal varints', () => {
  it('round trip 128 bits', () => {
    const limit = 1n << 127n;
    const value = fc.oneof(
      fc.bigInt({ min: -limit / 2n, max: limit / 2n - 1n }),
      long,
      fc.bigInt({ min: -300n, max: 300n }),
    );
    fc.assert(
      fc.property(fc.array(value, { maxLength: 50 }), (values) => {
        const words = BigInt64Array.from(values.flatMap((v) => [BigInt.asIntN(64, v), v >> 64n]));
        const output = new OutputBuffer();
        writeDecimals(words, 0, values.length, output);
        const out = new BigInt64Array(words.length);
        new DecimalDecoder(output.toBytes()).readDecimals(out, 0, values.length);
        expect(out).toEqual(words);
        if (values.length > 1) {
          const last = new BigInt64Array(2);
          const decoder = new DecimalDecoder(output.toBytes());
          decoder.skip(values.length - 1);
          decoder.readDecimals(last, 0, 1);
          expect(last).toEqual(words.subarray(-2));
        }
      }),
    );
  });
  it('refuses endless and truncated varints', () => {
    const out = new BigInt64Array(2);
    expect(() => new DecimalDecoder(new Uint8Array(30).fill(0xff)).readDecimals(out, 0, 1)).toThrow(/128 bits/);
    expect(() => new DecimalDecoder(Uint8Array.of(0x80)).readDecimals(out, 0, 1)).toThrow(/ends early/);
  });
});

describe('nanoseconds', () => {
  it('has the examples of the specification', () => {
    expect(encodeNanos(1000)).toBe(0x0a);
    expect(encodeNanos(100000)).toBe(0x0c);
  });
  it('round trips', () => {
    const nanos = fc.oneof(
      fc.integer({ min: 0, max: 999_999_999 }),
      fc.integer({ min: 0, max: 999 }).map((n) => n * 1e6),
    );
    fc.assert(
      fc.property(fc.array(nanos, { maxLength: 600 }), (values) => {
        const output = new OutputBuffer();
        const encoder = new RleV2Encoder(output, false);
        encoder.writeNumbers(Float64Array.from(values, encodeNanos), 0, values.length);
        encoder.flush();
        const out = new Int32Array(values.length);
        new RleV2Decoder(output.toBytes(), 0, false).readNanos(out, 0, values.length);
        expect([...out]).toEqual(values);
      }),
    );
  });
});
