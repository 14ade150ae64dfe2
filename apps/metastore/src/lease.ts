import { type Clock, idle } from '@skep/core';
import { createTables, type Database, DatabaseError, type Migration } from '@skep/metadb';
import type { Logger } from '@skep/telemetry';

/** How long a holder that says nothing keeps a lease, and how often it says so. */
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;

/** A lease means nothing after a power cut, when its holder is gone. */
const VOLATILE = { durable: false } as const;

/** AUX_TABLE is Hive's, and where transactions are kept it is there already. */
export const leaseMigrations: readonly Migration[] = [
  {
    id: 'metastore/001-aux-table',
    up: (tx) =>
      createTables(tx, [
        {
          name: 'AUX_TABLE',
          columns: `MT_KEY1 varchar(128) NOT NULL, MT_KEY2 bigint NOT NULL, MT_COMMENT varchar(255),
            PRIMARY KEY (MT_KEY1, MT_KEY2)`,
        },
      ]),
  },
];

export interface LeaseOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Of what: Initiator, Cleaner, HouseKeeper (Hive's TxnStore.MUTEX_KEY). */
  readonly name: string;
  readonly host: string;
  /** `skep:PID:START` of the holder. */
  readonly agentInfo: string;
  /** Whether a holder of this host runs. */
  readonly isAlive: (agentInfo: string) => boolean;
  readonly log: Logger;
}

/** Who holds a lease, and until when by the database's clock. */
interface Holder {
  readonly untilMs: bigint;
  readonly host: string;
  readonly agentInfo: string;
}

const format = ({ untilMs, host, agentInfo }: Holder): string => `${untilMs} ${agentInfo} ${host}`;

function parse(text: string): Holder | undefined {
  const match = /^(\d+) (\S+) (.*)$/.exec(text);
  return match === null ? undefined : { untilMs: BigInt(match[1]), agentInfo: match[2], host: match[3] };
}

/**
 * One of several processes on a database does what is named. Hive holds a row of AUX_TABLE locked while it works
 * (TxnStore.MutexAPI); a lease in such a row needs no open database transaction, which SQLite could not bear, and ends with
 * its holder: at once where it is seen to be gone, else after 30 s.
 */
export class Lease {
  private heldUntilMs = 0;
  /** What was told last. */
  private leads = false;
  private renewing: Promise<void> | undefined;
  private readonly stop = new AbortController();
  /** Renewal and release never overtake each other. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: LeaseOptions) {}

  /** Takes the lease if it is free. Answers whether this process has it; it is kept until `release`. */
  async hold(): Promise<boolean> {
    if (this.options.clock.now() < this.heldUntilMs) return true;
    if (this.stop.signal.aborted || !(await this.inTurn(() => this.take()))) return false;
    this.renewing ??= this.renew();
    return true;
  }

  async release(): Promise<void> {
    this.stop.abort();
    await this.renewing;
    await this.inTurn(() => this.give());
  }

  private async inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.last.then(run);
    this.last = turn.catch(() => undefined);
    return await turn;
  }

  private async renew(): Promise<void> {
    for (;;) {
      await idle(RENEW_MS, this.stop.signal);
      if (this.stop.signal.aborted) return;
      try {
        if (!(await this.inTurn(() => this.take()))) break;
      } catch (error) {
        this.options.log.warn({ lease: this.options.name, error }, 'the lease could not be renewed');
      }
    }
    this.renewing = undefined;
  }

  private async take(): Promise<boolean> {
    const { db, clock, name, host, agentInfo } = this.options;
    const key = keyOf(name);
    const askedMs = clock.now();
    try {
      const isTaken = await db.transaction(async (tx) => {
        const row = await tx.get<{ MT_COMMENT: string | null }>(
          `SELECT MT_COMMENT FROM AUX_TABLE WHERE MT_KEY1 = ? AND MT_KEY2 = 0 ${tx.dialect.forUpdate}`,
          [key],
        );
        const now = await tx.now();
        const holder = parse(row?.MT_COMMENT ?? '');
        if (holder !== undefined && !this.isFree(holder, now)) return false;
        const text = format({ untilMs: now + BigInt(LEASE_MS), host, agentInfo });
        if (row === undefined) await tx.run('INSERT INTO AUX_TABLE VALUES (?, 0, ?)', [key, text]);
        else await tx.run('UPDATE AUX_TABLE SET MT_COMMENT = ? WHERE MT_KEY1 = ? AND MT_KEY2 = 0', [text, key]);
        return true;
      }, VOLATILE);
      this.tell(isTaken);
      this.heldUntilMs = isTaken ? askedMs + LEASE_MS : 0;
      return isTaken;
    } catch (error) {
      // Another process made the row at the same moment.
      if (error instanceof DatabaseError && error.code === 'DATABASE_CONSTRAINT') return false;
      throw error;
    }
  }

  /** Who leads has changed, as far as this process is concerned. */
  private tell(isTaken: boolean): void {
    const { log, name, host, agentInfo } = this.options;
    if (isTaken === this.leads) return;
    this.leads = isTaken;
    log.info(
      { lease: name, host, agentInfo },
      isTaken ? `this process is the ${name} now` : `another process is the ${name} now`,
    );
  }

  private isFree(holder: Holder, nowMs: bigint): boolean {
    const { host, agentInfo, isAlive } = this.options;
    if (holder.untilMs < nowMs) return true;
    if (holder.host !== host) return false;
    return holder.agentInfo === agentInfo || !isAlive(holder.agentInfo);
  }

  private async give(): Promise<void> {
    const { db, name, host, agentInfo } = this.options;
    if (this.heldUntilMs === 0) return;
    this.heldUntilMs = 0;
    if (this.leads) this.options.log.info({ lease: name, host, agentInfo }, `this process is the ${name} no more`);
    this.leads = false;
    await db.transaction(async (tx) => {
      const row = await tx.get<{ MT_COMMENT: string | null }>(
        `SELECT MT_COMMENT FROM AUX_TABLE WHERE MT_KEY1 = ? AND MT_KEY2 = 0 ${tx.dialect.forUpdate}`,
        [keyOf(name)],
      );
      const holder = parse(row?.MT_COMMENT ?? '');
      if (holder?.host !== host || holder.agentInfo !== agentInfo) return;
      await tx.run('UPDATE AUX_TABLE SET MT_COMMENT = NULL WHERE MT_KEY1 = ? AND MT_KEY2 = 0', [keyOf(name)]);
    }, VOLATILE);
  }
}

/** Rows of our own: Hive keeps the last run's time in the key of its. */
const keyOf = (name: string): string => `skep.${name}`;
