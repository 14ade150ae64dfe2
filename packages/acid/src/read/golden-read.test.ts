import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type PartitionValue, parsePartitionPathElement, ValidTxnList, ValidWriteIdList } from '@skep/core';
import type { TypeDescription } from '@skep/orc';
import { localFileSystem } from '@skep/storage';
import { describe, expect, it } from 'vitest';
import { getAcidState } from '../state/get-acid-state.js';
import { goldenRoot, hiveSnapshots, schemaOf } from '../testing/golden.js';
import { hiveText } from '../testing/hive-text.js';
import { planSplits } from './plan-splits.js';
import { scanSplit, scanSplitSync } from './scan-split.js';
import type { AcidBatch, AcidSplit, ScanOptions } from './scan-types.js';

const fs = localFileSystem();

interface TableReading {
  readonly dir: string;
  readonly columns: readonly string[];
  readonly partitionColumns: readonly string[];
  readonly insertOnly: boolean;
  readonly writeIds: ValidWriteIdList;
}

function partitionsOf(dir: string, depth: number): { dir: string; values: PartitionValue[] }[] {
  if (depth === 0) return [{ dir, values: [] }];
  // A folder that was recorded empty is not in a clone; that it has no rows is compared as always.
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => statSync(join(dir, name)).isDirectory())
    .flatMap((name) => {
      const value = parsePartitionPathElement(name);
      if (value === undefined) return [];
      return partitionsOf(join(dir, name), depth - 1).map((rest) => ({
        dir: rest.dir,
        values: [value, ...rest.values],
      }));
    });
}

async function batchesOf(split: AcidSplit, options: ScanOptions, sync: boolean): Promise<AcidBatch[]> {
  if (sync) return [...scanSplitSync(fs, split, options)];
  const batches: AcidBatch[] = [];
  for await (const batch of scanSplit(fs, split, options)) batches.push(batch);
  return batches;
}

function rowText(
  batch: AcidBatch,
  row: number,
  schema: TypeDescription,
  partition: readonly PartitionValue[],
  withId: boolean,
): string {
  const ids = batch.rowIds;
  const id =
    withId && ids !== undefined
      ? [`{"writeid":${ids.writeId.values[row]},"bucketid":${ids.bucket.values[row]},"rowid":${ids.rowId.values[row]}}`]
      : [];
  const values = batch.root.children.map((column, i) => hiveText(column, row, schema.children[i]));
  return [...id, ...values, ...partition.map(({ value }) => value ?? '__HIVE_DEFAULT_PARTITION__')].join('\t');
}

async function readRows(table: TableReading, sync: boolean, batchSize?: number): Promise<string[]> {
  const rows: string[] = [];
  for (const { dir, values } of partitionsOf(table.dir, table.partitionColumns.length)) {
    const { insertOnly, writeIds } = table;
    const state = await getAcidState(fs, dir, writeIds, ValidTxnList.allValid(), { insertOnly });
    const options = { schema: schemaOf(table.columns), writeIds, rowIds: !insertOnly, batchSize };
    for (const split of await planSplits(fs, state, { insertOnly })) {
      for (const batch of await batchesOf(split, options, sync)) {
        for (let row = 0; row < batch.length; row++)
          rows.push(rowText(batch, row, options.schema, values, !insertOnly));
      }
    }
  }
  return rows.sort();
}

describe.skipIf(goldenRoot === undefined)('recorded tables read as they were', () => {
  const snapshots = hiveSnapshots();

  it('are there', () => expect(snapshots.length).toBeGreaterThan(30));

  const orc = snapshots.filter(({ table }) => table.inputFormat.endsWith('OrcInputFormat') && table.transactional);
  it.each(orc)('Hive 4.0.1: $name', async ({ dir, table }) => {
    const writeIds = ValidWriteIdList.parse(table.validWriteIds);
    const rows = await readRows({ dir, ...table, writeIds }, true);
    if (table.rows === undefined) expect(rows.length).toBe(table.rowCount);
    else expect(rows).toEqual([...table.rows].sort());
    expect(await readRows({ dir, ...table, writeIds }, false, 100)).toEqual(rows);
  });

  const legacy = goldenRoot === undefined ? undefined : join(goldenRoot, 'hive-2.3.9/update_events');
  it.each([0, 1, 2])('Hive 2.3.9, ACID version 1, reading %i', async (number) => {
    const recorded = JSON.parse(readFileSync(`${legacy}.json`, 'utf8'));
    const { validWriteIds, rows } = recorded.readings[number];
    const table = {
      dir: String(legacy),
      columns: recorded.columns,
      partitionColumns: [],
      insertOnly: false,
      writeIds: ValidWriteIdList.parse(validWriteIds),
    };
    expect(await readRows(table, true)).toEqual([...rows].sort());
    expect(await readRows(table, false, 1)).toEqual([...rows].sort());
  });

  it('Hive 2.3.9, ACID version 1, shows deleted rows as they were', async () => {
    const schema = schemaOf(['a:int', 'b:string']);
    const writeIds = ValidWriteIdList.allValid();
    const state = await getAcidState(fs, String(legacy), writeIds, ValidTxnList.allValid(), {});
    const rows: string[] = [];
    for (const split of await planSplits(fs, state)) {
      for await (const batch of scanSplit(fs, split, { schema, writeIds, rowIds: true, includeDeleted: true })) {
        for (let row = 0; row < batch.length; row++) {
          rows.push(`${batch.isDeleted?.values[row]} ${rowText(batch, row, schema, [], true)}`);
        }
      }
    }
    const deleted = [
      '1 {"writeid":1,"bucketid":0,"rowid":1}\t3\tthree',
      '1 {"writeid":4,"bucketid":0,"rowid":0}\t7\tseven',
    ];
    const visible = JSON.parse(readFileSync(`${legacy}.json`, 'utf8')).readings[0].rows.map(
      (row: string) => `0 ${row}`,
    );
    expect(rows.sort()).toEqual([...visible, ...deleted].sort());
  });

  const trino = [
    ['bucketed', 'b', []],
    ['ctas', 'ct', []],
    ['dml', 't', []],
    ['partitioned', 'p', ['ds']],
    ['types', 'ty', []],
  ] as const;
  it.each(trino)('Trino 476: %s', async (name, table, partitionColumns) => {
    const folder = join(String(goldenRoot), 'trino-476', name);
    const recorded = JSON.parse(readFileSync(`${folder}.json`, 'utf8'));
    const columns = recorded.columns
      .map((column: string) => hiveColumn(column))
      .filter((column: string) => !partitionColumns.some((partition) => column.startsWith(`${partition}:`)));
    const writeIds = ValidWriteIdList.allValid();
    const reading = { dir: join(folder, table), columns, partitionColumns, insertOnly: false, writeIds };
    const ids = (await readRows(reading, true)).map((row) => row.slice(0, row.indexOf('\t')));
    expect(ids.length).toBe(recorded.rowCount);
    const values = (await readRows(reading, false)).map((row) => row.slice(row.indexOf('\t') + 1));
    const expected = recorded.rows.map((row: (string | null)[], at: number) =>
      name === 'types' ? TRINO_TYPES[at] : row.map((value) => value ?? 'NULL').join('\t'),
    );
    expect(values.map((row) => row.replaceAll('__HIVE_DEFAULT_PARTITION__', 'NULL')).sort()).toEqual(expected.sort());
  });
});

/** The values of the statements (the recording has timestamps to microseconds and Python's text of nested values). */
const TRINO_TYPES = [
  '1\t2\t3\t4\t1.5\t2.5\t12345.6789\t1234567890123456789.0123456789\tabc\tde   \t\u0000\ufffd\t2024-02-29\t2024-02-29 12:34:56.123456789\ttrue\t[1,null,3]\t{"k":1.0}\t{"x":7,"y":"seven"}',
  '-128\t-32768\t-2147483648\t-9223372036854775808\t-0.0\t-1.0E300\t-0.0001\t-1.0000000000\té\t     \t\t1582-10-15\t1969-12-31 00:00:00.000000001\tfalse\t[]\t{"a":0.0,"b":null}\t{"x":null,"y":null}',
  ['NULL', 'NULL', '42', ...Array<string>(14).fill('NULL')].join('\t'),
];

/** Trino's type names as Hive's. */
function hiveColumn(column: string): string {
  const at = column.indexOf(':');
  const type = column
    .slice(at + 1)
    .replaceAll(', ', ',')
    .replaceAll('integer', 'int')
    .replace(/^real$/, 'float')
    .replace(/^timestamp\(9\)$/, 'timestamp')
    .replace(/^varbinary$/, 'binary')
    .replace(/varchar(?!\()/g, 'string')
    .replace(/^array\((.*)\)$/, 'array<$1>')
    .replace(/^map\((.*)\)$/, 'map<$1>')
    .replace(/^row\((.*)\)$/, (_, fields: string) => `struct<${fields.replaceAll(' ', ':')}>`);
  return `${column.slice(0, at)}:${type}`;
}
