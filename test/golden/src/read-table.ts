import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { getAcidState, planSplits, scanSplit } from '@skep/acid';
import { DEFAULT_PARTITION_NAME, parsePartitionPathElement, ValidTxnList, ValidWriteIdList } from '@skep/core';
import type { ColumnVector } from '@skep/orc';
import { type HiveType, parseTypeName, structOf, toTypeDescription } from '@skep/sql';
import { localFileSystem } from '@skep/storage';
import { GoldenError } from './golden-error.js';
import { allRows, ORACLE_SETTINGS, openHome, valueText } from './home-port.js';

const fs = localFileSystem({ durable: false });

/** A table of files: what its catalog entry would say. */
export interface FolderTable {
  readonly dir: string;
  /** `name:type`. */
  readonly columns: readonly string[];
  readonly partitionColumns: readonly string[];
  readonly inputFormat?: string;
  readonly transactional: boolean;
  readonly insertOnly: boolean;
  /** Absent: all committed. */
  readonly validWriteIds?: string;
  /** The text of a text column's default partition; Hive prints its name. */
  readonly defaultPartition?: string;
  /** Another text than Hive's for some values. */
  readonly cellText?: (vector: ColumnVector, row: number) => string | undefined;
}

interface Partition {
  readonly dir: string;
  readonly values: readonly (string | null)[];
}

const typeOf = (column: string): HiveType => parseTypeName(column.slice(column.indexOf(':') + 1));
const nameOf = (column: string): string => column.slice(0, column.indexOf(':'));

/** The folders that hold rows: the table's own, or one a partition. */
function partitionsOf(dir: string, columns: readonly string[]): Partition[] {
  if (!existsSync(dir)) return [];
  if (columns.length === 0) return [{ dir, values: [] }];
  const out: Partition[] = [];
  for (const name of readdirSync(dir).sort()) {
    const value = parsePartitionPathElement(name);
    if (value === undefined || value.column !== nameOf(columns[0]) || !statSync(join(dir, name)).isDirectory())
      continue;
    for (const below of partitionsOf(join(dir, name), columns.slice(1))) {
      out.push({ dir: below.dir, values: [value.value, ...below.values] });
    }
  }
  return out;
}

/** Hive's text of every visible row, ROW__ID first for full ACID tables (Hive's own `select ROW__ID, *`). */
export async function readTable(table: FolderTable): Promise<string[]> {
  const format = table.inputFormat ?? 'org.apache.hadoop.hive.ql.io.orc.OrcInputFormat';
  const rows: string[] = [];
  for (const partition of partitionsOf(table.dir, table.partitionColumns)) {
    const tail = partition.values.map((value, i) => {
      const isText = /:(string|varchar|char)\b/.test(table.partitionColumns[i]);
      return value ?? (isText ? (table.defaultPartition ?? DEFAULT_PARTITION_NAME) : 'NULL');
    });
    const read = /OrcInputFormat$/.test(format)
      ? readOrc(table, partition.dir)
      : readOther(table, partition.dir, format);
    for (const row of await read) rows.push([row, ...tail].join('\t'));
  }
  return rows;
}

const writeIdsOf = (table: FolderTable): ValidWriteIdList =>
  table.validWriteIds === undefined
    ? ValidWriteIdList.of({ tableName: null, highWatermark: 9223372036854775807n })
    : ValidWriteIdList.parse(table.validWriteIds);

async function readOrc(table: FolderTable, dir: string): Promise<string[]> {
  const types = table.columns.map(typeOf);
  const schema = toTypeDescription(
    structOf(table.columns.map((column, i) => ({ name: nameOf(column), type: types[i] }))),
  );
  const writeIds = writeIdsOf(table);
  const rowIds = table.transactional && !table.insertOnly;
  const options = { insertOnly: table.insertOnly };
  const state = await getAcidState(fs, dir, writeIds, ValidTxnList.parse(''), options);
  const rows: string[] = [];
  for (const split of await planSplits(fs, state, options)) {
    for await (const batch of scanSplit(fs, split, { schema, writeIds, rowIds })) {
      for (let row = 0; row < batch.length; row++) {
        const cells = types.map((type, column) => {
          const vector = batch.root.children[column];
          return table.cellText?.(vector, row) ?? valueText(vector, row, type);
        });
        if (rowIds) {
          const ids = batch.rowIds;
          if (ids === undefined) throw new GoldenError(`${dir}: rows without ROW__IDs`);
          const [w, b, r] = [ids.writeId.values[row], ids.bucket.values[row], ids.rowId.values[row]];
          cells.unshift(`{"writeid":${w},"bucketid":${b},"rowid":${r}}`);
        }
        rows.push(cells.join('\t'));
      }
    }
  }
  return rows;
}

/** Text and Parquet of insert-only tables: the ACID layer chooses the folders, SQL reads each as an external table. */
async function readOther(table: FolderTable, dir: string, format: string): Promise<string[]> {
  const state = await getAcidState(fs, dir, writeIdsOf(table), ValidTxnList.parse(''), { insertOnly: true });
  const folders = [...(state.base ? [state.base] : []), ...state.deltas].map((folder) => folder.path);
  if (state.originals.length > 0) folders.unshift(dir);
  const stored = /Parquet/.test(format) ? 'parquet' : 'textfile';
  const columns = table.columns.map((column) => `\`${nameOf(column)}\` ${column.slice(column.indexOf(':') + 1)}`);
  return await withScratchHome(async (execute) => {
    const rows: string[] = [];
    for (const [i, folder] of folders.entries()) {
      await execute(`create external table f${i} (${columns.join(', ')}) stored as ${stored} location '${folder}'`);
      rows.push(...(await execute(`select * from f${i}`)));
    }
    return rows;
  });
}

async function withScratchHome<T>(use: (execute: (sql: string) => Promise<string[]>) => Promise<T>): Promise<T> {
  const { mkdtempSync, rmSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const path = mkdtempSync(join(tmpdir(), 'skep-golden-read-'));
  const home = await openHome({ path, hiveconf: { ...ORACLE_SETTINGS }, backgroundCompaction: false });
  try {
    const session = await home.newSession();
    return await use(async (sql) => await allRows(await session.execute(sql)));
  } finally {
    await home.close();
    rmSync(path, { recursive: true, force: true });
  }
}
