import { LONG_MAX } from '@skep/core';
import {
  chunked,
  idList,
  insertStatements,
  type Row,
  type Settled,
  type SqlValue,
  type Statement,
  type Step,
  type Tx,
} from '@skep/metadb';
import type { LockRequest } from '@skep/rpc';
import { ClaimIndex } from './compatibility.js';
import { ACQUIRED, type LockRow, type RawLockRow, toLockRow, typeCode, WAITING } from './lock-row.js';
import { judge, type Verdict } from './verdict.js';
import { entanglement } from './wait-for.js';

/** Statements on HIVE_LOCKS and NEXT_LOCK_ID. Each runs inside a transaction of the caller. */

const MAX_TEXT = 128;
/** Beyond, all locks of the database are looked at. */
const MAX_TABLES = 64;

/** Holding this row makes requests enter HIVE_LOCKS in the order of their ids, and grants come one at a time. */
const sequence = (tx: Tx): Statement => [`SELECT NL_NEXT FROM NEXT_LOCK_ID${tx.dialect.forUpdate}`];

/** A request's rows, and whether they were granted. */
export interface Entry {
  readonly rows: readonly LockRow[];
  readonly verdict: Verdict;
}

/** What is to be recorded in the database transaction that enters requests. */
export interface Records {
  /** Of which requests the step tells, in this order, whether what they write is recorded. */
  readonly of: readonly LockRequest[];
  readonly step: Step<undefined>;
}

/**
 * Takes the next external ids, and judges the rows of each request by them: a later one by those before it too. One whose writes
 * cannot be recorded is not entered.
 */
export function enteringStep(tx: Tx, requests: readonly LockRequest[], now: bigint, records?: Records): Step<Entry> {
  const asked = requests.flatMap((request) => newRows(request, LONG_MAX, now));
  const before = records?.step.queries ?? [];
  return {
    lookups: records?.step.lookups ?? [],
    queries: [...before, sequence(tx), ...earlierQueries(asked)],
    async decide(answers) {
      const [next, ...earlier] = answers.own.slice(before.length);
      const recorded = await records?.step.decide({ ...answers, own: answers.own.slice(0, before.length) }, tx);
      // That does not depend on what is written last: nothing is.
      const ends = new Map(recorded?.outcomes([]).map((end, i) => [records?.of[i], end]));
      let id = (next[0]?.NL_NEXT as bigint | undefined) ?? 1n;
      const index = new ClaimIndex(toLockRows(earlier));
      const entered: LockRow[] = [];
      const outcomes: Settled<Entry>[] = [];
      for (const request of requests) {
        const end = ends.get(request);
        if (end !== undefined && 'error' in end) {
          outcomes.push(end);
          continue;
        }
        const waiting = newRows(request, id++, now);
        const found = judge(waiting, index);
        const verdict = found.blocked === undefined ? found : await disentangle(tx, waiting, found, entered);
        const rows = withVerdict(waiting, verdict, now);
        for (const row of rows) index.add(row);
        entered.push(...rows);
        outcomes.push({ value: { rows, verdict } });
      }
      const inserts = insertStatements('HIVE_LOCKS', COLUMNS, entered.map(toValues));
      return {
        removals: recorded?.removals ?? [],
        statements: [
          ...(recorded?.statements ?? []),
          ...(entered.length === 0 ? [] : [['UPDATE NEXT_LOCK_ID SET NL_NEXT = ?', [id]] as const]),
          ...inserts,
        ],
        outcomes: () => outcomes,
      };
    },
  };
}

/** The rows as they are entered. */
function withVerdict(rows: readonly LockRow[], { blocked }: Verdict, now: bigint): LockRow[] {
  if (blocked === undefined) return rows.map((row) => ({ ...row, acquired: true, acquiredAtMs: now }));
  const { request, by } = blocked;
  return rows.map((row) => (row === request ? { ...row, blockedByExtId: by.extId, blockedByIntId: by.intId } : row));
}

/** Holds the row, where that is not the whole file. */
export async function holdSequence(tx: Tx): Promise<void> {
  if (tx.dialect.forUpdate !== '') await tx.all(...sequence(tx));
}

function newRows(request: LockRequest, extId: bigint, now: bigint): LockRow[] {
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

const COLUMNS = [
  'HL_LOCK_EXT_ID',
  'HL_LOCK_INT_ID',
  'HL_TXNID',
  'HL_DB',
  'HL_TABLE',
  'HL_PARTITION',
  'HL_LOCK_STATE',
  'HL_LOCK_TYPE',
  'HL_LAST_HEARTBEAT',
  'HL_ACQUIRED_AT',
  'HL_USER',
  'HL_HOST',
  'HL_AGENT_INFO',
  'HL_BLOCKEDBY_EXT_ID',
  'HL_BLOCKEDBY_INT_ID',
];

function toValues(row: LockRow): SqlValue[] {
  return [
    row.extId,
    row.intId,
    row.txnId,
    row.database,
    row.table,
    row.partition,
    row.acquired ? ACQUIRED : WAITING,
    typeCode(row.type),
    row.lastHeartbeatMs,
    row.acquiredAtMs,
    row.user,
    row.host,
    row.agentInfo,
    row.blockedByExtId,
    row.blockedByIntId,
  ];
}

export async function rowsOf(tx: Tx, extId: bigint): Promise<LockRow[]> {
  const rows = await tx.all<RawLockRow>('SELECT * FROM HIVE_LOCKS WHERE HL_LOCK_EXT_ID = ? ORDER BY HL_LOCK_INT_ID', [
    extId,
  ]);
  return rows.map(toLockRow);
}

/** Judges a request's rows against what is in the table. */
export async function judgeRows(tx: Tx, rows: readonly LockRow[]): Promise<Verdict> {
  return verdictOn(tx, rows, await tx.allOf(earlierQueries(rows)));
}

async function verdictOn(tx: Tx, rows: readonly LockRow[], earlier: readonly Row[][]): Promise<Verdict> {
  const verdict = judge(rows, toLockRows(earlier));
  return verdict.blocked === undefined ? verdict : await disentangle(tx, rows, verdict, []);
}

function toLockRows(answers: readonly Row[][]): LockRow[] {
  return (answers.flat() as unknown as RawLockRow[]).map(toLockRow);
}

/** Of each database what was asked for earlier: on the tables of the request and on the whole, or on anything. */
function earlierQueries(rows: readonly LockRow[]): Statement[] {
  const tables = new Map<string, Set<string> | undefined>();
  for (const { database, table } of rows) {
    const known = tables.has(database) ? tables.get(database) : new Set<string>();
    tables.set(database, table === undefined ? undefined : known?.add(table));
  }
  return [...tables].map(([database, names]) => {
    const sql = 'SELECT * FROM HIVE_LOCKS WHERE HL_DB = ? AND HL_LOCK_EXT_ID < ?';
    const params = [database, rows[0].extId];
    if (names === undefined || names.size > MAX_TABLES) return [sql, params];
    const marks = [...names].map(() => '?').join(',');
    return [`${sql} AND (HL_TABLE IS NULL OR HL_TABLE IN (${marks}))`, [...params, ...names]];
  });
}

/**
 * A transaction of several statements asks for more locks while others wait for those it has. `entered`: what is about to be
 * inserted.
 */
async function disentangle(
  tx: Tx,
  rows: readonly LockRow[],
  verdict: Verdict,
  entered: readonly LockRow[],
): Promise<Verdict> {
  const { txnId } = rows[0];
  if (txnId === 0n) return verdict;
  const held = await tx.get<{ N: bigint }>(
    `SELECT COUNT(*) AS N FROM HIVE_LOCKS WHERE HL_TXNID = ? AND HL_LOCK_STATE = '${ACQUIRED}'`,
    [txnId],
  );
  const holds = (held?.N ?? 0n) > 0n || entered.some((row) => row.txnId === txnId && row.acquired);
  if (!holds) return verdict;
  const all = [...toLockRows([await tx.all('SELECT * FROM HIVE_LOCKS', [])]), ...entered];
  const { blockers, deadlock } = entanglement(txnId, verdict.blockers, all);
  return { ...judge(rows, blockers), deadlock };
}

/** False where the request has gone meanwhile. */
export async function grant(tx: Tx, extId: bigint, now: bigint): Promise<boolean> {
  const { changes } = await tx.run(
    `UPDATE HIVE_LOCKS SET HL_LOCK_STATE = '${ACQUIRED}', HL_ACQUIRED_AT = ?, HL_BLOCKEDBY_EXT_ID = NULL,
      HL_BLOCKEDBY_INT_ID = NULL WHERE HL_LOCK_EXT_ID = ?`,
    [now, extId],
  );
  return changes > 0;
}

export async function nameBlocker(tx: Tx, request: LockRow, by: LockRow): Promise<void> {
  await tx.run(
    `UPDATE HIVE_LOCKS SET HL_BLOCKEDBY_EXT_ID = ?, HL_BLOCKEDBY_INT_ID = ?
      WHERE HL_LOCK_EXT_ID = ? AND HL_LOCK_INT_ID = ?`,
    [by.extId, by.intId, request.extId, request.intId],
  );
}

export function deleteRequest(extId: bigint): Statement {
  return ['DELETE FROM HIVE_LOCKS WHERE HL_LOCK_EXT_ID = ?', [extId]];
}

/**
 * What releases the locks of transactions: also for the transaction manager of the same process and database, in the database
 * transaction that ends them.
 */
export function releaseStatements(txnIds: readonly bigint[]): Statement[] {
  return chunked(txnIds).map((chunk) => {
    const ids = idList(chunk);
    return [`DELETE FROM HIVE_LOCKS WHERE HL_TXNID IN ${ids.sql}`, ids.params];
  });
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
    // Unless a heartbeat came meanwhile.
    const { changes } = await tx.run(`DELETE FROM HIVE_LOCKS WHERE HL_LOCK_EXT_ID = ? AND ${condition}`, [
      extId,
      before,
    ]);
    if (changes > 0) removed.push(extId);
  }
  return removed;
}
