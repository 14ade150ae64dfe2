import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memorySink, memorySource, SkepError } from '@skep/core';
import { expect, test } from 'vitest';
import { inMemoryKeys, type KeyProvider, parseKeys } from '../encryption/keys.js';
import { filesBelow, sharedFolder } from '../testing/shared-folder.js';
import { parseType } from '../type-text.js';
import { vectorOf } from '../vector/builder.js';
import { OrcWriter } from '../write/orc-writer.js';
import type { ReadOptions } from './options.js';
import { openOrcSync } from './orc-reader.js';

/*
 * Damaged files give a SkepError or a result: never a hang, another error, or memory out of proportion. SKEP_FUZZ_FILES is how
 * many to try (default 400), SKEP_FUZZ_SEED the first seed (`npm run fuzz:orc` at night: scripts/fuzz-orc.mjs). A seed that once
 * failed is kept in OLD_SEEDS with the name of its file.
 */
const FILES = Number(process.env.SKEP_FUZZ_FILES ?? 400);
const FIRST_SEED = Number(process.env.SKEP_FUZZ_SEED ?? 1);
const OLD_SEEDS: readonly { readonly file: string; readonly seed: number }[] = [];
/** Of the processor: the machine may have other work. One of the files has two million rows. */
const SLOWEST_MS = 5_000;
/** Of the whole process, after all files. */
const MOST_MEMORY_KIB = 1_500_000;
/** Rows looked at: a damaged count must not keep the test busy. */
const MOST_ROWS = 3_000_000;

/** mulberry32 */
function random(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

interface Original {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly keys?: KeyProvider;
}

async function originals(): Promise<Original[]> {
  const schema = parseType(
    'struct<a:int,b:bigint,c:string,d:array<decimal(20,3)>,e:map<string,timestamp>,f:uniontype<boolean,char(5)>,g:struct<x:double,y:date>>',
  );
  const rows = Array.from({ length: 300 }, (_, i) => [
    i % 7 === 0 ? null : i * 3,
    BigInt(i) * 1_000_000_007n,
    `text ${i % 9}`,
    [{ unscaled: BigInt(i * 17), scale: 3 }, null],
    [[`k${i}`, { seconds: BigInt(i * 86_400), nanos: i }]],
    i % 2 === 0 ? { tag: 0, value: i % 3 === 0 } : { tag: 1, value: 'ab' },
    i % 5 === 0 ? null : { x: i / 7, y: i },
  ]);
  const files: Original[] = [];
  for (const compression of ['none', 'zlib', 'snappy', 'lz4', 'zstd'] as const) {
    const sink = memorySink();
    const writer = new OrcWriter(sink, schema, {
      compression,
      rowIndexStride: 50,
      bloomFilterColumns: ['a', 'c'],
      stripeSizeBytes: 4000,
    });
    await writer.write(vectorOf(schema, rows));
    await writer.close();
    files.push({ name: `ours-${compression}`, bytes: sink.bytes() });
  }
  const folders = [fileURLToPath(new URL('../../test-files', import.meta.url)), sharedFolder('golden/orc-examples')];
  for (const folder of folders) {
    if (folder === undefined || !existsSync(folder)) continue;
    for (const path of filesBelow(folder, (name) => name.endsWith('.orc'))) {
      const bytes = new Uint8Array(readFileSync(path));
      if (bytes.length === 0 || bytes.length >= 60_000) continue;
      const keyFile = path.replace(/\.orc$/, '.keys');
      const keys = existsSync(keyFile) ? { keys: inMemoryKeys(parseKeys(readFileSync(keyFile, 'utf8'), keyFile)) } : {};
      files.push({ name: basename(path), bytes, ...keys });
    }
  }
  return files;
}

/** Cuts, overwrites, removes and inserts; most damage near the end, where lengths and offsets are. */
function damage(original: Uint8Array, next: (below: number) => number): Uint8Array {
  let bytes = original.slice();
  const place = () =>
    next(2) === 0 ? next(bytes.length) : Math.max(0, bytes.length - 1 - next(Math.min(bytes.length, 600)));
  for (let times = 1 + next(4); times > 0 && bytes.length > 1; times--) {
    const at = place();
    switch (next(6)) {
      case 0:
        bytes = bytes.slice(0, Math.max(1, at));
        break;
      case 1:
        bytes = Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1 + next(9))]);
        break;
      case 2:
        bytes = Uint8Array.from([
          ...bytes.subarray(0, at),
          ...Array.from({ length: next(9) }, () => next(256)),
          ...bytes.subarray(at),
        ]);
        break;
      case 3:
        bytes[at] = [0, 0xff, 0x7f, 0x80, 1][next(5)];
        break;
      default:
        bytes[at] = next(256);
    }
  }
  return bytes;
}

function readDamaged(bytes: Uint8Array, keys: KeyProvider | undefined, next: (below: number) => number): void {
  const reader = openOrcSync(memorySource(bytes, 'damaged.orc'), keys === undefined ? {} : { keys });
  const { children, maximumId } = reader.schema;
  const column = 1 + next(Math.max(1, maximumId));
  const literal = [5, 'text 3', 7n, true][next(4)];
  const options: ReadOptions[] = [
    { masked: true },
    { masked: true, segmentBytes: 1 },
    { masked: true, include: new Set(children.length > 0 ? [children[next(children.length)].id] : []) },
    ...(maximumId > 0 ? [{ masked: true, sarg: { op: 'equals', column, literal } } as const] : []),
    { masked: true, byteRange: { start: 0, end: bytes.length / 2 }, batchSize: 100 },
  ];
  let rows = 0;
  for (const { length } of reader.batchesSync(options[next(options.length)])) {
    rows += length;
    if (rows > MOST_ROWS) return;
  }
  reader.stripeStatisticsSync();
}

/** Whether the file could be read. */
function check(seed: number, files: readonly Original[], name?: string): boolean {
  const next = random(seed);
  const picked = files[next(files.length)];
  const file = name === undefined ? picked : files.find((original) => original.name === name);
  if (file === undefined) return false;
  const bytes = damage(file.bytes, next);
  const start = process.cpuUsage();
  try {
    readDamaged(bytes, file.keys, next);
    return true;
  } catch (error) {
    if (error instanceof SkepError && error.kind !== 'bug') return false;
    throw new TypeError(`${file.name}, seed ${seed}: ${error instanceof Error ? error.stack : error}`);
  } finally {
    const took = process.cpuUsage(start).user / 1000;
    if (took > SLOWEST_MS) expect(`${file.name}, seed ${seed} took ${took} ms`).toBe('fast');
  }
}

test(`${FILES} damaged files from seed ${FIRST_SEED} on`, { timeout: 600_000 + FILES * 100 }, async () => {
  const files = await originals();
  for (const { file, seed } of OLD_SEEDS) check(seed, files, file);
  let read = 0;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + FILES; seed++) if (check(seed, files)) read++;
  // Both outcomes happen, or the damage is not worth its name.
  expect(read).toBeGreaterThan(FILES / 50);
  expect(read).toBeLessThan(FILES * 0.9);
  expect(process.resourceUsage().maxRSS).toBeLessThan(MOST_MEMORY_KIB);
});

test('every cut of a file is refused', async () => {
  const [, { bytes: zlib }] = await originals();
  for (let end = 0; end < zlib.length; end += 7) {
    expect(() => openOrcSync(memorySource(zlib.slice(0, end), join('cut', String(end))))).toThrow(SkepError);
  }
});
