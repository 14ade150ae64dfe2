import { getAcidState, planSplits, scanSplit } from '@skep/acid';
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { parseType, type StructVector, vectorOf, vectorValue } from '@skep/orc';
import type { Table } from '@skep/rpc';
import type { FileSystem } from '@skep/storage';
import type { StatementTransaction } from '../../../packages/sql/src/session/statement-transaction.js';

export const ROW_SCHEMA = parseType('struct<a:int,b:string>');

/** A row's number and its ROW__ID; insert-only tables have none. */
export interface FoundRow {
  readonly row: number;
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
          id: rowIds && [rowIds.writeId.values[at], rowIds.bucket.values[at], rowIds.rowId.values[at]],
        });
      }
    }
  }
  return found;
}

export const rowsToWrite = (rows: readonly number[]): StructVector =>
  vectorOf(
    ROW_SCHEMA,
    rows.map((row) => ({ a: row, b: `row ${row}` })),
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
