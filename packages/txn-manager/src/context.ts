import type { Clock } from '@skep/core';
import type { Database, Tx } from '@skep/metadb';
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

export async function highestTxnId(tx: Tx): Promise<bigint> {
  const row = await tx.get<{ ID: bigint | null }>('SELECT MAX(TXN_ID) AS ID FROM TXNS');
  return row?.ID ?? 0n;
}

export async function minOpenTxnId(tx: Tx): Promise<bigint | undefined> {
  const row = await tx.get<{ ID: bigint | null }>(`SELECT MIN(TXN_ID) AS ID FROM TXNS WHERE TXN_STATE = '${OPEN}'`);
  return row?.ID ?? undefined;
}

/**
 * The transaction id up to which every id has surely been seen (Hive's low water mark): the highest, where ids appear in
 * order, else the highest of those old enough.
 */
export async function lowWatermark(tx: Tx, conf: TxnConf): Promise<bigint> {
  if (tx.dialect.idsAppearInOrder) return highestTxnId(tx);
  const before = (await tx.now()) - BigInt(conf.openTxnTimeoutMs);
  const row = await tx.get<{ ID: bigint | null }>('SELECT MAX(TXN_ID) AS ID FROM TXNS WHERE TXN_STARTED < ?', [before]);
  return row?.ID ?? 0n;
}

export function minOf(...ids: readonly (bigint | undefined)[]): bigint | undefined {
  let min: bigint | undefined;
  for (const id of ids) if (id !== undefined && (min === undefined || id < min)) min = id;
  return min;
}
