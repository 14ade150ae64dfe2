import type { Configuration } from '@skep/config';
import type {
  Caller,
  DataSource,
  PlannedSplit,
  ReadPlan,
  ReadRequest,
  RowChanges,
  Snapshots,
  SplitRequest,
  TableShape,
  WriteReport,
  WriteRequest,
} from '@skep/flight';
import { TicketExpiredError } from '@skep/flight';
import type { StructVector } from '@skep/orc';
import { type Table, TxnState } from '@skep/rpc';
import {
  hasRowIds,
  isTransactional,
  parseTypeName,
  type QueryEngine,
  readableFormat,
  type Services,
  scanTableSplit,
  TableSession,
  type TableSplit,
  tableSchema,
  toTypeDescription,
} from '@skep/sql';
import type { Logger } from '@skep/telemetry/log';
import { agentInfoAt, notHeld } from './elsewhere.js';
import type { HeldCount } from './figures.js';
import { type Held, HeldTransactions } from './held.js';
import { knownRows } from './known-rows.js';
import { requireCommitted } from './older-snapshot.js';
import { actFor, servicesOf } from './user-services.js';

export interface TableSourceOptions {
  readonly services: Services;
  readonly conf: Configuration;
  readonly engine: QueryEngine;
  /** How long tickets, and with them their snapshot, are kept. */
  readonly ticketMs: number;
  /** Snapshots and transactions of clients that are kept at once, each. */
  readonly maxHeld: number;
  /** Where clients reach this service: others tell it to those who look for a transaction there. */
  readonly address: () => string;
  readonly log: Logger;
}

/** The tables of a metastore as Flight's source: snapshots and transactions are kept here between calls. */
export class TableSource implements DataSource {
  private readonly leases: HeldTransactions;
  private readonly txns: HeldTransactions;

  constructor(private readonly options: TableSourceOptions) {
    const { services, maxHeld, log } = options;
    const shared = { most: maxHeld, clock: services.clock, log };
    this.leases = new HeldTransactions({ ...shared, what: 'snapshots', end: (held) => this.endOf(held, 'commit') });
    this.txns = new HeldTransactions({ ...shared, what: 'transactions', end: (held) => this.endOf(held, 'rollback') });
  }

  async *tables(matches: (database: string, table: string) => boolean, caller: Caller): AsyncGenerator<TableShape> {
    const { catalog } = this.options.services;
    const user = this.userOf(caller);
    const act = <T>(run: () => Promise<T>) => actFor(this.options.services, user, run);
    const { names: databases } = await act(() => catalog.listDatabases({}));
    for (const database of databases) {
      const { names } = await act(() => catalog.listTables({ database }));
      for (const name of names) {
        if (!matches(database, name)) continue;
        caller.signal.throwIfAborted();
        const { table } = await act(() => catalog.getTable({ database, name }));
        if (table !== undefined && isReadable(table)) yield shapeOf(table);
      }
    }
  }

  async table(database: string, table: string, caller: Caller): Promise<TableShape> {
    const user = this.userOf(caller);
    return shapeOf(await actFor(this.options.services, user, () => this.session(user).table(database, table)));
  }

  async plan(request: ReadRequest, caller: Caller): Promise<ReadPlan> {
    const user = this.userOf(caller);
    const { services } = this.options;
    const { signal } = caller;
    return await actFor(services, user, async () => {
      if (request.snapshot.kind === 'transaction') {
        const held = await this.heldTxn(request.snapshot.txnId, user);
        return await this.txns.using(held, () => this.planIn(held.session, request, this.touch(held), signal));
      }
      const session = this.session(user);
      let plan: ReadPlan | undefined;
      await this.leases.add(async () => {
        await session.begin({ readOnly: true });
        try {
          plan = await this.planIn(session, request, services.clock.now() + this.options.ticketMs, signal);
          const { txnId, expiresMs, splits } = plan;
          const table = `${request.database}.${request.table}`;
          this.options.log.debug({ txnId, user, table, splits: splits.length }, 'snapshot kept for tickets');
          return { txnId, user, session, expiresMs };
        } catch (error) {
          await session.rollback();
          throw error;
        }
      });
      return plan as ReadPlan;
    });
  }

  async *read(request: SplitRequest, caller: Caller): AsyncGenerator<StructVector> {
    const { services, conf } = this.options;
    const user = this.userOf(caller);
    const giveUp = await this.keep(request.txnId, user);
    try {
      const rows = scanTableSplit(services.fs, request.handle as TableSplit, {
        columns: request.columns,
        predicate: request.predicate,
        rowIds: request.rowIds,
        batchBytes: request.batchBytes,
        segmentBytes: request.segmentBytes,
        deleteEventsInMemory: conf.getInt('hive.transactional.events.mem'),
      });
      for await (const batch of rows) {
        caller.signal.throwIfAborted();
        yield batch;
      }
    } finally {
      await giveUp();
    }
  }

  async release(txnId: bigint, caller: Caller): Promise<void> {
    await this.end(this.leases, txnId, caller, 'commit');
  }

  async append(
    request: WriteRequest,
    overwrite: boolean,
    batches: AsyncIterable<StructVector>,
    caller: Caller,
  ): Promise<WriteReport> {
    return await this.write(request, caller, (session, table) =>
      session.append({ ...request, table }, overwrite, batches, caller.signal),
    );
  }

  async change(request: WriteRequest, changes: AsyncIterable<RowChanges>, caller: Caller): Promise<WriteReport> {
    return await this.write(request, caller, (session, table) =>
      session.change({ ...request, table }, changes, caller.signal),
    );
  }

  async begin(caller: Caller): Promise<bigint> {
    const user = this.userOf(caller);
    const { services } = this.options;
    return await actFor(services, user, async () => {
      const session = this.session(user);
      const held = await this.txns.add(async () => {
        const txnId = await session.begin({ readOnly: false });
        return { txnId, user, session, expiresMs: services.clock.now() + this.idleMs };
      });
      this.options.log.debug({ txnId: held.txnId, user }, 'transaction begun by a client');
      return held.txnId;
    });
  }

  async commit(txnId: bigint, caller: Caller): Promise<void> {
    await this.end(this.txns, txnId, caller, 'commit');
  }

  async abort(txnId: bigint, caller: Caller): Promise<void> {
    await this.end(this.txns, txnId, caller, 'rollback');
  }

  async heartbeat(txnId: bigint, caller: Caller): Promise<void> {
    const held = await this.heldTxn(txnId, this.userOf(caller));
    this.touch(held);
    await actFor(this.options.services, held.user, () => held.session.requireAlive());
  }

  async compact(request: Parameters<DataSource['compact']>[0], caller: Caller): Promise<readonly string[]> {
    const user = this.userOf(caller);
    return await actFor(this.options.services, user, async () => {
      const session = this.session(user);
      return await session.compact(await session.table(request.database, request.table), request, caller.signal);
    });
  }

  async snapshots(at: { database: string; table: string } | undefined, caller: Caller): Promise<Snapshots> {
    const { txns } = this.options.services;
    const user = this.userOf(caller);
    return await actFor(this.options.services, user, async () => {
      const { validTxns } = await txns.getValidTxns({});
      const tables = at === undefined ? [] : [`${at.database}.${at.table}`];
      if (at !== undefined) await this.session(user).table(at.database, at.table);
      const writeIds =
        at === undefined ? undefined : (await txns.getValidWriteIds({ tables, validTxns })).validWriteIds[0];
      const { txns: known } = await txns.showTxns({});
      const openTxns = known
        .filter(({ state }) => state === TxnState.TXN_STATE_OPEN)
        .map(({ txnId, user: owner, startedMs }) => ({ txnId, user: owner, startedMs }));
      return { validTxns, ...(writeIds === undefined ? {} : { writeIds }), openTxns };
    });
  }

  /** What is kept between calls. */
  held(): HeldCount[] {
    return [this.leases, this.txns].map((kept) => ({ what: kept.what, count: kept.size, most: this.options.maxHeld }));
  }

  /** Snapshots are given up, transactions rolled back. */
  async close(): Promise<void> {
    await this.leases.close();
    await this.txns.close();
    await this.options.engine.close();
  }

  private async write(
    request: WriteRequest,
    caller: Caller,
    run: (session: TableSession, table: Table) => Promise<WriteReport>,
  ): Promise<WriteReport> {
    const user = this.userOf(caller);
    const { services, log } = this.options;
    const startedMs = services.clock.now();
    const { txnId, database, table } = request;
    const report = await actFor(services, user, async () => {
      if (txnId === undefined) {
        const session = this.session(user);
        return await run(session, await session.table(database, table));
      }
      const held = await this.heldTxn(txnId, user);
      return await this.txns.using(held, async () => {
        const done = await run(held.session, await held.session.table(database, table));
        this.touch(held);
        return done;
      });
    });
    const fields = { ...report, table: `${database}.${table}`, user, durationMs: services.clock.now() - startedMs };
    log.info(fields, txnId === undefined ? 'rows written and committed' : 'rows written in a transaction of a client');
    return report;
  }

  private async planIn(
    session: TableSession,
    request: ReadRequest,
    expiresMs: number,
    signal: AbortSignal,
  ): Promise<ReadPlan> {
    const { database, table: name, predicate, snapshot } = request;
    const table = await session.table(database, name);
    const writeIds = snapshot.kind === 'writeIds' ? snapshot.writeIds : undefined;
    // A client that reads a table and then overwrites it must not wait for its own tickets.
    const lockless = snapshot.kind !== 'transaction';
    const found = await session.read(table, predicate, { writeIds, lockless, signal });
    const { fs, txns } = this.options.services;
    if (writeIds !== undefined) {
      const names = [`${table.database}.${table.name}`];
      // After the files were listed: whatever is in them has its write id by now.
      const asked = { tables: names, validTxns: (await txns.getValidTxns({})).validTxns };
      const now = isTransactional(table) ? (await txns.getValidWriteIds(asked)).validWriteIds[0] : undefined;
      requireCommitted(names[0], writeIds, now);
    }
    const rows = await knownRows(fs, found.splits);
    return {
      txnId: found.txnId,
      validTxns: found.validTxns,
      ...(found.writeIds === undefined ? {} : { writeIds: found.writeIds }),
      expiresMs,
      splits: found.splits.map((split, i): PlannedSplit => {
        const known = rows[i];
        return {
          handle: split,
          sizeBytes: split.split.sizeBytes,
          partition: split.keys.map(({ name: key, value }) => `${key}=${value}`).join('/'),
          ...(known === undefined ? {} : { rows: known }),
        };
      }),
    };
  }

  /**
   * The snapshot of a ticket stays as long as the answer's `giveUp` is not called. One that another service keeps is kept on
   * by a transaction of our own: while the other's is open, ours begins with a history that reaches back to it.
   */
  private async keep(txnId: bigint, user: string): Promise<() => Promise<void>> {
    for (const held of [this.leases, this.txns]) {
      const entry = held.get(txnId, user);
      if (entry === undefined) continue;
      entry.uses++;
      return async () => {
        entry.uses--;
      };
    }
    const { services } = this.options;
    return await actFor(services, user, async () => {
      const session = this.session(user);
      await session.begin({ readOnly: true });
      const { states } = await services.txns.getTxnStates({ txnIds: [txnId] });
      if (states[0] === TxnState.TXN_STATE_OPEN) return () => actFor(services, user, () => session.commit());
      await session.rollback();
      throw new TicketExpiredError(`the snapshot of the ticket (txnid:${txnId}) was released or has ended`);
    });
  }

  /** A client's transaction that is kept here. */
  private async heldTxn(txnId: bigint, user: string): Promise<Held> {
    const held = this.txns.get(txnId, user);
    if (held !== undefined) return held;
    throw await actFor(this.options.services, user, () => notHeld(this.options.services, txnId, 'transactions'));
  }

  private async end(from: HeldTransactions, txnId: bigint, caller: Caller, how: 'commit' | 'rollback'): Promise<void> {
    const { services, log } = this.options;
    const user = this.userOf(caller);
    const held = from.take(txnId, user);
    if (held === undefined) throw await actFor(services, user, () => notHeld(services, txnId, from.what));
    await this.endOf(held, how);
    log.debug({ txnId, user }, `${from.what}: one was ended by its client (${how})`);
  }

  private endOf({ session, user }: Held, how: 'commit' | 'rollback'): Promise<void> {
    return actFor(this.options.services, user, () => session[how]());
  }

  /** A transaction that is used lives on. */
  private touch(held: Held): number {
    held.expiresMs = this.options.services.clock.now() + this.idleMs;
    return held.expiresMs;
  }

  private get idleMs(): number {
    return this.options.conf.getServedTimeMs('hive.txn.timeout');
  }

  private session(user: string): TableSession {
    const { services, conf, engine, address } = this.options;
    const agentInfo = agentInfoAt(services.identity.agentInfo, address());
    return new TableSession(servicesOf(services, user, agentInfo), conf, engine);
  }

  private userOf({ user }: Caller): string {
    return user === '' ? this.options.services.identity.user : user;
  }
}

const isReadable = (table: Table): boolean =>
  table.tableType !== 'VIRTUAL_VIEW' &&
  table.tableType !== 'MATERIALIZED_VIEW' &&
  readableFormat(table.sd) !== undefined;

function shapeOf(table: Table): TableShape {
  const schema = tableSchema(table);
  const data = schema.fieldNames.map((name, i) => ({ name, type: schema.children[i] }));
  const keys = table.partitionKeys.map(({ name, type }) => ({ name, type: toTypeDescription(parseTypeName(type)) }));
  return {
    database: table.database,
    table: table.name,
    columns: [...data, ...keys],
    partitionColumns: keys.map(({ name }) => name),
    hasRowIds: hasRowIds(table),
  };
}
