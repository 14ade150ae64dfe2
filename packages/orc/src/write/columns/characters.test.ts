import { describe, expect, it } from 'vitest';
import { parseType } from '../../type-text.js';
import { vectorOf } from '../../vector/builder.js';
import type { BytesVector } from '../../vector.js';
import { fitCharacters } from './characters.js';
import { Dictionary } from './dictionary.js';

function fitted(type: 'char' | 'varchar', length: number, ...texts: string[]): string[] {
  const plain = vectorOf(parseType('string'), texts) as BytesVector;
  const { bytes, offsets } = fitCharacters({ ...plain, kind: type }, 0, texts.length, length);
  return texts.map((_, i) => Buffer.from(bytes.subarray(offsets[i], offsets[i + 1])).toString());
}

describe('fitCharacters', () => {
  it('counts characters, not bytes (ORC-406)', () => {
    expect(fitted('varchar', 5, 'héllo wörld', 'x')).toEqual(['héllo', 'x']);
    expect(fitted('varchar', 2, '😀😀😀', '')).toEqual(['😀😀', '']);
    expect(fitted('char', 5, '日本', 'abcdefg', '')).toEqual(['日本   ', 'abcde', '     ']);
    expect(fitted('char', 2, 'ab', 'éé')).toEqual(['ab', 'éé']);
  });
});

describe('Dictionary', () => {
  it('gives ids by first appearance and sorts by bytes', () => {
    const dictionary = new Dictionary();
    const texts = Array.from({ length: 5000 }, (_, i) => `k${(i * 7919) % 2503}`);
    const ids = texts.map((text) => {
      const bytes = Buffer.from(`__${text}`);
      return dictionary.add(bytes, viewOf(bytes), 2, bytes.length);
    });
    const distinct = [...new Set(texts)];
    expect(dictionary.size).toBe(distinct.length);
    expect(ids).toEqual(texts.map((text) => distinct.indexOf(text)));
    const sorted = [...dictionary.sortedIds()].map((id) =>
      Buffer.from(dictionary.keyBytes().subarray(dictionary.start(id), dictionary.end(id))).toString(),
    );
    expect(sorted).toEqual([...distinct].sort());
    dictionary.clear();
    expect(add(dictionary, 'new')).toBe(0);
  });
  it('sorts keys that begin alike and zero bytes', () => {
    const dictionary = new Dictionary();
    const keys = ['prefix-b', 'prefix-a', 'prefix', '', 'a\0', 'a', 'a\0\0', 'prefix-ab', '\xff'];
    for (const key of keys) add(dictionary, key);
    const sorted = [...dictionary.sortedIds()].map((id) => keys[id]);
    expect(sorted).toEqual(
      keys
        .map((key) => Buffer.from(key))
        .sort(Buffer.compare)
        .map((bytes) => bytes.toString()),
    );
  });
});

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function add(dictionary: Dictionary, key: string): number {
  const bytes = Buffer.from(key);
  return dictionary.add(bytes, viewOf(bytes), 0, bytes.length);
}
