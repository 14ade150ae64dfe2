import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { memorySource } from '@skep/core';
import { describe, expect, test } from 'vitest';
import { dumpOrc } from '../dump.js';
import { EncryptedColumnError, InvalidKeyError, InvalidReadError, WrongKeyError } from '../errors.js';
import type { ReadOptions } from '../reader/options.js';
import { type OrcReader, openOrc, openOrcSync } from '../reader/orc-reader.js';
import { rowToJson } from '../row-json.js';
import { decryptCounter, inMemoryKeys, type KeyProvider, type MasterKey, parseKeys } from './keys.js';
import { decryptStream } from './stream-cipher.js';

// The files are Java's: test/interop/orc/java/EncryptedFiles.java. That all their rows are right is tested by reader/files.test.ts.
const folder = fileURLToPath(new URL('../../test-files', import.meta.url));
const source = (name: string) => memorySource(readFileSync(`${folder}/${name}.orc`), `${name}.orc`);
const masterKeys = (name: string) => parseKeys(readFileSync(`${folder}/${name}.keys`, 'utf8'), `${name}.keys`);
const open = (name: string, keys: readonly MasterKey[] = masterKeys(name)) =>
  openOrcSync(source(name), { keys: inMemoryKeys(keys) });

function rowsOf(reader: OrcReader, options: ReadOptions = {}): string[] {
  const rows: string[] = [];
  for (const { root, length } of reader.batchesSync(options)) {
    for (let row = 0; row < length; row++) rows.push(rowToJson(root, row));
  }
  return rows;
}
const read = (reader: OrcReader, options?: ReadOptions) => () => rowsOf(reader, options);

describe('keys', () => {
  test('a column without its key is refused by name; the others are read', () => {
    const reader = open('encrypted-zlib-two-keys', masterKeys('encrypted-none'));
    expect(read(reader)).toThrow(EncryptedColumnError);
    expect(read(reader)).toThrow(
      "encrypted-zlib-two-keys.orc: column salary is encrypted with key 'top_secret' version 3 (AES_CTR_256): give the key, leave the column out, or ask for what the mask 'nullify' left",
    );
    expect(rowsOf(reader, { include: new Set([1, 3]) })[1]).toBe('{"id": 37, "ssn": "text 3 of 1"}');
    expect(rowsOf(reader, { masked: true })[1]).toBe(
      '{"id": 37, "name": "text 2 of 1", "ssn": "text 3 of 1", "email": "text 4 of 1", "salary": null, "born": "1978-01-01", "seen": "1970-01-01 00:00:00.0"}',
    );
    expect([...reader.encryptedColumns].map(([id, { key, readable }]) => [id, key.name, readable])).toEqual([
      [3, 'pii', true],
      [4, 'pii', true],
      [5, 'top_secret', false],
      [6, 'top_secret', false],
      [7, 'top_secret', false],
    ]);
  });

  test('nested: a column above an encrypted one is read without it', () => {
    const reader = open('encrypted-nested', []);
    expect(read(reader, { include: new Set([2]) })).toThrow(/column who\.card is encrypted with key 'pii' version 0/);
    expect(rowsOf(reader, { include: new Set([3]) })[1]).toBe('{"who": {"name": "text 3 of 1"}}');
    expect(read(open('encrypted-element', []), { include: new Set([7]) })).toThrow(/column visits\._elem\.spent/);
  });

  test.each(['encrypted-none', 'encrypted-zlib-two-keys', 'encrypted-zstd-256', 'encrypted-nested'])(
    '%s: hundreds of wrong keys are all found out',
    (name) => {
      const keys = masterKeys(name);
      for (let i = 0; i < 300; i++) {
        const wrong = keys.map((key) => {
          const material = key.material.slice();
          new DataView(material.buffer).setUint32(0, i * 7919 + 1);
          return { ...key, material };
        });
        const reader = open(name, wrong);
        for (const { readable } of reader.encryptedColumns.values()) expect(readable).toBe(false);
        if (i > 0) continue;
        expect(read(reader)).toThrow(WrongKeyError);
        expect(read(reader)).toThrow(/the key given as '\w+' version \d \(AES_CTR_\d+\) does not open column \w+/);
        expect(read(reader, { masked: true })).toThrow(WrongKeyError);
      }
    },
  );

  test('a key of the other version or length does not open a file, one for every version does', () => {
    const [first, second] = masterKeys('encrypted-second-version');
    expect(read(open('encrypted-second-version', [first]))).toThrow(EncryptedColumnError);
    expect(read(open('encrypted-second-version', [{ ...first, version: 1 }]))).toThrow(WrongKeyError);
    const any = { name: second.name, material: second.material };
    expect(rowsOf(open('encrypted-second-version', [any]))).toHaveLength(20);
    expect(read(open('encrypted-first-version', [any]))).toThrow(WrongKeyError);
    expect(rowsOf(open('encrypted-first-version', [any, first]))).toHaveLength(20);
  });

  test('a provider may answer later, when the file is opened so', async () => {
    const memory = inMemoryKeys(masterKeys('encrypted-merged'));
    let asked = 0;
    const keys: KeyProvider = {
      async decryptLocalKey(key, encryptedKey) {
        asked++;
        return await memory.decryptLocalKey(key, encryptedKey);
      },
    };
    const reader = await openOrc(source('encrypted-merged'), { keys });
    expect(rowsOf(reader)).toHaveLength(120);
    // One key of the file's tail and three of its stripes.
    expect(asked).toBe(4);
    expect(() => openOrcSync(source('encrypted-merged'), { keys })).toThrow(InvalidReadError);
  });

  test('texts of keys', () => {
    const hex = '000102030405060708090a0b0c0d0e0f';
    expect(parseKeys(`# keys\n\n a b@12 = ${hex}\r\nc@d=${hex}${hex}\n`, 'k')).toEqual([
      { name: 'a b', version: 12, material: Uint8Array.from({ length: 16 }, (_, i) => i) },
      { name: 'c@d', material: Uint8Array.from({ length: 32 }, (_, i) => i % 16) },
    ]);
    expect(() => parseKeys(`a=${hex}\nb=secretsecret`, 'my.keys')).toThrow(InvalidKeyError);
    expect(() => parseKeys(`a=${hex}\nb=secretsecret`, 'my.keys')).toThrow(/^my\.keys line 2: not NAME=HEX/);
    expect(() => parseKeys('a=0011', 'k')).toThrow("k line 1: key 'a' has 4 hexadecimal digits: 32 or 64 are a key");
    expect(() => inMemoryKeys([{ name: 'a', material: new Uint8Array(5) }])).toThrow(InvalidKeyError);
    // As Java's InMemoryKeystore: filled with zeros.
    expect(() => inMemoryKeys([{ name: 'a', algorithm: 'AES_CTR_256', material: new Uint8Array(5) }])).not.toThrow();
  });
});

describe('search arguments and statistics of encrypted columns', () => {
  const equals = (column: string, literal: string | bigint) => ({ sarg: { op: 'equals', column, literal } }) as const;

  test.each(['encrypted-stripes', 'encrypted-stripes-none'])('%s: stripes and row groups are left out', (name) => {
    const whole = open(name);
    const all = rowsOf(whole);
    const column = name.endsWith('none') ? 'code' : 'ssn';
    for (const row of [3, 1200, 1499, 1500, 2000]) {
      const found = rowsOf(open(name), equals('id', BigInt(row * 37)));
      expect(found).toContain(all[row]);
      expect(found.length).toBeLessThanOrEqual(1000);
      const text = JSON.parse(all[row])[column];
      if (text !== null) expect(rowsOf(open(name), equals(column, text))).toContain(all[row]);
    }
    const none = open(name);
    const opened = none.bytesRead;
    expect(rowsOf(none, equals('id', -1n))).toEqual([]);
    expect(none.bytesRead - opened).toBeLessThan(200);
    expect(whole.bytesRead - opened).toBeGreaterThan(5000);
  });

  test("Java's bloom filters of masked values are not those of the masked values", () => {
    const reader = open('encrypted-bloom', []);
    const masked = rowsOf(reader, { masked: true });
    const { ssn } = JSON.parse(masked[7]);
    expect(ssn).toMatch(/^[0-9A-F]{64}$/);
    expect(rowsOf(reader, { masked: true, ...equals('ssn', ssn) })).toContain(masked[7]);
    const all = rowsOf(open('encrypted-bloom'));
    expect(rowsOf(open('encrypted-bloom'), equals('ssn', JSON.parse(all[7]).ssn))).toContain(all[7]);
  });

  test("a mask's statistics prune nothing: the column is refused, or they are asked for", () => {
    const reader = open('encrypted-stripes', []);
    expect(read(reader, { include: new Set(), ...equals('id', 37n) })).toThrow(/column id is encrypted/);
    expect(read(reader, { include: new Set(), masked: true, ...equals('id', 37n) })()).toEqual([]);
  });

  test('statistics of file and stripes', async () => {
    const locked = open('encrypted-stripes', []);
    expect(locked.statistics[1].intStatistics?.maximum).toBeUndefined();
    const reader = open('encrypted-stripes');
    expect(reader.statistics[1].intStatistics).toMatchObject({ minimum: 0n, maximum: 3199n * 37n });
    const stripes = reader.stripeStatisticsSync();
    expect(stripes.map(([, id]) => id.intStatistics?.maximum)).toEqual([1499n * 37n, 2999n * 37n, 3199n * 37n]);
    expect(locked.stripeStatisticsSync()[0][1].intStatistics?.maximum).toBeUndefined();
    const text = await dumpOrc(source('encrypted-stripes'), { keys: inMemoryKeys(masterKeys('encrypted-stripes')) });
    expect(text).toContain("Encrypted: column 1 with key 'top_secret' version 3 (AES_CTR_256), mask nullify, readable");
    expect(text).toMatch(/Stream: column 1 section ROW_INDEX start: \d+ length \d+ encrypted/);
  });
});

test('a stream is decrypted from any byte on', () => {
  const cipher = { key: new Uint8Array(16).fill(7), column: 0x010203, kind: 0x0105, stripeId: 0x0a0b0c };
  const plain = Uint8Array.from({ length: 100 }, (_, i) => i);
  const encrypted = decryptStream(cipher, plain);
  const iv = Uint8Array.from([1, 2, 3, 1, 5, 10, 11, 12, 0, 0, 0, 0, 0, 0, 0, 0]);
  expect(encrypted).toEqual(decryptCounter(plain, cipher.key, iv));
  for (let at = 0; at < 100; at++)
    expect(decryptStream(cipher, encrypted.subarray(at), at)).toEqual(plain.subarray(at));
});
