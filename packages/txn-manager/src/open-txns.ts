import { chunked, DatabaseError, idList, insertNumbered, insertStatements, type SqlValue, type Tx } from '@skep/metadb';
import { InvalidRequestError, type OpenTxnsRequest, TooManyOpenTxnsError, TxnType } from '@skep/rpc';
import {
  lowWatermarkQuery,
  MIN_OPEN_TXN_ID,
  minOf,
  OPEN,
  type TxnContext,
  txnLockForOpen,
  VOLATILE,
} from './context.js';
import { openReplicated, validateReplicated } from './replication.js';

const MAX_TEXT = 128;

/**
 * Counts open transactions now and then, as Hive's AcidOpenTxnsCounterService does: refuses at the limit, and goes on
 * refusing until a tenth is free again.
 */
export class OpenTxnGauge {
  private count = 0;
  private countedAtMs = Number.NEGATIVE_INFINITY;
  private refusing = false;

  constructor(private readonly ctx: TxnContext) {}

  /** Throws where no more transactions may be opened. */
  async admit(wanted: number): Promise<void> {
    const { conf, clock, db } = this.ctx;
    const isStale = clock.now() - this.countedAtMs >= conf.countOpenTxnsIntervalMs;
    // Near the limit the count must be exact, or a burst within one interval passes it.
    if (isStale || this.refusing || this.count + wanted > conf.maxOpenTxns) {
      const row = await db.read((tx) => {
        return tx.get<{ N: bigint }>(`SELECT COUNT(*) AS N FROM TXNS WHERE TXN_STATE = '${OPEN}'`);
      });
      this.count = Number(row?.N ?? 0n);
      this.countedAtMs = clock.now();
    }
    this.refusing = isRefusing(this.refusing, this.count, conf.maxOpenTxns);
    if (this.refusing) {
      throw new TooManyOpenTxnsError(
        `${this.count} transactions are open, hive.max.open.txns allows ${conf.maxOpenTxns}: try again when fewer are`,
      );
    }
    this.count += wanted;
  }
}

/** Refuse from the limit on, until there are fewer than nine tenths of it. */
export function isRefusing(wasRefusing: boolean, open: number, limit: number): boolean {
  return open >= limit || (wasRefusing && open >= limit * 0.9);
}

const COLUMNS = [
  'TXN_STATE',
  'TXN_STARTED',
  'TXN_LAST_HEARTBEAT',
  'TXN_USER',
  'TXN_HOST',
  'TXN_AGENT_INFO',
  'TXN_TYPE',
];

/** How often opening is tried that takes longer than hive.txn.opentxn.timeout. */
const MAX_ATTEMPTS = 5;

/**
 * TxnHandler.openTxns. Not fsynced: a transaction has no effect before it takes a write id or records a component, and
 * these are.
 */
export async function openTxns(ctx: TxnContext, gauge: OpenTxnGauge, request: OpenTxnsRequest): Promise<bigint[]> {
  const { replicated } = request;
  if (replicated !== undefined) {
    validateReplicated(replicated, ctx.conf.maxOpenBatch);
    await gauge.admit(replicated.sourceTxnIds.length);
    const open = (tx: Tx) => (count: number) => insertTxns(tx, ctx, request, count);
    return await ctx.db.transaction((tx) => openReplicated(tx, replicated, open(tx)));
  }
  if (request.count <= 0) throw new InvalidRequestError(`cannot open ${request.count} transactions`);
  if (request.type === TxnType.UNRECOGNIZED) throw new InvalidRequestError('unknown type of transaction');
  const count = Math.min(request.count, ctx.conf.maxOpenBatch);
  await gauge.admit(count);
  for (let attempt = 1; ; attempt++) {
    const startedMs = ctx.clock.now();
    const insert = count === 1 ? insertTxn : insertTxns;
    const ids = await ctx.db.transaction((tx) => insert(tx, ctx, request, count), VOLATILE);
    const tookMs = ctx.clock.now() - startedMs;
    const inTime = tookMs < ctx.conf.openTxnTimeoutMs || request.type === TxnType.TXN_TYPE_READ_ONLY;
    if (ctx.db.dialect.idsAppearInOrder || inTime) return ids;
    // Snapshots may have been taken that count these ids as never opened: they must not write.
    await ctx.db.run(
      chunked(ids).flatMap((chunk) => {
        const list = idList(chunk);
        return [
          [`DELETE FROM MIN_HISTORY_LEVEL WHERE MHL_TXNID IN ${list.sql}`, list.params],
          [`DELETE FROM TXNS WHERE TXN_ID IN ${list.sql}`, list.params],
        ] as const;
      }),
    );
    if (attempt >= MAX_ATTEMPTS) {
      const what = `opening transactions took ${tookMs} ms again and again; hive.txn.opentxn.timeout allows ${ctx.conf.openTxnTimeoutMs}`;
      throw new DatabaseError('DATABASE_LOCKED', ctx.db.path, what);
    }
  }
}

function rowOf(request: OpenTxnsRequest, now: bigint): SqlValue[] {
  const user = request.user.slice(0, MAX_TEXT);
  const host = request.host.slice(0, MAX_TEXT);
  const agent = request.agentInfo === '' ? null : request.agentInfo.slice(0, MAX_TEXT);
  return [OPEN, now, now, user, host, agent, request.type];
}

/** One, in one round trip to a server: a commit that waits for TXN_LOCK_TBL waits for no client. */
async function insertTxn(tx: Tx, ctx: TxnContext, request: OpenTxnsRequest): Promise<bigint[]> {
  const now = await tx.now();
  const [low, lowParams] = lowWatermarkQuery(tx, ctx.conf, now);
  const [, inserted] = await tx.runLast([
    [txnLockForOpen(tx)],
    ...insertStatements('TXNS', COLUMNS, [rowOf(request, now)]),
    [
      `INSERT INTO MIN_HISTORY_LEVEL (MHL_TXNID, MHL_MIN_OPEN_TXNID) SELECT ${tx.dialect.lastInsertId}, MIN(B.ID) FROM
        (${MIN_OPEN_TXN_ID[0]} UNION ALL SELECT COALESCE(MAX(L.ID), 0) + 1 AS ID FROM (${low}) L) B`,
      lowParams,
    ],
  ]);
  return [inserted.lastId];
}

/** Not the end of `tx`: replicated ones are recorded as such in the same. */
async function insertTxns(tx: Tx, ctx: TxnContext, request: OpenTxnsRequest, count: number): Promise<bigint[]> {
  const now = await tx.now();
  const [, ...bounds] = await tx.allOf([[txnLockForOpen(tx)], MIN_OPEN_TXN_ID, lowWatermarkQuery(tx, ctx.conf, now)]);
  const [minOpen, low] = bounds.map(([row]) => row?.ID as bigint | null | undefined);
  // What the new ones may need: nothing below the smallest open id, or below all that will come.
  const needed = minOf(minOpen ?? undefined, (low ?? 0n) + 1n) ?? 1n;
  const ids = await insertNumbered(tx, 'TXNS', COLUMNS, Array(count).fill(rowOf(request, now)));
  const levels = ids.map((id) => [id, needed]);
  await tx.runAll(insertStatements('MIN_HISTORY_LEVEL', ['MHL_TXNID', 'MHL_MIN_OPEN_TXNID'], levels));
  return ids;
}
