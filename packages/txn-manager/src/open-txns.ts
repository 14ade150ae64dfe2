import {
  Batcher,
  chunked,
  DatabaseError,
  idList,
  insertNumbered,
  insertStatements,
  type SqlValue,
  type Statement,
  type Step,
  type Tx,
} from '@skep/metadb';
import { currentCall, InvalidRequestError, type OpenTxnsRequest, TooManyOpenTxnsError, TxnType } from '@skep/rpc';
import type { TxnConf } from './conf.js';
import {
  lowWatermarkQuery,
  MIN_OPEN_TXN_ID,
  minOf,
  OPEN,
  RANKS,
  type TxnContext,
  txnLockForOpen,
  VOLATILE,
} from './context.js';
import { openReplicated, validateReplicated } from './replication.js';
import { distinctIds } from './txn-state.js';

const MAX_TEXT = 128;

/**
 * Counts open transactions now and then, as Hive's AcidOpenTxnsCounterService does: refuses at the limit, and goes on
 * refusing until a tenth is free again.
 */
export class OpenTxnGauge {
  private count = 0;
  private countedAtMs = Number.NEGATIVE_INFINITY;
  private refusing = false;
  private counting: Promise<void> | undefined;

  constructor(private readonly ctx: TxnContext) {}

  /** Throws where no more transactions may be opened. */
  async admit(wanted: number): Promise<void> {
    const { conf, clock } = this.ctx;
    const isStale = clock.now() - this.countedAtMs >= conf.countOpenTxnsIntervalMs;
    // Near the limit the count must be exact, or a burst within one interval passes it.
    if (isStale || this.refusing || this.count + wanted > conf.maxOpenTxns) {
      this.counting ??= this.recount().finally(() => {
        this.counting = undefined;
      });
      await this.counting;
    }
    this.refusing = isRefusing(this.refusing, this.count, conf.maxOpenTxns);
    if (this.refusing) {
      throw new TooManyOpenTxnsError(
        `${this.count} transactions are open, hive.max.open.txns allows ${conf.maxOpenTxns}: try again when fewer are`,
      );
    }
    this.count += wanted;
  }

  private async recount(): Promise<void> {
    const row = await this.ctx.db.read((tx) => {
      return tx.get<{ N: bigint }>(`SELECT COUNT(*) AS N FROM TXNS WHERE TXN_STATE = '${OPEN}'`);
    });
    this.count = Number(row?.N ?? 0n);
    this.countedAtMs = this.ctx.clock.now();
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

/**
 * How long the low water mark is remembered, as part of how long an id may be missing: finding it means to look at every young
 * transaction. An older one is a lower one: the Cleaner goes by it, and keeps a little more for as long as the transaction is open.
 */
const REMEMBERED = 0.25;

/** The low water mark as it was found last. */
class LowWatermark {
  private found: { readonly id: bigint; readonly atMs: bigint } | undefined;

  constructor(private readonly conf: TxnConf) {}

  noteFound(id: bigint, atMs: bigint): void {
    this.found = { id, atMs };
  }

  /** Undefined where it has to be looked for. */
  at(now: bigint): bigint | undefined {
    const { found, conf } = this;
    const ageMs = found === undefined ? -1 : Number(now - found.atMs);
    return ageMs >= 0 && ageMs < REMEMBERED * conf.openTxnTimeoutMs ? found?.id : undefined;
  }
}

/** Opens transactions, by calls that come together in one database transaction. */
export class TxnOpener {
  private readonly gauge: OpenTxnGauge;
  private readonly singles: Batcher<OpenTxnsRequest, Opened>;

  constructor(private readonly ctx: TxnContext) {
    this.gauge = new OpenTxnGauge(ctx);
    const low = new LowWatermark(ctx.conf);
    this.singles = new Batcher(ctx.db, (tx, requests) => openingStep(tx, ctx, requests, low), {
      rank: RANKS.open,
      isDurable: () => false,
    });
  }

  /**
   * TxnHandler.openTxns. Not fsynced: a transaction has no effect before it takes a write id or records a component, and
   * these are.
   */
  async open(request: OpenTxnsRequest): Promise<bigint[]> {
    const { ctx, gauge } = this;
    const call = currentCall();
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
    if (count === 1) return await openInTime(ctx, request, () => this.singles.submit(request, call));
    return await openInTime(ctx, request, async () => {
      const startedMs = ctx.clock.now();
      const txnIds = await ctx.db.transaction((tx) => insertTxns(tx, ctx, request, count), VOLATILE);
      return { txnIds, tookMs: ctx.clock.now() - startedMs };
    });
  }
}

/** How often opening is tried that takes longer than hive.txn.opentxn.timeout. */
const MAX_ATTEMPTS = 5;

/** What was opened, and how long that took from the time that its rows have. */
interface Opened {
  readonly txnIds: bigint[];
  readonly tookMs: number;
}

async function openInTime(
  { conf, db }: TxnContext,
  { type }: OpenTxnsRequest,
  open: () => Promise<Opened>,
): Promise<bigint[]> {
  // Nothing depends on when those appear that only read.
  const mayBeLate = db.dialect.idsAppearInOrder || type === TxnType.TXN_TYPE_READ_ONLY;
  for (let attempt = 1; ; attempt++) {
    const { txnIds, tookMs } = await open();
    if (mayBeLate || tookMs < conf.openTxnTimeoutMs) return txnIds;
    // Snapshots may have been taken that count these ids as never opened: they must not write.
    await db.run(
      chunked(txnIds).flatMap((chunk) => {
        const list = idList(chunk);
        return [
          [`DELETE FROM MIN_HISTORY_LEVEL WHERE MHL_TXNID IN ${list.sql}`, list.params],
          [`DELETE FROM TXNS WHERE TXN_ID IN ${list.sql}`, list.params],
        ] as const;
      }),
    );
    if (attempt >= MAX_ATTEMPTS) {
      const what = `opening transactions took ${tookMs} ms again and again; hive.txn.opentxn.timeout allows ${conf.openTxnTimeoutMs}`;
      throw new DatabaseError('DATABASE_LOCKED', db.path, what);
    }
  }
}

function rowOf(request: OpenTxnsRequest, now: bigint): SqlValue[] {
  const user = request.user.slice(0, MAX_TEXT);
  const host = request.host.slice(0, MAX_TEXT);
  const agent = request.agentInfo === '' ? null : request.agentInfo.slice(0, MAX_TEXT);
  return [OPEN, now, now, user, host, agent, request.type];
}

/** One each, in one round trip to a server: a commit that waits for TXN_LOCK_TBL waits for no client. */
async function openingStep(
  tx: Tx,
  ctx: TxnContext,
  requests: readonly OpenTxnsRequest[],
  watermark: LowWatermark,
): Promise<Step<Opened>> {
  const startedMs = ctx.clock.now();
  const now = await tx.now();
  // Ids that appear in order are all seen: the highest is read at once.
  const known = tx.dialect.idsAppearInOrder ? undefined : watermark.at(now);
  const query = lowWatermarkQuery(tx, ctx.conf, now);
  const [low, lowParams] = known === undefined ? query : ['SELECT ? AS ID', [known]];
  const needed = `SELECT MIN(ID) AS NEEDED FROM (${MIN_OPEN_TXN_ID[0]}
    UNION ALL SELECT COALESCE(MAX(L.ID), 0) + 1 AS ID FROM (${low}) L) B`;
  const rows = requests.map((request) => rowOf(request, now));
  const inserts = insertStatements('TXNS', COLUMNS, rows).flatMap((insert): Statement[] => {
    const opened = tx.dialect.lastInsertIds('TXNS', 'TXN_ID', (insert[1]?.length ?? 0) / COLUMNS.length);
    return [
      insert,
      [opened],
      [
        `INSERT INTO MIN_HISTORY_LEVEL (MHL_TXNID, MHL_MIN_OPEN_TXNID) SELECT OPENED.ID, NEEDED FROM
          (${opened}) OPENED, (${needed}) LEAST_NEEDED`,
        lowParams,
      ],
    ];
  });
  const lookedFor = known === undefined && !tx.dialect.idsAppearInOrder ? [query] : [];
  return {
    decide: () => ({
      last: [...lookedFor, [txnLockForOpen(tx)], ...inserts],
      outcomes(found) {
        const answers = found.slice(lookedFor.length + 1);
        if (lookedFor.length > 0) watermark.noteFound((found[0][0]?.ID as bigint | undefined) ?? 0n, now);
        const tookMs = ctx.clock.now() - startedMs;
        const ids = distinctIds(answers.flat().map(({ ID }) => ID as bigint));
        return ids.map((id) => ({ value: { txnIds: [id], tookMs } }));
      },
    }),
  };
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
