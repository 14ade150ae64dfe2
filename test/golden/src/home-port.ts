import type { ColumnVector, StructVector } from '@skep/orc';
import type { Session, StatementResult } from '@skep/sql';
import { formatValue, type HiveType, parseTypeName } from '@skep/sql';
import { openHome } from '../../../apps/cli/src/home.js';

export type Home = Awaited<ReturnType<typeof openHome>>;
export { openHome, type Session, type StatementResult };

/** The oracle's settings that a statement can notice (HiveOracle.configure). */
export const ORACLE_SETTINGS: Readonly<Record<string, string>> = {
  'hive.support.concurrency': 'true',
  'hive.txn.manager': 'org.apache.hadoop.hive.ql.lockmgr.DbTxnManager',
  'hive.exec.dynamic.partition.mode': 'nonstrict',
  'hive.lock.numretries': '2',
  'hive.lock.sleep.between.retries': '1s',
  'hive.compactor.delta.num.threshold': '3',
  'hive.stats.column.autogather': 'false',
};

/** Hive's text of one value. */
export const valueText = (vector: ColumnVector, row: number, type: HiveType): string => formatValue(type, vector, row);

/** Hive's text of each row of a batch. */
function rowTexts(batch: StructVector, types: readonly HiveType[]): string[] {
  return Array.from({ length: batch.length }, (_, row) =>
    types.map((type, column) => valueText(batch.children[column], row, type)).join('\t'),
  );
}

/** All rows of a statement as Hive prints them. */
export async function allRows(result: StatementResult): Promise<string[]> {
  const rows: string[] = [];
  if (result.batches === undefined) return rows;
  const types = (result.columns ?? []).map((column) => parseTypeName(column.type));
  for await (const batch of result.batches) rows.push(...rowTexts(batch, types));
  return rows;
}
