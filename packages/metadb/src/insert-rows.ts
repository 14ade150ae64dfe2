import type { SqlValue, Statement, Tx } from './database.js';

/** Few sizes, so that few statements exist and each stays prepared. */
const BATCHES = [256, 32, 4, 1] as const;

/** What inserts rows, many a statement. `columns` as they stand in SQL. */
export function insertStatements(
  table: string,
  columns: readonly string[],
  rows: readonly (readonly SqlValue[])[],
): Statement[] {
  const statements: Statement[] = [];
  const tuple = `(${columns.map(() => '?').join(',')})`;
  let at = 0;
  for (const batch of BATCHES) {
    for (; rows.length - at >= batch; at += batch) {
      const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${Array(batch).fill(tuple).join(',')}`;
      statements.push([sql, rows.slice(at, at + batch).flat()]);
    }
  }
  return statements;
}

/** Inserts rows into a table that numbers them itself, and answers the numbers in order. */
export async function insertNumbered(
  tx: Tx,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly SqlValue[])[],
): Promise<bigint[]> {
  const results = await tx.runAll(insertStatements(table, columns, rows));
  return results.flatMap(({ changes, firstId, lastId }) => {
    const step = changes > 1 ? (lastId - firstId) / BigInt(changes - 1) : 0n;
    return Array.from({ length: changes }, (_, i) => firstId + step * BigInt(i));
  });
}
