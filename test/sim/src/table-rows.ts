import { getAcidState, planSplits, scanSplit } from '@skep/acid';
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { parseType, type StructVector, vectorOf, vectorValue } from '@skep/orc';
import type { Table } from '@skep/rpc';
import type { FileSystem } from '@skep/storage';
import type { StatementTransaction } from '../../../packages/sql/src/session/transaction/statement-transaction.js';

export const ROW_SCHEMA = parseType('struct<a:int,b:string>');
const PLACED_SCHEMA = parseType('struct<a:int,b:string,p:string>');

/** A row's number, what else it says, and its ROW__ID; insert-only tables have none. */
export interface FoundRow {
  readonly row: number;
  readonly text: unknown;
  readonly id: readonly [writeId: bigint, bucket: number, rowId: bigint] | undefined;
}

export const isInsertOnly = (table: Table): boolean => table.parameters.transactional_properties === 'insert_only';

export interface Lists {
  readonly validTxns: string;
  readonly validWriteIds: string;
}

/** The rows of a folder by some lists, in the order of the files. */
export async function readRows(
  fs: FileSystem,
  location: string,
  lists: Lists,
  table: Table,
  own?: ReturnType<StatementTransaction['ownWritesIn']>,
): Promise<FoundRow[]> {
  const insertOnly = isInsertOnly(table);
  const writeIds = ValidWriteIdList.parse(lists.validWriteIds);
  const state = await getAcidState(fs, location, writeIds, ValidTxnList.parse(lists.validTxns), { insertOnly, own });
  const found: FoundRow[] = [];
  for (const split of await planSplits(fs, state, { insertOnly })) {
    for await (const batch of scanSplit(fs, split, { schema: ROW_SCHEMA, writeIds, rowIds: !insertOnly })) {
      const { rowIds, root } = batch;
      for (let at = 0; at < batch.length; at++) {
        found.push({
          row: Number(vectorValue(root.children[0], at)),
          text: vectorValue(root.children[1], at),
          id: rowIds && [rowIds.writeId.values[at], rowIds.bucket.values[at], rowIds.rowId.values[at]],
        });
      }
    }
  }
  return found;
}

/** What a row says beside its number: nothing, little or much. */
const textOf = (row: number): string | null => (row % 5 === 0 ? null : `row ${row}${'.'.repeat((row % 7) * 20)}`);

/** What is wrong with rows by themselves: a damaged one, a ROW__ID that two have. */
export function faultsOf(rows: readonly FoundRow[]): string[] {
  const faults: string[] = [];
  const ids = new Set<string>();
  for (const { row, text, id } of rows) {
    if (text !== textOf(row)) faults.push(`row ${row} says '${String(text)}' instead of '${textOf(row)}'`);
    if (id === undefined) continue;
    if (ids.has(id.join())) faults.push(`row ${row} has the ROW__ID ${id.join()} of another`);
    ids.add(id.join());
  }
  return faults;
}

export const rowsToWrite = (rows: readonly number[]): StructVector =>
  vectorOf(
    ROW_SCHEMA,
    rows.map((row) => ({ a: row, b: textOf(row) })),
  ) as StructVector;

/** Rows with the value of their partition column. */
export const rowsToPlace = (rows: readonly (readonly [row: number, value: string])[]): StructVector =>
  vectorOf(
    PLACED_SCHEMA,
    rows.map(([row, p]) => ({ a: row, b: textOf(row), p })),
  ) as StructVector;

export function idsToDelete(rows: readonly FoundRow[]) {
  const ids = rows.map((row) => row.id ?? ([0n, 0, 0n] as const));
  const { length } = ids;
  return {
    writeId: { kind: 'long', length, values: BigInt64Array.from(ids, (id) => id[0]) },
    bucket: { kind: 'int', length, values: Int32Array.from(ids, (id) => id[1]) },
    rowId: { kind: 'long', length, values: BigInt64Array.from(ids, (id) => id[2]) },
  } as const;
}
