import { SkepError } from '@skep/core';
import { DataOperation, type Table } from '@skep/rpc';
import type { SessionContext } from '../../../packages/sql/src/session/context.js';
import { insertRows } from '../../../packages/sql/src/session/dml/insert.js';
import { overwriteKind, overwritesByDeletes } from '../../../packages/sql/src/session/dml/overwrite.js';
import { TableWriter } from '../../../packages/sql/src/session/dml/table-writer.js';
import type { WriteEntity } from '../../../packages/sql/src/session/transaction/lock-plan.js';
import type { Plan } from '../../../packages/sql/src/session/transaction/planned-statement.js';
import type { StatementTransaction } from '../../../packages/sql/src/session/transaction/statement-transaction.js';
import { EXPECTED_CODES } from './expected-codes.js';
import { type History, type Place, placeName } from './history.js';
import { GoneError, KnownTables } from './known-tables.js';
import { letsInsertsPass } from './lock-modes.js';
import type { SimProcess } from './sim-process.js';
import { type FoundRow, faultsOf, idsToDelete, readRows, rowsToPlace, rowsToWrite } from './table-rows.js';

export type Kind = 'insert' | 'update' | 'delete' | 'merge' | 'overwrite' | 'read';

/** What a statement changes in one place. */
interface Change {
  readonly place: Place;
  readonly removed: readonly FoundRow[];
  readonly added: readonly number[];
}

const nothing = { messages: [] };

/** Statements that read and write rows, as a client's session runs them, told to the history. */
export class DataStatements {
  /** The number of the last end of a transaction when the client's action began. */
  earliest = 0;
  readonly known: KnownTables;

  constructor(
    private readonly process: SimProcess,
    private readonly context: SessionContext,
    private readonly history: History,
    /** A number that no row has yet. */
    private readonly newRow: () => number,
    private readonly hot: string | undefined,
  ) {
    this.known = new KnownTables(process, context);
  }

  async partitions(): Promise<string[]> {
    return await this.known.partitionsOf('t');
  }

  /** A table, or a partition. Those of `r` and `d` are what they are when a statement is planned. */
  async place(): Promise<Place> {
    const { random } = this.process.sim;
    const isHot = this.hot !== undefined && random.chance(0.7);
    const table = isHot ? this.hot : random.pick(['t', 't', 't', 'u', 'u', 'u', 'm', 'r', 'r', 'd']);
    if (table !== 't') return { table };
    if (isHot) return { table, partition: 'p=a' };
    return {
      table,
      partition: random.chance(0.8) ? random.pick(['p=a', 'p=b']) : random.pick(await this.partitions()),
    };
  }

  /** What `wanted` is by now: its table, and where its rows are. */
  private async resolve(wanted: Place): Promise<{ readonly table: Table; readonly place: Place }> {
    const table = await this.known.table(wanted.table);
    if (wanted.table === 'd') return { table, place: { table: 'd', name: `d#${table.id}` } };
    if (wanted.table !== 'r') return { table, place: wanted };
    return { table, place: { table: 'r', name: 'r', partition: await this.known.renamedPartition() } };
  }

  /** A statement over one place, at times over several of `t`, whose partitions are then known from the rows alone. */
  async plan(wanted: Kind): Promise<Plan> {
    const { random } = this.process.sim;
    const wantedPlace = await this.place();
    const kind = wantedPlace.table === 'm' && ['update', 'delete', 'merge'].includes(wanted) ? 'insert' : wanted;
    const isDynamic = wantedPlace.partition !== undefined && random.chance(kind === 'read' ? 0.5 : 0.3);
    return async (transaction) => {
      const { table, place } = await this.resolve(wantedPlace);
      const at = isDynamic
        ? { dynamicPartitions: true }
        : place.partition === undefined
          ? {}
          : { partitions: [place.partition] };
      const writes: WriteEntity[] = writesOf(kind, transaction, table).map((write) => ({ table, kind: write, ...at }));
      const reads = kind === 'insert' || kind === 'overwrite' ? [] : [{ table, ...(isDynamic ? {} : at) }];
      return { reads, writes, run: (txn) => this.run(txn, table, kind, isDynamic ? undefined : place) };
    };
  }

  private async run(transaction: StatementTransaction, table: Table, kind: Kind, place: Place | undefined) {
    const { sim, name } = this.process;
    const where = place === undefined ? `${table.name}, by its rows` : placeName(place);
    // The statement's locks keep it under its name from now on.
    if (place?.table === 'r' && (await this.known.renamedPartition()) !== place.partition) {
      throw new GoneError(`${where}, which was renamed before it was locked,`);
    }
    sim.note(name, `${kind} ${where} in txnid:${transaction.txnId} snapshot ${transaction.validTxns}`);
    if (kind === 'read') await this.readLate(transaction, table, place);
    else if (kind === 'insert' || kind === 'overwrite') await this.insert(transaction, table, kind, place);
    else await this.change(transaction, table, kind, place);
    return nothing;
  }

  /** Some look long after their snapshot was taken: the Cleaner must wait for them. */
  private async readLate(transaction: StatementTransaction, table: Table, place: Place | undefined): Promise<void> {
    const { random } = this.process.sim;
    if (random.chance(0.4)) await this.process.clock.sleep(random.between(0, random.pick([10_000, 10_000, 60_000])));
    const places =
      place === undefined ? (await this.partitions()).map((partition) => ({ table: 't', partition })) : [place];
    for (const one of places) await this.read(transaction, table, one);
  }

  private async insert(
    transaction: StatementTransaction,
    table: Table,
    kind: 'insert' | 'overwrite',
    place: Place | undefined,
  ): Promise<void> {
    const { random } = this.process.sim;
    const rows = this.newRows(1 + random.below(3));
    const values = ['a', 'b', ...(random.chance(0.3) ? [`y${this.newRow()}`] : [])];
    const placed =
      place === undefined
        ? rows.map((row) => [row, random.pick(values)] as const)
        : rows.map((row) => [row, ''] as const);
    const places = place === undefined ? [...new Set(placed.map(([, value]) => value))].map(partitionOf) : [place];
    const overwrite = kind === 'overwrite';
    // What it will remove row by row: as the statement itself does, by what it sees.
    const byDeletes = overwrite && overwritesByDeletes(transaction, table);
    const old = new Map<string, readonly FoundRow[]>();
    for (const one of byDeletes ? places : []) old.set(placeName(one), await this.read(transaction, table, one));
    const partition = place === undefined ? [undefined] : keysOf(place);
    const dynamicKeys = place === undefined ? table.partitionKeys : [];
    const shape = { table, partition, dynamicKeys, given: [], written: [] };
    const batches = (async function* () {
      yield place === undefined ? rowsToPlace(placed) : rowsToWrite(rows);
    })();
    await insertRows(this.context, transaction, shape, overwrite, batches);
    const writeId = await transaction.writeIdOf('default', table.name);
    for (const one of places) {
      const value = one.partition?.slice(2);
      this.history.did(transaction.txnId, {
        place: placeName(one),
        writeId,
        removed: (old.get(placeName(one)) ?? []).map(({ row }) => row),
        added: placed.filter(([, of]) => place !== undefined || of === value).map(([row]) => row),
        clears:
          overwrite && !byDeletes ? (letsInsertsPass(this.context.conf, 'overwrite') ? 'older' : 'all') : undefined,
      });
    }
  }

  private async change(
    transaction: StatementTransaction,
    table: Table,
    kind: 'update' | 'delete' | 'merge',
    place: Place | undefined,
  ): Promise<void> {
    const { random } = this.process.sim;
    const places = place === undefined ? ['a', 'b'].map(partitionOf) : [place];
    const changes: Change[] = [];
    for (const one of places) {
      const rows = await this.read(transaction, table, one);
      const removed = rows.filter(() => random.chance(2 / Math.max(1, rows.length)));
      const added = kind === 'delete' ? [] : this.newRows(removed.length + (kind === 'merge' ? 1 : 0));
      changes.push({ place: one, removed, added });
    }
    await this.write(transaction, table, changes, place === undefined);
    const writeId = await transaction.writeIdOf('default', table.name);
    for (const { place: at, removed, added } of changes) {
      const numbers = removed.map(({ row }) => row);
      this.history.did(transaction.txnId, { place: placeName(at), writeId, removed: numbers, added });
    }
  }

  private async write(
    transaction: StatementTransaction,
    table: Table,
    changes: readonly Change[],
    isDynamic: boolean,
  ): Promise<void> {
    const dynamic = isDynamic ? { dynamicOperation: DataOperation.DATA_OPERATION_UPDATE } : {};
    const open = (kind: 'delete' | 'insert') =>
      TableWriter.open(this.context, transaction, {
        table,
        statementId: transaction.nextStatementId(),
        kind,
        ...dynamic,
      });
    const deletes = await open('delete');
    const inserts = await open('insert');
    try {
      for (const { place, removed, added } of changes) {
        if (removed.length > 0) await deletes.write(idsToDelete(removed), removed.length, keysOf(place));
        if (added.length > 0) await inserts.write(rowsToWrite(added), added.length, keysOf(place));
      }
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
    const { history } = this;
    const { sim } = this.process;
    const root = table.sd?.location ?? '';
    const location = place.partition === undefined ? root : `${root}/${place.partition}`;
    const { validTxns, txnId } = transaction;
    let rows: FoundRow[];
    try {
      const validWriteIds = await transaction.validWriteIdsOf('default', table.name);
      const own = transaction.ownWritesIn('default', table.name, location);
      rows = await readRows(this.context.services.fs, location, { validTxns, validWriteIds }, table, own);
    } catch (error) {
      const isExcused = await this.isVoid(transaction, place);
      if (isExcused || (error instanceof SkepError && EXPECTED_CODES.has(error.code))) {
        throw new SkepError('STORAGE', 'unavailable', `read of ${placeName(place)} given up`, { cause: error });
      }
      sim.violated(`txnid:${txnId} cannot read ${placeName(place)} by ${validTxns}: ${String(error)}`);
      throw error;
    }
    if (await this.isVoid(transaction, place)) return [];
    const expected = await history.expected(placeName(place), validTxns, txnId, this.earliest);
    const found = rows.map((row) => row.row).sort((a, b) => a - b);
    history.checkedReads++;
    if (found.join() !== expected.join()) {
      sim.violated(`txnid:${txnId} by ${validTxns} sees ${found} in ${placeName(place)} instead of ${expected}`);
    }
    for (const fault of faultsOf(rows)) sim.violated(`txnid:${txnId} in ${placeName(place)}: ${fault}`);
    return rows;
  }

  /** Its transaction has been aborted from outside, or the partition is being dropped: what it sees means nothing. */
  private async isVoid({ txnId, validTxns }: StatementTransaction, place: Place): Promise<boolean> {
    return this.history.isDoomed(placeName(place), validTxns) || (await this.history.stateOf(txnId)) !== 'o';
  }

  private newRows(count: number): number[] {
    return Array.from({ length: count }, () => this.newRow());
  }
}

const keysOf = ({ partition }: Place): string[] => (partition === undefined ? [] : [partition.slice(2)]);
const partitionOf = (value: string): Place => ({ table: 't', partition: `p=${value}` });

function writesOf(kind: Kind, transaction: StatementTransaction, table: Table): WriteEntity['kind'][] {
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
      return [overwriteKind(transaction, table)];
    case 'read':
      return [];
  }
}
