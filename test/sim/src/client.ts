import { Configuration } from '@skep/config';
import { SkepError } from '@skep/core';
import { CompactionType, type Table } from '@skep/rpc';
import { QueryEngine } from '@skep/sql';
import type { FileSystem } from '@skep/storage';
import { parseStatement } from '../../../packages/sql/src/parse/index.js';
import { alterTable } from '../../../packages/sql/src/session/alter-table.js';
import { findTable, type SessionContext } from '../../../packages/sql/src/session/context.js';
import { ExplicitTransaction } from '../../../packages/sql/src/session/explicit-transaction.js';
import { insertRows } from '../../../packages/sql/src/session/insert.js';
import type { WriteEntity } from '../../../packages/sql/src/session/lock-plan.js';
import type { Plan } from '../../../packages/sql/src/session/planned-statement.js';
import { runStatement } from '../../../packages/sql/src/session/run-statement.js';
import { ScanProgress } from '../../../packages/sql/src/session/scan-progress.js';
import type { StatementTransaction } from '../../../packages/sql/src/session/statement-transaction.js';
import { TableWriter } from '../../../packages/sql/src/session/table-writer.js';
import { TemporaryTables } from '../../../packages/sql/src/session/temporary-tables.js';
import { type History, type Place, placeName } from './history.js';
import type { SimServices } from './metastore-process.js';
import type { SimProcess } from './sim-process.js';
import { type FoundRow, idsToDelete, readRows, rowsToWrite } from './table-rows.js';

/** What all clients share. */
export interface ClientWorld {
  readonly history: History;
  readonly host: string;
  /** A number that no row has yet. */
  newRow(): number;
  /** The settings of this run's sessions. */
  readonly settings: Readonly<Record<string, string>>;
}

type Kind = 'insert' | 'update' | 'delete' | 'merge' | 'overwrite' | 'read';

/** What may go wrong without being wrong: the other side was lost, another transaction won, a lock was not to be had. */
const EXPECTED_CODES = new Set([
  'UNREACHABLE',
  'STORAGE',
  'TXN_ABORTED',
  'TXN_CONFLICT',
  'LOCK_CANNOT_BE_ACQUIRED',
  'LOCK_ACQUIRE_TIMEDOUT',
]);

/** A client: one statement or transaction after the other, through the code that sessions use. */
export class SimClient {
  private readonly context: SessionContext;
  private txnId = 0n;
  private earliest = 0;

  constructor(
    private readonly process: SimProcess,
    private readonly world: ClientWorld,
    services: SimServices,
    private readonly fs: FileSystem,
  ) {
    const conf = new Configuration();
    for (const [name, value] of Object.entries(world.settings)) conf.set(name, value);
    const identity = { user: 'u', host: world.host, agentInfo: process.agentInfo };
    this.context = {
      services: { ...services, fs, clock: process.clock, warehouse: 'file:/w', identity },
      temporary: new TemporaryTables(),
      conf,
      engine: new QueryEngine(conf),
      progress: new ScanProgress(),
      currentDatabase: 'default',
      autocommit: true,
    };
  }

  /** Does something by chance; errors that are to be expected end it. */
  async act(): Promise<void> {
    this.txnId = 0n;
    this.earliest = await this.world.history.seq();
    const { random } = this.process.sim;
    const chance = random.next();
    try {
      if (chance < 0.15) await this.inTransaction();
      else if (chance < 0.22) await this.requestCompaction();
      else if (chance < 0.26) await this.changePartitions();
      else await this.statement();
    } catch (error) {
      await this.judge(error);
    }
  }

  private async statement(): Promise<void> {
    const { random } = this.process.sim;
    const kind = random.pick<Kind>([
      'insert',
      'insert',
      'update',
      'update',
      'delete',
      'merge',
      'overwrite',
      'read',
      'read',
    ]);
    await runStatement(this.context, await this.plan(kind));
    await this.world.history.heardCommitted(this.txnId);
  }

  private async inTransaction(): Promise<void> {
    const { random } = this.process.sim;
    const transaction = await ExplicitTransaction.start(this.context, false);
    this.context.transaction = transaction;
    try {
      const count = 1 + random.below(4);
      for (let i = 0; i < count && !transaction.isLost; i++) {
        const plan = await this.plan(random.pick<Kind>(['insert', 'update', 'delete', 'merge', 'read']));
        try {
          await runStatement(this.context, plan);
        } catch (error) {
          await this.judge(error);
        }
      }
      if (random.chance(0.15)) {
        await transaction.rollback();
        await this.world.history.heardAborted(transaction.txnId);
        return;
      }
      await transaction.commit();
      await this.world.history.heardCommitted(transaction.txnId);
    } finally {
      this.context.transaction = undefined;
    }
  }

  private async requestCompaction(): Promise<void> {
    const { random } = this.process.sim;
    const { table, partition } = await this.place();
    const types = [
      CompactionType.COMPACTION_TYPE_MAJOR,
      CompactionType.COMPACTION_TYPE_MINOR,
      CompactionType.COMPACTION_TYPE_MINOR,
      CompactionType.COMPACTION_TYPE_REBALANCE,
    ];
    const type = table === 'm' ? CompactionType.COMPACTION_TYPE_MAJOR : random.pick(types);
    await this.context.services.compactions.compact({
      database: 'default',
      table,
      partition,
      type,
      runAs: '',
      properties: {},
      initiatorId: 'sim-manual',
      initiatorVersion: '',
      poolName: '',
      orderBy: '',
    });
  }

  /** Partitions whose names begin with x come and go; a name is never used again. */
  private async changePartitions(): Promise<void> {
    const { random } = this.process.sim;
    const own = (await this.partitions()).filter((name) => name.startsWith('p=x'));
    if (own.length < 2 || random.chance(0.5)) {
      await this.alter(`ALTER TABLE t ADD PARTITION (p='x${this.world.newRow()}')`);
      return;
    }
    const name = random.pick(own);
    this.world.history.dropped.add(`t/${name}`);
    await this.alter(`ALTER TABLE t DROP PARTITION (p='${name.slice(2)}')`);
  }

  private async alter(text: string): Promise<void> {
    this.process.sim.note(this.process.name, text);
    const statement = parseStatement(text);
    if (statement.kind === 'alter-table') await alterTable(this.context, statement, text);
  }

  private async partitions(): Promise<string[]> {
    const { partitions } = await this.context.services.catalog.getPartitions({
      database: 'default',
      table: 't',
      names: [],
    });
    return partitions.map((partition) => `p=${partition.values[0]}`);
  }

  private async place(): Promise<Place> {
    const { random } = this.process.sim;
    const table = random.pick(['t', 't', 'u', 'u', 'm']);
    if (table !== 't') return { table };
    return {
      table,
      partition: random.chance(0.8) ? random.pick(['p=a', 'p=b']) : random.pick(await this.partitions()),
    };
  }

  /** A statement over one place; a read of `t` at times over all of its partitions. */
  private async plan(wanted: Kind): Promise<Plan> {
    const place = await this.place();
    const kind = place.table === 'm' && ['update', 'delete', 'merge'].includes(wanted) ? 'insert' : wanted;
    const readsAll = kind === 'read' && place.partition !== undefined && this.process.sim.random.chance(0.5);
    return async (transaction) => {
      this.txnId = transaction.txnId;
      const table = await findTable(this.context, 'default', place.table);
      if (table === undefined) throw new SkepError('NO_TABLE', 'bug', `${place.table} is gone`);
      const at = place.partition === undefined ? {} : { partitions: [place.partition] };
      const writes: WriteEntity[] = writesOf(kind).map((write) => ({ table, kind: write, ...at }));
      if (readsAll) {
        const places = (await this.partitions()).map((partition) => ({ table: 't', partition }));
        return { reads: [{ table }], writes: [], run: (txn) => this.readAll(txn, table, places) };
      }
      const reads = kind === 'insert' || kind === 'overwrite' ? [] : [{ table, ...at }];
      return { reads, writes, run: (txn) => this.run(txn, table, kind, place) };
    };
  }

  private async readAll(transaction: StatementTransaction, table: Table, places: readonly Place[]) {
    for (const place of places) await this.read(transaction, table, place);
    return { messages: [] };
  }

  private async run(transaction: StatementTransaction, table: Table, kind: Kind, place: Place) {
    const { random } = this.process.sim;
    const { history, newRow } = this.world;
    const name = placeName(place);
    const new_ = (count: number) => Array.from({ length: count }, () => newRow());
    this.process.sim.note(
      this.process.name,
      `${kind} ${name} in txnid:${transaction.txnId} snapshot ${transaction.validTxns}`,
    );
    if (kind === 'insert' || kind === 'overwrite') {
      const added = new_(1 + random.below(3));
      const shape = { table, partition: keysOf(place), dynamicKeys: [], given: [], written: [] };
      const batches = (async function* () {
        yield rowsToWrite(added);
      })();
      await insertRows(this.context, transaction, shape, kind === 'overwrite', batches);
      history.did(transaction.txnId, { place: name, removed: [], added, clears: kind === 'overwrite' });
      return { messages: [] };
    }
    // Some look long after their snapshot was taken: the Cleaner must wait for them.
    if (kind === 'read' && random.chance(0.4)) await this.process.clock.sleep(random.between(0, 10_000));
    const rows = await this.read(transaction, table, place);
    if (kind === 'read') return { messages: [] };
    const chosen = rows.filter(() => random.chance(2 / Math.max(1, rows.length)));
    const added = kind === 'delete' ? [] : new_(chosen.length + (kind === 'merge' ? 1 : 0));
    await this.change(transaction, table, place, chosen, added);
    history.did(transaction.txnId, { place: name, removed: chosen.map((row) => row.row), added });
    return { messages: [] };
  }

  private async change(
    transaction: StatementTransaction,
    table: Table,
    place: Place,
    removed: readonly FoundRow[],
    added: readonly number[],
  ): Promise<void> {
    const open = (kind: 'delete' | 'insert') =>
      TableWriter.open(this.context, transaction, { table, statementId: transaction.nextStatementId(), kind });
    const deletes = await open('delete');
    const inserts = await open('insert');
    try {
      if (removed.length > 0) await deletes.write(idsToDelete(removed), removed.length, keysOf(place));
      if (added.length > 0) await inserts.write(rowsToWrite(added), added.length, keysOf(place));
      await deletes.close();
      await inserts.close();
    } catch (error) {
      await deletes.abort();
      await inserts.abort();
      throw error;
    }
  }

  /** The rows of a place, which must be those that the history has for the snapshot. */
  private async read(transaction: StatementTransaction, table: Table, place: Place): Promise<FoundRow[]> {
    const { history } = this.world;
    const { sim } = this.process;
    const root = table.sd?.location ?? '';
    const location = place.partition === undefined ? root : `${root}/${place.partition}`;
    const { validTxns, txnId } = transaction;
    let rows: FoundRow[];
    try {
      const validWriteIds = await transaction.validWriteIdsOf('default', table.name);
      const own = transaction.ownWritesIn('default', table.name, location);
      rows = await readRows(this.fs, location, { validTxns, validWriteIds }, table, own);
    } catch (error) {
      const isExcused = await this.isVoid(txnId, place);
      if (isExcused || (error instanceof SkepError && EXPECTED_CODES.has(error.code))) {
        throw new SkepError('STORAGE', 'unavailable', `read of ${placeName(place)} given up`, { cause: error });
      }
      sim.violated(`txnid:${txnId} cannot read ${placeName(place)} by ${validTxns}: ${String(error)}`);
      throw error;
    }
    if (await this.isVoid(txnId, place)) return [];
    const expected = await history.expected(placeName(place), validTxns, txnId, this.earliest);
    const found = rows.map((row) => row.row).sort((a, b) => a - b);
    history.checkedReads++;
    if (found.join() !== expected.join()) {
      sim.violated(`txnid:${txnId} by ${validTxns} sees ${found} in ${placeName(place)} instead of ${expected}`);
    }
    return rows;
  }

  /** Its transaction has been aborted from outside, or the partition is being dropped: what it sees means nothing. */
  private async isVoid(txnId: bigint, place: Place): Promise<boolean> {
    const { history } = this.world;
    return history.dropped.has(placeName(place)) || (await history.stateOf(txnId)) !== 'o';
  }

  private async judge(error: unknown): Promise<void> {
    const { sim, name } = this.process;
    const { history } = this.world;
    sim.note(name, `error: ${String(error)}`);
    if (!(error instanceof SkepError)) {
      sim.violated(`${name}: ${error instanceof Error ? error.stack : String(error)}`);
      return;
    }
    if (error.code === 'TXN_ABORTED' || error.code === 'TXN_CONFLICT') await history.heardAborted(this.txnId);
    if (EXPECTED_CODES.has(error.code)) return;
    // Of a transaction that timed out nothing may be left to be found; nor, where days pass between a commit and its
    // repetition, of a committed one.
    const state = await history.stateOf(this.txnId);
    const hasEnded = ['NO_SUCH_TXN', 'NO_SUCH_LOCK'].includes(error.code) && (state === 'a' || sim.hasLeapt);
    const isOutdated =
      error.message.includes('snapshot was outdated') || error.message.includes('changed while it waited');
    const isDropped = error.code === 'NO_SUCH_OBJECT' || error.message.includes('Partition not found');
    if (hasEnded || isOutdated || isDropped) return;
    sim.violated(`${name}: unexpected error ${error.code}: ${error.message} (txnid:${this.txnId})`);
  }
}

const keysOf = ({ partition }: Place): string[] => (partition === undefined ? [] : [partition.slice(2)]);

function writesOf(kind: Kind): WriteEntity['kind'][] {
  switch (kind) {
    case 'insert':
      return ['insert'];
    case 'update':
      return ['update'];
    case 'delete':
      return ['delete'];
    case 'merge':
      return ['update', 'merge-insert'];
    case 'overwrite':
      return ['insert-overwrite'];
    case 'read':
      return [];
  }
}
