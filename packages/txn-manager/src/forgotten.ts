import { chunked, createTables, idList, type Migration, type SqlValue, type Tx } from '@skep/metadb';
import { ABORTED } from './context.js';

/** What is remembered of an aborted transaction whose row of TXNS is gone. */
const TABLE = 'SKEP_ABORTED_TXNS';

/** For so long; and of so many, the newest. */
const KEPT_MS = 7n * 24n * 3_600_000n;
const MOST_KEPT = 100_000n;

/** Ours: Hive forgets at once. */
export const forgottenTxns: Migration = {
  id: 'txn-manager/002-aborted-txns',
  async up(tx) {
    const { text } = tx.dialect;
    await createTables(tx, [
      {
        name: TABLE,
        columns: `AT_TXN_ID bigint NOT NULL PRIMARY KEY, AT_STARTED bigint NOT NULL, AT_LAST_HEARTBEAT bigint NOT NULL,
          AT_USER varchar(128)${text} NOT NULL, AT_HOST varchar(128)${text} NOT NULL, AT_AGENT_INFO varchar(128)${text},
          AT_META_INFO varchar(128)${text}, AT_TYPE integer, AT_FORGOTTEN bigint NOT NULL`,
      },
    ]);
  },
};

/** A row as TXNS had it. */
const COLUMNS = `AT_TXN_ID AS TXN_ID, '${ABORTED}' AS TXN_STATE, AT_STARTED AS TXN_STARTED,
  AT_LAST_HEARTBEAT AS TXN_LAST_HEARTBEAT, AT_USER AS TXN_USER, AT_HOST AS TXN_HOST, AT_AGENT_INFO AS TXN_AGENT_INFO,
  AT_META_INFO AS TXN_META_INFO, AT_TYPE AS TXN_TYPE`;

/** Those of these ids whose rows are gone, as they were. */
export async function selectForgotten<T>(tx: Tx, txnIds: readonly bigint[]): Promise<T[]> {
  const found: T[] = [];
  for (const chunk of chunked(txnIds)) {
    const ids = idList(chunk);
    found.push(...(await tx.all<T>(`SELECT ${COLUMNS} FROM ${TABLE} WHERE AT_TXN_ID IN ${ids.sql}`, ids.params)));
  }
  return found;
}

/** Remembers those of TXNS that are about to be deleted: the aborted ones among `which`, a condition. */
export async function remember(tx: Tx, which: string, params: readonly SqlValue[], now: bigint): Promise<void> {
  await tx.run(
    `INSERT INTO ${TABLE} (AT_TXN_ID, AT_STARTED, AT_LAST_HEARTBEAT, AT_USER, AT_HOST, AT_AGENT_INFO, AT_META_INFO,
        AT_TYPE, AT_FORGOTTEN)
      SELECT TXN_ID, TXN_STARTED, TXN_LAST_HEARTBEAT, TXN_USER, TXN_HOST, TXN_AGENT_INFO, TXN_META_INFO, TXN_TYPE, ?
        FROM TXNS WHERE TXN_STATE = '${ABORTED}' AND TXN_ID NOT IN (SELECT AT_TXN_ID FROM ${TABLE}) AND ${which}`,
    [now, ...params],
  );
}

/** Of a row of TXNS: what is remembered of it is written down. */
export const IS_REMEMBERED = `TXN_ID IN (SELECT AT_TXN_ID FROM ${TABLE})`;

/** Old ones, and the oldest of too many, are remembered no more. */
export async function purgeForgotten(tx: Tx, now: bigint): Promise<void> {
  await tx.run(`DELETE FROM ${TABLE} WHERE AT_FORGOTTEN < ?`, [now - KEPT_MS]);
  const beyond = await tx.get<{ ID: bigint }>(
    `SELECT AT_TXN_ID AS ID FROM ${TABLE} ORDER BY AT_TXN_ID DESC LIMIT 1 OFFSET ?`,
    [MOST_KEPT],
  );
  if (beyond !== undefined) await tx.run(`DELETE FROM ${TABLE} WHERE AT_TXN_ID <= ?`, [beyond.ID]);
}
