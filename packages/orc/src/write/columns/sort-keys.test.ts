import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sortKeys } from './sort-keys.js';

function sorted(keys: readonly Uint8Array[]): Uint8Array[] {
  const offsets = new Int32Array(keys.length + 1);
  for (let i = 0; i < keys.length; i++) offsets[i + 1] = offsets[i] + keys[i].length;
  return [...sortKeys(new Uint8Array(Buffer.concat(keys)), offsets, keys.length)].map((id) => keys[id]);
}

test('keys come in the order of their bytes, as Buffer.compare has it', () => {
  const byte = fc.constantFrom(0, 1, 97, 98, 255);
  const keys = fc.array(
    fc.array(byte, { maxLength: 11 }).map((bytes) => Uint8Array.from(bytes)),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(keys, (list) => {
      expect(sorted(list)).toEqual([...list].sort(Buffer.compare));
    }),
  );
});

test('long common beginnings and zeros at the end', () => {
  const keys = Array.from({ length: 100 }, (_, i) => new Uint8Array(20_000 + ((i * 37) % 100)));
  expect(sorted(keys).map(({ length }) => length)).toEqual(Array.from({ length: 100 }, (_, i) => 20_000 + i));
});
