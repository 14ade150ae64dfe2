import type { SqlValue, Tx } from '@skep/metadb';
import type { LockInfo, ShowLocksRequest } from '@skep/rpc';
import { type LockRow, type RawLockRow, toLockInfo, toLockRow } from './lock-row.js';

/** SHOW LOCKS: acquired ones first, then by type, then by ids. */
export async function selectLocks(tx: Tx, request: ShowLocksRequest): Promise<LockInfo[]> {
  const conditions: string[] = [];
  const params: SqlValue[] = [];
  const filter = (column: string, value: SqlValue) => {
    if (value === undefined) return;
    conditions.push(`${column} = ?`);
    params.push(value);
  };
  filter('HL_DB', request.database?.toLowerCase());
  filter('HL_TABLE', request.table?.toLowerCase());
  filter('HL_PARTITION', request.partition);
  filter('HL_TXNID', request.txnId);
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const rows = await tx.all<RawLockRow>(`SELECT * FROM HIVE_LOCKS${where}`, params);
  return rows.map(toLockRow).sort(inShownOrder).map(toLockInfo);
}

function inShownOrder(a: LockRow, b: LockRow): number {
  if (a.acquired !== b.acquired) return a.acquired ? -1 : 1;
  if (a.type !== b.type) return a.type - b.type;
  if (a.extId !== b.extId) return a.extId < b.extId ? -1 : 1;
  return a.intId < b.intId ? -1 : 1;
}
