import { chunked, idList, type Tx } from '@skep/metadb';
import { TxnType } from '@skep/rpc';
import { abortInTx } from './abort.js';
import { AbortReason } from './abort-reason.js';
import type { TxnConf } from './conf.js';
import { OPEN, type TxnContext } from './context.js';
import { removeStale } from './rebuild-locks.js';

/** What tells whether an open transaction has been left behind. */
export interface HeldTxn {
  readonly txnId: bigint;
  readonly lastHeartbeatMs: bigint;
  readonly type: TxnType;
  readonly host: string;
  readonly agentInfo: string;
}

/** No heartbeat for hive.txn.timeout (PerformTimeoutsFunction). */
export function isTimedOut(txn: HeldTxn, nowMs: bigint, conf: TxnConf): boolean {
  const timeout = txn.type === TxnType.TXN_TYPE_REPL_CREATED ? conf.replTxnTimeoutMs : conf.txnTimeoutMs;
  return txn.lastHeartbeatMs < nowMs - BigInt(timeout);
}

/** Its holder was a process of this host, which is gone. */
export function hasDeadHolder(txn: HeldTxn, host: string, isAlive: (agentInfo: string) => boolean): boolean {
  return host !== '' && txn.host === host && txn.agentInfo !== '' && !isAlive(txn.agentInfo);
}

interface RawHeld {
  TXN_ID: bigint;
  TXN_LAST_HEARTBEAT: bigint;
  TXN_TYPE: bigint | null;
  TXN_HOST: string;
  TXN_AGENT_INFO: string | null;
}

/** Open transactions with a heartbeat before `beforeMs`, if given, oldest first. */
export async function selectHeld(tx: Tx, limit: number, beforeMs?: bigint): Promise<HeldTxn[]> {
  const rows = await tx.all<RawHeld>(
    `SELECT TXN_ID, TXN_LAST_HEARTBEAT, TXN_TYPE, TXN_HOST, TXN_AGENT_INFO FROM TXNS
      WHERE TXN_STATE = '${OPEN}' AND TXN_LAST_HEARTBEAT < ? ORDER BY TXN_ID LIMIT ?`,
    [beforeMs ?? (await tx.now()) + 1n, limit],
  );
  return rows.map(toHeld);
}

/** Those of `txnIds` that are open, to be held until commit where that is wanted: no heartbeat comes in between. */
export async function selectHeldByIds(tx: Tx, txnIds: readonly bigint[], forUpdate: boolean): Promise<HeldTxn[]> {
  const answers = await tx.allOf(
    chunked(txnIds).map((chunk) => {
      const ids = idList(chunk);
      const end = forUpdate ? tx.dialect.forUpdate : '';
      return [
        `SELECT TXN_ID, TXN_LAST_HEARTBEAT, TXN_TYPE, TXN_HOST, TXN_AGENT_INFO FROM TXNS
          WHERE TXN_STATE = '${OPEN}' AND TXN_ID IN ${ids.sql}${end}`,
        ids.params,
      ] as const;
    }),
  );
  return answers.flat().map((row) => toHeld(row as unknown as RawHeld));
}

/** Looks again at what seemed left behind, and aborts what still is. */
export async function abortStillLeft(
  tx: Tx,
  suspects: readonly bigint[],
  isLeft: (txn: HeldTxn) => boolean,
): Promise<bigint[]> {
  const left = (await selectHeldByIds(tx, suspects, true)).filter(isLeft);
  const now = await tx.now();
  // Those left behind by one process at one time are aborted together.
  const byReason = new Map<string, bigint[]>();
  for (const txn of left) {
    const why = describeLeft(txn, now);
    byReason.set(why, [...(byReason.get(why) ?? []), txn.txnId]);
  }
  const aborted: bigint[] = [];
  for (const [why, ids] of byReason) aborted.push(...(await abortInTx(tx, ids, AbortReason.TIMEOUT, why)));
  return aborted.sort((a, b) => (a < b ? -1 : 1));
}

/** Since when nothing was heard of whom. */
function describeLeft({ host, agentInfo, lastHeartbeatMs }: HeldTxn, now: bigint): string {
  const holder = [agentInfo, host].filter((part) => part !== '').join(' on ');
  return `no sign of life for ${(now - lastHeartbeatMs) / 1000n} s${holder === '' ? '' : ` of ${holder}`}`;
}

function toHeld(row: RawHeld): HeldTxn {
  return {
    txnId: row.TXN_ID,
    lastHeartbeatMs: row.TXN_LAST_HEARTBEAT,
    type: Number(row.TXN_TYPE ?? 0n) as TxnType,
    host: row.TXN_HOST,
    agentInfo: row.TXN_AGENT_INFO ?? '',
  };
}

/** At most so many go in one round (Hive's TIMED_OUT_TXN_ABORT_BATCH_SIZE). */
const BATCH = 50_000;

export interface Expired {
  readonly timedOut: bigint[];
  readonly deadHolder: bigint[];
}

/** Aborts what has been left behind. */
export async function expire(tx: Tx, ctx: TxnContext, abortDeadHolders: boolean): Promise<Expired> {
  const now = await tx.now();
  await removeStale(tx, now, ctx.conf.txnTimeoutMs);
  const late = await selectHeld(tx, BATCH, now - BigInt(Math.min(ctx.conf.txnTimeoutMs, ctx.conf.replTxnTimeoutMs)));
  const isLate = (txn: HeldTxn) => isTimedOut(txn, now, ctx.conf);
  const timedOut = await abortStillLeft(tx, idsOf(late.filter(isLate)), isLate);
  if (!abortDeadHolders) return { timedOut, deadHolder: [] };
  const alive = memoized(ctx.isAlive);
  const held = await selectHeld(tx, BATCH);
  const isDead = (txn: HeldTxn) => hasDeadHolder(txn, ctx.host, alive);
  return { timedOut, deadHolder: await abortStillLeft(tx, idsOf(held.filter(isDead)), isDead) };
}

const idsOf = (txns: readonly HeldTxn[]): bigint[] => txns.map((txn) => txn.txnId);

/** Many transactions have the same holder. */
function memoized(isAlive: (agentInfo: string) => boolean): (agentInfo: string) => boolean {
  const known = new Map<string, boolean>();
  return (agentInfo) => {
    const answer = known.get(agentInfo) ?? isAlive(agentInfo);
    known.set(agentInfo, answer);
    return answer;
  };
}
