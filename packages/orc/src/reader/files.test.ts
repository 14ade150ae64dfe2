import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { CorruptFileError, memorySource } from '@skep/core';
import { describe, expect, test } from 'vitest';
import { inMemoryKeys, parseKeys } from '../encryption/keys.js';
import { EncryptedColumnError } from '../errors.js';
import { rowToJson } from '../row-json.js';
import { filesBelow, sharedFolder } from '../testing/shared-folder.js';
import type { ReadOptions } from './options.js';
import { type OpenOptions, type OrcReader, openOrc, openOrcSync } from './orc-reader.js';

const isOrc = (name: string) => name.endsWith('.orc');

function open(path: string, options: OpenOptions = {}): OrcReader {
  return openOrcSync(memorySource(readFileSync(path), path), options);
}

/** The keys beside a file. */
function keysOf(path: string): OpenOptions {
  const file = path.replace(/\.orc$/, '.keys');
  return existsSync(file) ? { keys: inMemoryKeys(parseKeys(readFileSync(file, 'utf8'), file)) } : {};
}

function* rowsOf(reader: OrcReader, options: ReadOptions = {}): Generator<string> {
  let next = 0;
  for (const { root, rowNumber, length } of reader.batchesSync(options)) {
    expect(rowNumber).toBe(next);
    expect(root.length).toBe(length);
    next += length;
    for (let row = 0; row < length; row++) yield rowToJson(root, row);
  }
}

/** The lines beside a file, or undefined when there are none. */
function expectedLines(path: string): string[] | undefined {
  const zipped = existsSync(`${path}.jsn.gz`);
  if (!zipped && !existsSync(`${path}.jsn`)) return undefined;
  const text = zipped ? gunzipSync(readFileSync(`${path}.jsn.gz`)).toString() : readFileSync(`${path}.jsn`, 'utf8');
  return text.trimEnd() === '' ? [] : text.trimEnd().split('\n');
}

/** Equal but for the form of numbers: 1e+10 is 10000000000. Digits of integers and decimals are kept. */
function normal(line: string): string {
  return line.replace(/(?<=[[:,] ?)-?\d+(\.\d+)?e[+-]?\d+/g, (number) => String(Number(number)));
}

function expectRows(rows: Iterable<string>, lines: readonly string[]): void {
  let at = 0;
  for (const row of rows) {
    if (row !== lines[at] && normal(row) !== normal(lines[at] ?? ''))
      expect({ row: at, is: row }).toEqual({ row: at, is: lines[at] });
    at++;
  }
  expect(at).toBe(lines.length);
}

describe('files in test-files', () => {
  for (const path of filesBelow(fileURLToPath(new URL('../../test-files', import.meta.url)), isOrc)) {
    test(basename(path), async () => {
      const lines = expectedLines(path.replace(/\.orc$/, ''));
      if (lines === undefined) throw new TypeError(`${path} has no .jsn`);
      const keys = keysOf(path);
      expectRows(rowsOf(open(path, keys)), lines);
      expectRows(rowsOf(open(path, keys), { batchSize: 1 }), lines);
      expectRows(rowsOf(open(path, keys), { segmentBytes: 1 }), lines);
      const bytes = readFileSync(path);
      const later = {
        path,
        size: bytes.length,
        slice: async (start: number, end: number) => bytes.subarray(start, end),
      };
      const rows: string[] = [];
      for await (const { root, length } of (await openOrc(later, keys)).batches()) {
        for (let row = 0; row < length; row++) rows.push(rowToJson(root, row));
      }
      expectRows(rows, lines);
      const masked = expectedLines(path.replace(/\.orc$/, '.masked'));
      if (masked !== undefined) expectRows(rowsOf(open(path), { masked: true }), masked);
    });
  }
});

const examples = sharedFolder('golden/orc-examples');

describe.skipIf(examples === undefined)("ORC's example files (skipped where ../shared is missing)", () => {
  const files = examples === undefined ? [] : filesBelow(examples, isOrc);
  const readable = files.filter((path) => !/corrupt|encrypted|zero\.orc$/.test(path));
  for (const path of readable) {
    test(basename(path), () => {
      const lines = expectedLines(join(examples ?? '', 'expected', basename(path, '.orc')));
      const reader = open(path);
      if (lines !== undefined) {
        expectRows(rowsOf(reader), lines);
        expect(reader.numberOfRows).toBe(lines.length);
      } else {
        // Compared with pyarrow by scripts/compare-pyarrow.sh; one file says 0 rows in its footer and has a stripe of 100.
        const rows = [...reader.batchesSync()].reduce((sum, { length }) => sum + length, 0);
        expect(rows).toBe(reader.stripes.reduce((sum, stripe) => sum + stripe.numberOfRows, 0));
      }
    });
  }

  test('encrypted columns are refused by name, the others read', () => {
    const path = join(examples ?? '', 'encrypted/sample1.orc');
    const reader = open(path);
    expect(() => reader.batchesSync()).toThrow(EncryptedColumnError);
    expect(() => reader.batchesSync({ include: new Set([2]) })).toThrow(/column email is encrypted with key 'pii'/);
    expect([...rowsOf(reader, { include: new Set([3]) })]).toEqual(['{"name": "Dongjoon Hyun"}']);
    expect([...rowsOf(reader, { masked: true })]).toEqual([
      expect.stringContaining('"ssn": null, "email": "841626795E7D'),
    ]);
  });

  test.each(files.filter((path) => /corrupt|zero\.orc$/.test(path)))('%s is refused', (path) => {
    const read = () => [...rowsOf(open(path))];
    expect(read).toThrow(CorruptFileError);
    expect(read).toThrow(expect.objectContaining({ path, offset: expect.any(Number) }));
  });
});

describe.skipIf(sharedFolder('golden') === undefined)('recorded files (skipped where ../shared is missing)', () => {
  test.each(['hive-4.0.1', 'hive-2.3.9', 'trino-476'])('%s: every file is read', (writer) => {
    const folder = sharedFolder('golden', writer);
    const files = folder === undefined ? [] : filesBelow(folder, (name) => /^(bucket_|delta_|0000)/.test(name));
    expect(files.length).toBeGreaterThan(0);
    for (const path of files) {
      const bytes = readFileSync(path);
      if (bytes.subarray(0, 3).toString() !== 'ORC') continue;
      const reader = open(path);
      expect([...rowsOf(reader)].length).toBe(reader.numberOfRows);
    }
  });
});
