import { chunked, idList, type Tx } from '@skep/metadb';
import type { LockRequest } from '@skep/rpc';
import { ACQUIRED, type LockRow, type RawLockRow, toLockRow, typeCode, WAITING } from './lock-row.js';
import { judge, type Verdict } from './verdict.js';
import { entanglement } from './wait-for.js';

/** Statements on HIVE_LOCKS and NEXT_LOCK_ID. Each runs inside a transaction of the caller. */

const MAX_TEXT = 128;

/** Takes the next external id. Holding its row makes requests enter HIVE_LOCKS in the order of their ids. */
export async function nextLockId(tx: Tx): Promise<bigint> {
  const row = await tx.get<{ NL_NEXT: bigint }>(`SELECT NL_NEXT FROM NEXT_LOCK_ID${tx.dialect.forUpdate}`);
  const id = row?.NL_NEXT ?? 1n;
  await tx.run('UPDATE NEXT_LOCK_ID SET NL_NEXT = ?', [id + 1n]);
  return id;
}

export function newRows(request: LockRequest, extId: bigint, now: bigint): LockRow[] {
  return request.components.map((component, i) => ({
    extId,
    intId: BigInt(i + 1),
    txnId: request.txnId,
    database: component.database.toLowerCase(),
    table: component.table?.toLowerCase(),
    partition: component.partition,
    type: component.type,
    acquired: false,
    // A lock of a transaction lives as long as that: its own heartbeat is not used.
    lastHeartbeatMs: request.txnId === 0n ? now : 0n,
    acquiredAtMs: undefined,
    user: request.user.slice(0, MAX_TEXT),
    host: request.host.slice(0, MAX_TEXT),
    agentInfo: request.agentInfo.slice(0, MAX_TEXT),
    blockedByExtId: undefined,
    blockedByIntId: undefined,
  }));
}

const INSERT = `INSERT INTO HIVE_LOCKS (HL_LOCK_EXT_ID, HL_LOCK_INT_ID, HL_TXNID, HL_DB, HL_TABLE, HL_PARTITION,
  HL_LOCK_STATE, HL_LOCK_TYPE, HL_LAST_HEARTBEAT, HL_ACQUIRED_AT, HL_USER, HL_HOST, HL_AGENT_INFO, HL_BLOCKEDBY_EXT_ID,
  HL_BLOCKEDBY_INT_ID) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Inserts the rows of one request with the state the verdict gives them. */
export async function insertRows(tx: Tx, rows: readonly LockRow[], verdict: Verdict, now: bigint): Promise<void> {
  const granted = verdict.blocked === undefined;
  for (const row of rows) {
    const by = verdict.blocked?.request === row ? verdict.blocked.by : undefined;
    await tx.run(INSERT, [
      row.extId,
      row.intId,
      row.txnId,
      row.database,
      row.table,
      row.partition,
      granted ? ACQUIRED : WAITING,
      typeCode(row.type),
      row.lastHeartbeatMs,
      granted ? now : null,
      row.user,
      row.host,
      row.agentInfo,
      by?.extId,
      by?.intId,
    ]);
  }
}

export async function rowsOf(tx: Tx, extId: bigint): Promise<LockRow[]> {
  const rows = await tx.all<RawLockRow>('SELECT * FROM HIVE_LOCKS WHERE HL_LOCK_EXT_ID = ? ORDER BY HL_LOCK_INT_ID', [
    extId,
  ]);
  return rows.map(toLockRow);
}

/** Judges a request's rows against what is in the table. */
export async function judgeRows(tx: Tx, rows: readonly LockRow[]): Promise<Verdict> {
  const earlier: LockRow[] = [];
  for (const database of new Set(rows.map((row) => row.database))) {
    const raw = await tx.all<RawLockRow>('SELECT * FROM HIVE_LOCKS WHERE HL_DB = ? AND HL_LOCK_EXT_ID < ?', [
      database,
      rows[0].extId,
    ]);
    for (const row of raw) earlier.push(toLockRow(row));
  }
  const verdict = judge(rows, earlier);
  return verdict.blocked === undefined ? verdict : await disentangle(tx, rows, verdict);
}

/** A transaction of several statements asks for more locks while others wait for those it has. */
async function disentangle(tx: Tx, rows: readonly LockRow[], verdict: Verdict): Promise<Verdict> {
  const { txnId } = rows[0];
  if (txnId === 0n) return verdict;
  const held = await tx.get<{ N: bigint }>(
    `SELECT COUNT(*) AS N FROM HIVE_LOCKS WHERE HL_TXNID = ? AND HL_LOCK_STATE = '${ACQUIRED}'`,
    [txnId],
  );
  if (held === undefined || held.N === 0n) return verdict;
  const all = (await tx.all<RawLockRow>('SELECT * FROM HIVE_LOCKS', [])).map(toLockRow);
  const { blockers, deadlock } = entanglement(txnId, verdict.blockers, all);
  return { ...judge(rows, blockers), deadlock };
}

export async function grant(tx: Tx, extId: bigint, now: bigint): Promise<void> {
  await tx.run(
    `UPDATE HIVE_LOCKS SET HL_LOCK_STATE = '${ACQUIRED}', HL_ACQUIRED_AT = ?, HL_BLOCKEDBY_EXT_ID = NULL,
      HL_BLOCKEDBY_INT_ID = NULL WHERE HL_LOCK_EXT_ID = ?`,
    [now, extId],
  );
}

export async function nameBlocker(tx: Tx, request: LockRow, by: LockRow): Promise<void> {
  await tx.run(
    `UPDATE HIVE_LOCKS SET HL_BLOCKEDBY_EXT_ID = ?, HL_BLOCKEDBY_INT_ID = ?
      WHERE HL_LOCK_EXT_ID = ? AND HL_LOCK_INT_ID = ?`,
    [by.extId, by.intId, request.extId, request.intId],
  );
}

export async function deleteRequest(tx: Tx, extId: bigint): Promise<void> {
  await tx.run('DELETE FROM HIVE_LOCKS WHERE HL_LOCK_EXT_ID = ?', [extId]);
}

export async function deleteOfTxns(tx: Tx, txnIds: readonly bigint[]): Promise<void> {
  for (const chunk of chunked(txnIds)) {
    const ids = idList(chunk);
    await tx.run(`DELETE FROM HIVE_LOCKS WHERE HL_TXNID IN ${ids.sql}`, ids.params);
  }
}

/** Deletes locks without a transaction whose last heartbeat is too old; among these only, where ids are given. */
export async function deleteExpired(tx: Tx, before: bigint, among?: readonly bigint[]): Promise<bigint[]> {
  const removed: bigint[] = [];
  const condition = 'HL_TXNID = 0 AND HL_LAST_HEARTBEAT < ?';
  const rows = await tx.all<{ HL_LOCK_EXT_ID: bigint }>(
    `SELECT DISTINCT HL_LOCK_EXT_ID FROM HIVE_LOCKS WHERE ${condition} ORDER BY HL_LOCK_EXT_ID`,
    [before],
  );
  for (const { HL_LOCK_EXT_ID: extId } of rows) {
    if (among !== undefined && !among.includes(extId)) continue;
    await deleteRequest(tx, extId);
    removed.push(extId);
  }
  return removed;
}
