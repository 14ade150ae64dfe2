import type { RunResult, SqlValue, Statement, Tx } from './database.js';
import { chunked } from './dialect.js';

/** Few sizes of large statements, so that few texts exist and each stays prepared; the last few rows go in one. */
const BATCHES = [256, 64] as const;

/** What inserts rows, many a statement. `columns` as they stand in SQL. */
export function insertStatements(
  table: string,
  columns: readonly string[],
  rows: readonly (readonly SqlValue[])[],
): Statement[] {
  const tuple = `(${columns.map(() => '?').join(',')})`;
  return inBatches(rows).map((batch) => [
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${Array(batch.length).fill(tuple).join(',')}`,
    batch.flat(),
  ]);
}

function inBatches<T>(rows: readonly T[]): T[][] {
  const batches: T[][] = [];
  let at = 0;
  for (const size of BATCHES) for (; rows.length - at >= size; at += size) batches.push(rows.slice(at, at + size));
  if (at < rows.length) batches.push(rows.slice(at));
  return batches;
}

/** Inserts rows into a table that numbers them itself, and answers the numbers in order. */
export async function insertNumbered(
  tx: Tx,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly SqlValue[])[],
): Promise<bigint[]> {
  return (await tx.runAll(insertStatements(table, columns, rows))).flatMap(idsOf);
}

/** The ids that one INSERT was given, in the order of its rows. */
export function idsOf({ changes, firstId, lastId }: RunResult): bigint[] {
  const step = changes > 1 ? (lastId - firstId) / BigInt(changes - 1) : 0n;
  return Array.from({ length: changes }, (_, i) => firstId + step * BigInt(i));
}

/** Rows of values as a query that others can join: `SELECT ? AS A, ? AS B UNION ALL SELECT ?, ?`, at most so many a query. */
export function rowQueries(columns: readonly string[], rows: readonly (readonly SqlValue[])[]): Statement[] {
  const first = `SELECT ${columns.map((column) => `? AS ${column}`).join(', ')}`;
  const other = ` UNION ALL SELECT ${columns.map(() => '?').join(',')}`;
  return chunked(rows, BATCHES[1]).map((chunk) => [first + other.repeat(chunk.length - 1), chunk.flat()]);
}
