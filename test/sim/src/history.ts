import { ValidTxnList } from '@skep/core';
import type { Database } from '@skep/metadb';
import type { Simulation } from './simulation.js';

/** Where rows are: a table's folder, or a partition's. */
export interface Place {
  readonly table: string;
  readonly partition?: string;
  /** By which it is known whatever it is called; absent: by its names. */
  readonly name?: string;
}

export const placeName = ({ table, partition, name }: Place): string =>
  name ?? (partition === undefined ? table : `${table}/${partition}`);

/** What a statement does to a place. Every row has a number of its own; an update removes one and adds another. */
export interface Effect {
  readonly place: string;
  readonly writeId: bigint;
  readonly removed: readonly number[];
  readonly added: readonly number[];
  /**
   * An overwrite: whatever is there goes. `older`: what has a smaller write id, also of inserts that commit later, which some
   * settings do not keep out; these count as done before it.
   */
  readonly clears?: 'all' | 'older' | undefined;
}

interface Ended {
  readonly seq: number;
  readonly txnId: bigint;
  readonly state: string;
}

const SQLITE_LOG = [
  'CREATE TABLE SIM_ENDED (SEQ INTEGER PRIMARY KEY AUTOINCREMENT, TXN INTEGER, STATE TEXT)',
  `CREATE TRIGGER SIM_END AFTER UPDATE OF TXN_STATE ON TXNS WHEN NEW.TXN_STATE <> OLD.TXN_STATE
    BEGIN INSERT INTO SIM_ENDED (TXN, STATE) VALUES (NEW.TXN_ID, NEW.TXN_STATE); END`,
];
/** The row of SIM_SEQ is locked until the commit: numbers are in the order in which commits are seen. */
const SERVER_LOG = [
  'CREATE TABLE SIM_SEQ (N BIGINT NOT NULL)',
  'INSERT INTO SIM_SEQ VALUES (0)',
  'CREATE TABLE SIM_ENDED (SEQ BIGINT PRIMARY KEY, TXN BIGINT, STATE CHAR(1))',
  `CREATE TRIGGER SIM_END AFTER UPDATE ON TXNS FOR EACH ROW BEGIN
    IF NEW.TXN_STATE <> OLD.TXN_STATE THEN
      UPDATE SIM_SEQ SET N = N + 1;
      INSERT INTO SIM_ENDED SELECT N, NEW.TXN_ID, NEW.TXN_STATE FROM SIM_SEQ;
    END IF; END`,
];

/**
 * What happened, from outside the services: the database itself writes down, with the change, when a transaction commits or
 * aborts; clients tell what their statements did.
 */
export class History {
  private readonly effects = new Map<bigint, Effect[]>();
  private ended: Ended[] = [];
  /** Partitions that are being dropped: who sees what of them is not looked at. */
  readonly dropped = new Set<string>();
  /** Those whose drop was heard to be done, and by which transaction: their files go, too. */
  readonly gone = new Map<string, bigint>();
  checkedReads = 0;

  private constructor(
    private readonly sim: Simulation,
    private readonly db: Database,
  ) {}

  static async start(sim: Simulation, db: Database): Promise<History> {
    const isServer = db.dialect.forUpdate !== '';
    for (const statement of isServer ? SERVER_LOG : SQLITE_LOG) await db.transaction((tx) => tx.run(statement));
    return new History(sim, db);
  }

  /** The number of the last end of a transaction. */
  async seq(): Promise<number> {
    return (await this.log()).at(-1)?.seq ?? 0;
  }

  async stateOf(txnId: bigint): Promise<string> {
    return (await this.log()).find((entry) => entry.txnId === txnId)?.state ?? 'o';
  }

  /** How many transactions have committed that changed something. */
  async committedWriters(): Promise<number> {
    return (await this.log()).filter((entry) => entry.state === 'c' && this.effects.has(entry.txnId)).length;
  }

  /** Whether a place is being dropped, or was dropped since the snapshot: then it has no rows that are known. */
  isDoomed(place: string, validTxns: string): boolean {
    if (!this.dropped.has(place)) return false;
    const txnId = this.gone.get(place);
    // Whoever waited for the drop may have made it again.
    return txnId === undefined || !ValidTxnList.parse(validTxns).isTxnValid(txnId);
  }

  /** Whether nothing is known of a place at the end: `isThere` tells whether the catalog has it. */
  isUnknown(place: string, isThere: boolean): boolean {
    return this.dropped.has(place) && !(isThere && this.gone.has(place));
  }

  /** The table of this name is about to be dropped: from now on nobody knows what it has. */
  async dropsTable(name: string): Promise<void> {
    const rows = await this.db.read((tx) =>
      tx.all<{ ID: bigint }>('SELECT TBL_ID AS ID FROM TBLS WHERE TBL_NAME = ?', [name]),
    );
    for (const { ID } of rows) this.dropped.add(`${name}#${ID}`);
  }

  did(txnId: bigint, effect: Effect): void {
    const known = this.effects.get(txnId);
    if (known === undefined) this.effects.set(txnId, [effect]);
    else known.push(effect);
  }

  /** A client heard that its transaction has committed. */
  async heardCommitted(txnId: bigint): Promise<void> {
    const state = await this.stateOf(txnId);
    if (state !== 'c') this.sim.violated(`client heard that txnid:${txnId} has committed, but it is '${state}'`);
  }

  /** A client heard that its transaction was aborted, or lost a conflict. */
  async heardAborted(txnId: bigint): Promise<void> {
    if ((await this.stateOf(txnId)) === 'c')
      this.sim.violated(`client heard that txnid:${txnId} was aborted, but it has committed`);
  }

  /** The rows of a place that a snapshot is to show: what was committed, in order, and what the transaction itself did. */
  async expected(place: string, validTxns: string, ownTxnId: bigint, earliest: number): Promise<number[]> {
    const log = await this.log();
    const list = ValidTxnList.parse(validTxns);
    const committed = log.filter((entry) => entry.state === 'c');
    const seen = committed.filter((entry) => list.isTxnValid(entry.txnId));
    const upTo = Math.max(earliest, seen.at(-1)?.seq ?? 0);
    for (const { seq, txnId } of committed) {
      // Of two commits the earlier one cannot be missing, unless its transaction was opened after the reader's.
      const isMissing = seq <= upTo && txnId <= list.highWatermark && txnId < ownTxnId && !list.isTxnValid(txnId);
      if (isMissing) {
        this.sim.violated(
          `snapshot ${validTxns} of txnid:${ownTxnId} misses txnid:${txnId}, the ${seq}. end; it sees the ${upTo}.`,
        );
      }
    }
    const effects = seen.flatMap((entry) => this.effects.get(entry.txnId) ?? []);
    return this.apply(place, [...effects, ...(this.effects.get(ownTxnId) ?? [])], `the snapshot of txnid:${ownTxnId}`);
  }

  /** All that has committed. */
  async final(place: string): Promise<number[]> {
    const committed = (await this.log()).filter((entry) => entry.state === 'c');
    return this.apply(
      place,
      committed.flatMap((entry) => this.effects.get(entry.txnId) ?? []),
      'the history',
    );
  }

  private apply(place: string, effects: readonly Effect[], where: string): number[] {
    const rows = new Map<number, bigint>();
    let cleared = 0n;
    for (const { place: at, writeId, removed, added, clears } of effects) {
      if (at !== place) continue;
      for (const row of removed) {
        if (!rows.delete(row)) this.sim.violated(`lost update in ${where}: row ${row} of ${place} was removed twice`);
      }
      if (clears === 'all') rows.clear();
      else if (clears === 'older') {
        cleared = writeId > cleared ? writeId : cleared;
        // Those of its own transaction were there before it.
        for (const [row, of] of rows) if (of <= writeId) rows.delete(row);
      }
      if (writeId >= cleared) for (const row of added) rows.set(row, writeId);
    }
    return [...rows.keys()].sort((a, b) => a - b);
  }

  private async log(): Promise<Ended[]> {
    const since = this.ended.at(-1)?.seq ?? 0;
    const rows = await this.db.read((tx) =>
      tx.all<{ SEQ: bigint; TXN: bigint; STATE: string }>('SELECT * FROM SIM_ENDED WHERE SEQ > ? ORDER BY SEQ', [
        since,
      ]),
    );
    const known = this.ended.at(-1)?.seq ?? 0;
    const news = rows.map((row) => ({ seq: Number(row.SEQ), txnId: row.TXN, state: row.STATE }));
    this.ended = [...this.ended, ...news.filter((row) => row.seq > known)];
    return this.ended;
  }
}
