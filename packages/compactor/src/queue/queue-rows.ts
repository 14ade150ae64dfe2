import type { SqlValue, Tx } from '@skep/metadb';
import { type Compaction, CompactionType, type CompactRequest, InvalidRequestError } from '@skep/rpc';
import { type CompactionRow, compactionOf, queueColumns } from './compaction-row.js';

/** By hand or by the Initiator only these can be asked for. */
const ASKABLE: readonly CompactionType[] = [
  CompactionType.COMPACTION_TYPE_MINOR,
  CompactionType.COMPACTION_TYPE_MAJOR,
  CompactionType.COMPACTION_TYPE_REBALANCE,
];

/** Refuses what nobody can ask for. */
export function validateRequest({ database, table, type, numberOfBuckets }: CompactRequest): void {
  if (database === '' || table === '') throw new InvalidRequestError('a compaction needs a database and a table');
  if (!ASKABLE.includes(type)) throw new InvalidRequestError('a compaction is of type MINOR, MAJOR or REBALANCE');
  if (numberOfBuckets !== undefined && numberOfBuckets < 1) {
    throw new InvalidRequestError(`a rebalance into ${numberOfBuckets} buckets: at least 1 is needed`);
  }
}

/** The next id; until the end of the transaction nobody else gets one. */
export async function selectNextId(tx: Tx): Promise<bigint> {
  const row = await tx.get<{ NCQ_NEXT: bigint }>(
    `SELECT NCQ_NEXT FROM NEXT_COMPACTION_QUEUE_ID ${tx.dialect.forUpdate}`,
  );
  return row?.NCQ_NEXT ?? 1n;
}

export async function nextId(tx: Tx): Promise<bigint> {
  const id = await selectNextId(tx);
  await tx.run('UPDATE NEXT_COMPACTION_QUEUE_ID SET NCQ_NEXT = ?', [id + 1n]);
  return id;
}

export async function insertRow(
  tx: Tx,
  table: string,
  row: { columns: readonly string[]; values: readonly SqlValue[] },
): Promise<void> {
  await tx.run(
    `INSERT INTO ${table} (${row.columns.join(', ')}) VALUES (${row.columns.map(() => '?').join(', ')})`,
    row.values,
  );
}

export async function findRequest(tx: Tx, id: bigint): Promise<Compaction | undefined> {
  const sql = `SELECT ${queueColumns} FROM COMPACTION_QUEUE WHERE CQ_ID = ?${tx.dialect.forUpdate}`;
  const row = await tx.get<CompactionRow>(sql, [id]);
  return row === undefined ? undefined : compactionOf(row);
}
