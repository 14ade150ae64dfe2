import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { memorySink } from '@skep/core';
import { type AppendableValue, type StructVector, vectorOf } from '@skep/orc';
import { type FileSystem, localFileSystem, memoryFileSystem, writeFile } from '@skep/storage';
import { describe, expect, it } from 'vitest';
import { formatRow } from '../../text/format-value.js';
import { parseTypeName } from '../../types/hive-type.js';
import { toTypeDescription } from '../../types/orc-type.js';
import type { FileColumn } from '../row-file.js';
import { prolepticDay } from './int96.js';
import { countParquetRows, readParquet } from './parquet-reader.js';
import { ParquetFileWriter } from './parquet-writer.js';

const recordedUrl = new URL('../recorded/', import.meta.url);
const recordedRows = JSON.parse(readFileSync(new URL('parquet.json', recordedUrl), 'utf8')) as string[];

function columnsOf(text: string): FileColumn[] {
  const struct = parseTypeName(`struct<${text}>`);
  return struct.kind === 'struct' ? [...struct.fields] : [];
}

async function rowsOf(fs: FileSystem, path: string, columns: readonly FileColumn[]): Promise<string[]> {
  const file = await fs.stat(path);
  if (file === undefined) return [];
  const batches = (await readParquet(fs, [file], columns)).get(path) ?? [];
  return batches.flatMap((batch) => {
    const root: StructVector = { kind: 'struct', length: batch.length, fieldNames: [], children: batch.columns };
    return Array.from({ length: batch.length }, (_, row) =>
      formatRow(
        columns.map((c) => c.type),
        root,
        row,
      ),
    );
  });
}

const every =
  'k:int,b:boolean,t:tinyint,sm:smallint,bg:bigint,f:float,d:double,c:decimal(10,3),c2:decimal(38,10),dt:date,ts:timestamp,s:string,v:varchar(5),h:char(5),bi:binary,a:array<int>,m:map<string,int>,st:struct<x:int,y:array<string>>,at:array<timestamp>';

describe('Parquet files that Hive 4.0.1 wrote', () => {
  const names = ['000000_0', '000000_0_copy_1', '000000_0_copy_2', '000000_0_copy_3'];

  it('gives all types, nanoseconds and days before 1582 too', async () => {
    const fs = localFileSystem();
    const rows: string[] = [];
    for (const name of names) {
      const path = new URL(`parquet/${name}`, recordedUrl).pathname;
      rows.push(...(await rowsOf(fs, path, columnsOf(every))));
    }
    expect(rows.sort()).toEqual([...recordedRows].sort());
  });

  it('reads from other file systems, by name, and counts', async () => {
    const fs = memoryFileSystem();
    await writeFile(fs, '/t/f', readFileSync(new URL('parquet/000000_0_copy_3', recordedUrl)));
    expect(await rowsOf(fs, '/t/f', columnsOf('ts:timestamp,added:map<int,string>,k:bigint'))).toEqual([
      '1500-01-01 00:00:00.5\tNULL\t4',
      '1969-12-31 23:59:59.5\tNULL\t5',
    ]);
    const file = await fs.stat('/t/f');
    expect(file && (await countParquetRows(fs, file))).toBe(2);
  });
});

it('reads many files side by side, under names that look like patterns', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'skep-parquet-test-'));
  try {
    const path = join(dir, "p=[a*]?'{}", '000000_0');
    mkdirSync(dirname(path));
    copyFileSync(new URL('parquet/000000_0_copy_3', recordedUrl), path);
    const fs = localFileSystem();
    const reads = Array.from({ length: 8 }, () => rowsOf(fs, path, columnsOf('k:int,p:string')));
    for (const rows of await Promise.all(reads)) expect(rows).toEqual(['4\tNULL', '5\tNULL']);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

async function write(columns: readonly FileColumn[], rows: readonly (readonly AppendableValue[])[]) {
  const sink = memorySink();
  const writer = new ParquetFileWriter(sink, columns, { 'parquet.compression': 'SNAPPY' });
  const type = toTypeDescription({ kind: 'struct', fields: columns });
  try {
    await writer.write(vectorOf(type, rows) as StructVector);
    await writer.close();
  } catch (cause) {
    await writer.abort();
    throw cause;
  }
  const fs = memoryFileSystem();
  await writeFile(fs, '/t/f', sink.bytes());
  return fs;
}

describe('Parquet files that skep writes', () => {
  it('reads back what it wrote', async () => {
    const columns = columnsOf(`${every},ns:struct<t:timestamp,m:map<timestamp,array<timestamp>>>`);
    const at = { seconds: 1_709_210_096n, nanos: 123_456_789 };
    const early = { seconds: -62_135_596_800n, nanos: 0 };
    const fs = await write(columns, [
      [
        1,
        true,
        -1,
        2,
        -3n,
        1.5,
        2,
        { unscaled: 1500n, scale: 3 },
        { unscaled: -123456789012345678905000000000n, scale: 10 },
        -719162,
        early,
        'é\n',
        'vv',
        'h',
        new Uint8Array([0, 255]),
        [1, null],
        new Map([['k', 1]]),
        [1, ['p', 'q']],
        [at, null],
        [at, new Map([[at, [at, null]]])],
      ],
      columns.map(() => null),
    ]);
    const nanos = '2024-02-29 12:34:56.123456789';
    expect(await rowsOf(fs, '/t/f', columns)).toEqual([
      `1\ttrue\t-1\t2\t-3\t1.5\t2.0\t1.500\t-12345678901234567890.5000000000\t0001-01-01\t0001-01-01 00:00:00\té\n\tvv\th    \t\0\ufffd\t[1,null]\t{"k":1}\t{"x":1,"y":["p","q"]}\t["${nanos}",null]\t{"t":"${nanos}","m":{"${nanos}":["${nanos}",null]}}`,
      columns.map(() => 'NULL').join('\t'),
    ]);
  });

  it('refuses a file whose timestamps no unit can hold', async () => {
    const rows = [[{ seconds: 0n, nanos: 1 }], [{ seconds: -62_135_596_800n, nanos: 0 }]];
    await expect(write(columnsOf('t:timestamp'), rows)).rejects.toThrow(/timestamps with nanoseconds/);
  });

  it('writes a file with columns when there are no rows', async () => {
    const fs = await write(columnsOf('a:int,t:timestamp'), []);
    expect(await rowsOf(fs, '/t/f', columnsOf('a:int,t:timestamp'))).toEqual([]);
  });
});

it('takes days before 1582-10-15 by their name in the Julian calendar', () => {
  expect(prolepticDay(-141427)).toBe(-141427);
  // 1582-10-04, and 0001-01-01 which is 0000-12-30 in the proleptic Gregorian calendar.
  expect(prolepticDay(-141428)).toBe(-141438);
  expect(prolepticDay(-719164)).toBe(-719162);
});
