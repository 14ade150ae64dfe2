import type { Tx } from '@skep/metadb';
import { type ShowTxnsResponse, type TxnInfo, TxnState, TxnType } from '@skep/rpc';
import type { TxnConf } from './conf.js';
import { ABORTED, highestTxnId, OPEN } from './context.js';
import { selectForgotten } from './forgotten.js';
import { selectOpenTxns } from './open-txn-list.js';
import { toTxnState } from './txn-state.js';

interface RawTxnInfo {
  TXN_ID: bigint;
  TXN_STATE: string;
  TXN_STARTED: bigint;
  TXN_LAST_HEARTBEAT: bigint;
  TXN_USER: string;
  TXN_HOST: string;
  TXN_AGENT_INFO: string | null;
  TXN_META_INFO: string | null;
  TXN_TYPE: bigint | null;
}

/** SHOW TRANSACTIONS: open and aborted ones by id, ids that are just being opened included. */
export async function showTxns(tx: Tx, conf: TxnConf, only?: bigint): Promise<ShowTxnsResponse> {
  if (only !== undefined) return await showOne(tx, only);
  const rows = await tx.all<RawTxnInfo>(
    `SELECT * FROM TXNS WHERE TXN_STATE IN ('${OPEN}', '${ABORTED}') ORDER BY TXN_ID`,
  );
  const txns = rows.map(toInfo);
  const list = await selectOpenTxns(tx, conf);
  const known = new Set(txns.map((txn) => txn.txnId));
  for (const txnId of list.open) if (!known.has(txnId)) txns.push(missing(txnId));
  txns.sort((a, b) => (a.txnId < b.txnId ? -1 : 1));
  return { highWatermark: list.highWatermark, txns };
}

async function showOne(tx: Tx, txnId: bigint): Promise<ShowTxnsResponse> {
  const highWatermark = await highestTxnId(tx);
  const known = await infoOf(tx, txnId);
  if (known !== undefined) return { highWatermark, txns: known.state === TxnState.TXN_STATE_COMMITTED ? [] : [known] };
  return { highWatermark, txns: (await selectForgotten<RawTxnInfo>(tx, [txnId])).map(toInfo) };
}

/** One transaction, as SHOW TRANSACTIONS shows it. */
export async function infoOf(tx: Tx, txnId: bigint): Promise<TxnInfo | undefined> {
  const row = await tx.get<RawTxnInfo>('SELECT * FROM TXNS WHERE TXN_ID = ?', [txnId]);
  return row === undefined ? undefined : toInfo(row);
}

function toInfo(row: RawTxnInfo): TxnInfo {
  return {
    txnId: row.TXN_ID,
    state: toTxnState(row.TXN_STATE),
    startedMs: row.TXN_STARTED,
    lastHeartbeatMs: row.TXN_LAST_HEARTBEAT,
    user: row.TXN_USER,
    host: row.TXN_HOST,
    agentInfo: row.TXN_AGENT_INFO ?? '',
    metaInfo: row.TXN_META_INFO ?? '',
    type: Number(row.TXN_TYPE ?? 0n) as TxnType,
  };
}

function missing(txnId: bigint): TxnInfo {
  return {
    txnId,
    state: TxnState.TXN_STATE_OPEN,
    startedMs: 0n,
    lastHeartbeatMs: 0n,
    user: '',
    host: '',
    agentInfo: '',
    metaInfo: '',
    type: TxnType.TXN_TYPE_UNSPECIFIED,
  };
}
