import type { Clock } from '@skep/core';
import type { Database, Statement, Tx } from '@skep/metadb';
import type { TxnConf } from './conf.js';

/** What every operation works with. */
export interface TxnContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly conf: TxnConf;
  /** This host's name, as TXN_HOST has it. */
  readonly host: string;
  readonly isAlive: (agentInfo: string) => boolean;
}

/** TXN_STATE. */
export const OPEN = 'o';
export const ABORTED = 'a';
export const COMMITTED = 'c';

/** What a power cut may undo: it then looks as if the process had died a moment earlier. */
export const VOLATILE = { durable: false } as const;

/**
 * The order of requests in one batch (BatcherOptions.rank): write ids, then locks, which hold a row each that all wait for; commits
 * before openings, whose lock on TXN_LOCK_TBL must not become a stronger one.
 */
export const RANKS = { allocate: 1, record: 2, commit: 4, open: 5 } as const;

/** Held while transactions are opened: none appears while a commit holds TXN_LOCK_FOR_COMMIT (TxnHandler.acquireTxnLock). */
export const txnLockForOpen = (tx: Tx) => `SELECT TXN_LOCK FROM TXN_LOCK_TBL${tx.dialect.forShare}`;
/** Held from the choice of a commit id until the commit: writers commit one at a time, each sees the others' WRITE_SET. */
export const txnLockForCommit = (tx: Tx) => `SELECT TXN_LOCK FROM TXN_LOCK_TBL${tx.dialect.forUpdate}`;

interface IdRow {
  ID: bigint | null;
}

export const HIGHEST_TXN_ID: Statement = ['SELECT MAX(TXN_ID) AS ID FROM TXNS'];

export const MIN_OPEN_TXN_ID: Statement = [`SELECT MIN(TXN_ID) AS ID FROM TXNS WHERE TXN_STATE = '${OPEN}'`];

export async function highestTxnId(tx: Tx): Promise<bigint> {
  return (await tx.get<IdRow>(...HIGHEST_TXN_ID))?.ID ?? 0n;
}

export async function minOpenTxnId(tx: Tx): Promise<bigint | undefined> {
  return (await tx.get<IdRow>(...MIN_OPEN_TXN_ID))?.ID ?? undefined;
}

/**
 * The transaction id up to which every id has surely been seen (Hive's low water mark): the highest, where ids appear in
 * order, else the highest of those old enough.
 */
export async function lowWatermark(tx: Tx, conf: TxnConf): Promise<bigint> {
  return (await tx.get<IdRow>(...lowWatermarkQuery(tx, conf, await tx.now())))?.ID ?? 0n;
}

export function lowWatermarkQuery(tx: Tx, conf: TxnConf, now: bigint): Statement {
  if (tx.dialect.idsAppearInOrder) return HIGHEST_TXN_ID;
  const before = now - BigInt(conf.openTxnTimeoutMs);
  // By the key from its end: the young ones are few, and times have no index.
  return ['SELECT TXN_ID AS ID FROM TXNS WHERE TXN_STARTED < ? ORDER BY TXN_ID DESC LIMIT 1', [before]];
}

export function minOf(...ids: readonly (bigint | undefined)[]): bigint | undefined {
  let min: bigint | undefined;
  for (const id of ids) if (id !== undefined && (min === undefined || id < min)) min = id;
  return min;
}
