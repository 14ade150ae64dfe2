import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ByteSink, ByteSource } from '@skep/core';
import { OrcWriter, openOrcSync } from '@skep/orc';
import { SHAPES, TWENTY } from './orc-data.js';
import { textTable } from './statistics.js';

const GB = 1e9;
/** Batches that are written over and over: making new ones would take longer than writing them. */
const BATCHES = 24;
const ROWS = 8192;

const CASES = [
  { shape: '20 bigint columns', codec: 'none' },
  { shape: '20 bigint columns', codec: 'zstd' },
  { shape: 'direct string', codec: 'snappy' },
  { shape: 'lineitem', codec: 'none' },
  { shape: 'lineitem', codec: 'zlib' },
  { shape: 'lineitem', codec: 'snappy' },
  { shape: 'lineitem', codec: 'lz4' },
  { shape: 'lineitem', codec: 'zstd' },
] as const;

/** Peak memory (resident set) of a process that writes a file of 1 GB (or of other `gigabytes`), and of others that read it: in turns of the event loop, and without. */
export async function memory(wanted: (shape: string, codec: string) => boolean, gigabytes = 1): Promise<number> {
  const work = mkdtempSync(join(tmpdir(), 'skep-bench-orc-memory-'));
  const rows: string[][] = [];
  try {
    for (const { shape, codec } of CASES.filter(({ shape, codec }) => wanted(shape, codec))) {
      const path = join(work, 'file.orc');
      const peaks = ['write', 'read', 'readSync'].map((part) =>
        peakOf([part, path, shape, codec, String(gigabytes * GB)]),
      );
      rows.push([`${shape}, ${codec}`, (statSync(path).size / GB).toFixed(2), ...peaks]);
      rmSync(path);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  process.stdout.write(`${textTable(['peak MB', 'file, GB', 'writing', 'reading', 'reading (sync)'], rows)}\n`);
  return 0;
}

function peakOf(args: readonly string[]): string {
  const program = `import(${JSON.stringify(import.meta.url)}).then((bench) => bench.memoryPart(process.argv.slice(1)))`;
  const child = spawnSync(process.execPath, ['-e', program, '--', ...args], { encoding: 'utf8' });
  return child.status === 0 ? child.stdout.trim() : `failed: ${child.stderr.slice(-200)}`;
}

/** Runs in a process of its own; prints its peak. */
export async function memoryPart([part, path, shapeName, codec, bytes]: string[]): Promise<void> {
  if (part === 'write') await writeFile(path, shapeName, codec as (typeof CASES)[number]['codec'], Number(bytes));
  else {
    const reader = openOrcSync(fileSource(path));
    let rows = 0;
    if (part === 'read') for await (const batch of reader.batches()) rows += batch.length;
    else for (const batch of reader.batchesSync()) rows += batch.length;
    if (rows !== reader.numberOfRows) process.exitCode = 1;
  }
  process.stdout.write((process.resourceUsage().maxRSS / 1024).toFixed(0));
}

async function writeFile(
  path: string,
  shapeName: string,
  codec: (typeof CASES)[number]['codec'],
  bytes: number,
): Promise<void> {
  const shape = [...SHAPES, TWENTY].find(({ name }) => name === shapeName) ?? TWENTY;
  const batches = Array.from({ length: BATCHES }, (_, i) => shape.batch(i * ROWS, ROWS));
  const writer = new OrcWriter(fileSink(path), shape.type, { compression: codec });
  for (let i = 0; writer.bytesWritten < bytes; i++) await writer.write(batches[i % BATCHES]);
  await writer.close();
}

function fileSink(path: string): ByteSink {
  const file = openSync(path, 'w');
  return {
    path,
    write(bytes) {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    },
    async close() {
      closeSync(file);
    },
    async abort() {
      closeSync(file);
    },
  };
}

function fileSource(path: string): ByteSource {
  const file = openSync(path, 'r');
  return {
    path: fileURLToPath(`file://${path}`),
    size: statSync(path).size,
    slice(start, end) {
      const bytes = new Uint8Array(end - start);
      for (let at = 0; at < bytes.length; ) {
        const read = readSync(file, bytes, at, bytes.length - at, start + at);
        if (read === 0) break;
        at += read;
      }
      return bytes;
    },
  };
}
