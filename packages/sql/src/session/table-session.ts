import type { RowIdVectors } from '@skep/acid';
import type { Configuration } from '@skep/config';
import { allDone, BugError } from '@skep/core';
import type { Sarg, StructVector } from '@skep/orc';
import { DataOperation, type Table } from '@skep/rpc';
import { parseStatement, quoteString } from '../parse/index.js';
import { QueryEngine } from '../query.js';
import { findTable, type SessionContext } from './context.js';
import { alterTable } from './ddl/alter-table.js';
import { givenFields, type IncomingColumn, IncomingRows } from './dml/incoming-rows.js';
import { insertRows, writeEntity } from './dml/insert.js';
import type { InsertShape } from './dml/insert-query.js';
import { overwriteKind } from './dml/overwrite.js';
import { requireSameRowIds, requireSeenRows } from './dml/seen-rows.js';
import { TableWriter } from './dml/table-writer.js';
import { requireFullAcid } from './dml/update-delete.js';
import { columnsAsStruct } from './dml/write-rows.js';
import { SemanticError, tableNotFound, UnsupportedError } from './errors.js';
import { finishingMoves } from './folder-moves.js';
import { canonicalPartitionText } from './partition/partition-value.js';
import { nameOf, normalizePartitionValue } from './partition/partitions.js';
import { planTableSplits, type TableSplit } from './scan/split-scan.js';
import { readPartitions } from './scan/table-scan.js';
import { ScanProgress } from './scan-progress.js';
import type { Services } from './services.js';
import { TemporaryTables } from './temporary-tables.js';
import { conflictError, ExplicitTransaction } from './transaction/explicit-transaction.js';
import { isFullAcid, isTransactional } from './transaction/lock-plan.js';
import { runStatement } from './transaction/run-statement.js';
import type { StatementTransaction } from './transaction/statement-transaction.js';

/** Where rows are written to. */
export interface WriteTarget {
  readonly table: Table;
  /** Partition columns with one value for all rows, null for the default partition; the others are columns of the rows. */
  readonly partition: Readonly<Record<string, string | null>>;
  readonly given: readonly IncomingColumn[];
  /** The snapshot by which rows to change were read (Hive's ValidTxnList as text): what was changed since is a conflict. */
  readonly validTxns?: string;
  /** As `validTxns`, but only a rebalance since then is a conflict: it gave rows other ROW__IDs. */
  readonly readBy?: string;
}

/** Some events: rows to add, rows to take away. Both have their partition columns at the end. */
export interface RowChanges {
  readonly deleted?: { readonly rowIds: RowIdVectors; readonly length: number; readonly keys: StructVector };
  /** New rows, and new versions of rows in `deleted`. */
  readonly written?: StructVector;
}

/** What a write did. */
export interface WriteOutcome {
  readonly txnId: bigint;
  /** Absent: the table is not transactional. */
  readonly writeId?: bigint;
  readonly inserted: bigint;
  readonly deleted: bigint;
}

/** A table as a transaction sees it. */
export interface TableSnapshot {
  readonly txnId: bigint;
  readonly validTxns: string;
  /** Absent: the table is not transactional. */
  readonly writeIds?: string;
  readonly splits: readonly TableSplit[];
}

/**
 * Tables without HiveQL: read split by split, written from batches, with the locks, snapshots and conflicts of statements. What
 * @skep/data is made of. Each write is a transaction of its own unless `begin` was called; reads need `begin`.
 */
export class TableSession {
  private readonly context: SessionContext;

  constructor(services: Services, conf: Configuration, engine: QueryEngine = new QueryEngine(conf)) {
    this.context = {
      services: { ...services, catalog: finishingMoves(services) },
      conf,
      engine,
      progress: new ScanProgress(),
      temporary: new TemporaryTables(),
      currentDatabase: 'default',
      autocommit: true,
    };
  }

  /** Begins a transaction, which keeps its id and (unless it only reads) its snapshot from now on. */
  async begin({ readOnly }: { readonly readOnly: boolean }): Promise<bigint> {
    const transaction = await ExplicitTransaction.start(this.context, readOnly, { snapshot: !readOnly });
    this.context.transaction = transaction;
    return transaction.txnId;
  }

  get txnId(): bigint | undefined {
    return this.context.transaction?.txnId;
  }

  /** Fails if the transaction was aborted meanwhile. */
  async requireAlive(): Promise<void> {
    await this.context.transaction?.requireAlive();
  }

  async commit(): Promise<void> {
    const { transaction } = this.context;
    this.context.transaction = undefined;
    await transaction?.commit();
  }

  async rollback(): Promise<void> {
    const { transaction } = this.context;
    this.context.transaction = undefined;
    await transaction?.rollback();
  }

  async table(database: string, name: string): Promise<Table> {
    const table = await findTable(this.context, database, name);
    if (table === undefined) throw tableNotFound(`${database}.${name}`);
    if (table.tableType === 'VIRTUAL_VIEW' || table.tableType === 'MATERIALIZED_VIEW') {
      throw new UnsupportedError(`${database}.${name} is a view: reading or writing its files`);
    }
    return table;
  }

  /**
   * The splits of a table: its locks and snapshot last as long as the transaction. `writeIds`: an older snapshot of the table.
   * `lockless`: no lock on a transactional table, whose files an open transaction keeps anyway; a DROP need not wait.
   */
  async read(
    table: Table,
    predicate: readonly Sarg[],
    options: {
      readonly writeIds?: string | undefined;
      readonly lockless?: boolean;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): Promise<TableSnapshot> {
    const { context } = this;
    let snapshot: TableSnapshot | undefined;
    await runStatement(
      context,
      async () => {
        const partitions =
          table.partitionKeys.length === 0 ? [] : (await readPartitions(context, table, predicate)).partitions;
        const run = async (transaction: StatementTransaction) => {
          const own = isTransactional(table)
            ? await transaction.validWriteIdsOf(table.database, table.name)
            : undefined;
          const writeIds = options.writeIds ?? own;
          snapshot = {
            txnId: transaction.txnId,
            validTxns: transaction.validTxns,
            ...(writeIds === undefined ? {} : { writeIds }),
            splits: await planTableSplits(context, transaction, table, predicate, writeIds),
          };
          return { messages: [] };
        };
        const isLocked = !(options.lockless === true && isTransactional(table));
        return { reads: isLocked ? [{ table, partitions }] : [], writes: [], run };
      },
      { signal: options.signal },
    );
    if (snapshot === undefined) throw new BugError('a read that never ran');
    return snapshot;
  }

  /** INSERT INTO or OVERWRITE: all rows or, where it throws, none. */
  async append(
    target: WriteTarget,
    overwrite: boolean,
    batches: AsyncIterable<StructVector>,
    signal?: AbortSignal,
  ): Promise<WriteOutcome> {
    const { context } = this;
    const shape = shapeOf(target);
    const { table } = shape;
    const incoming = await IncomingRows.open(context, shape, target.given);
    let outcome: WriteOutcome | undefined;
    await runStatement(
      context,
      async (transaction) => ({
        reads: [],
        writes: [writeEntity({ shape, overwrite }, overwriteKind(transaction, table))],
        run: async (running) => {
          const converted = async function* converted() {
            for await (const batch of batches) yield await incoming.convert(batch, signal);
          };
          const inserted = await insertRows(context, running, shape, overwrite, converted(), signal);
          signal?.throwIfAborted();
          outcome = { ...(await writtenBy(running, table)), inserted, deleted: 0n };
          return { messages: [] };
        },
      }),
      { signal },
    );
    if (outcome === undefined) throw new BugError('a write that never ran');
    return outcome;
  }

  /** Deletes and new rows in one write of a full ACID table, under the locks and conflicts of an UPDATE. */
  async change(target: WriteTarget, batches: AsyncIterable<RowChanges>, signal?: AbortSignal): Promise<WriteOutcome> {
    const { context } = this;
    const table = await requireFullAcid(context, target.table, 'update');
    const shape = shapeOf(target);
    const incoming = await IncomingRows.open(context, shape, target.given);
    const name = shape.partition.length === 0 || shape.partition.includes(undefined) ? [] : [staticName(shape)];
    let outcome: WriteOutcome | undefined;
    await runStatement(
      context,
      async () => ({
        reads: [],
        writes: [
          {
            table,
            kind: 'update',
            ...(name.length === 0 ? {} : { partitions: name }),
            dynamicPartitions: table.partitionKeys.length > 0 && name.length === 0,
          },
        ],
        run: async (running) => {
          await this.requireUnchanged(running, target);
          const counts = await changeRows(context, running, shape, incoming, batches, signal);
          signal?.throwIfAborted();
          outcome = { ...(await writtenBy(running, table)), ...counts };
          return { messages: [] };
        },
      }),
      { signal },
    );
    if (outcome === undefined) throw new BugError('a write that never ran');
    return outcome;
  }

  /** ALTER TABLE … COMPACT. */
  async compact(
    table: Table,
    options: { readonly type: string; readonly wait: boolean; readonly partition?: Readonly<Record<string, string>> },
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    const name = (text: string) => `\`${text.replaceAll('`', '``')}\``;
    const values = Object.entries(options.partition ?? {}).map(([key, value]) => `${name(key)}=${quoteString(value)}`);
    const partition = values.length === 0 ? '' : ` PARTITION (${values.join(', ')})`;
    const wait = options.wait ? ' AND WAIT' : '';
    const what = `${name(table.database)}.${name(table.name)}${partition}`;
    const text = `ALTER TABLE ${what} COMPACT ${quoteString(options.type)}${wait}`;
    const statement = parseStatement(text);
    if (statement.kind !== 'alter-table') throw new BugError(`${text} is ${statement.kind}`);
    const { messages } = await alterTable(this.context, statement, text, signal);
    return messages;
  }

  /** First committer wins: whoever changed the rows since they were read has won. */
  private async requireUnchanged(
    running: StatementTransaction,
    { table, validTxns, readBy }: WriteTarget,
  ): Promise<void> {
    if (readBy !== undefined) await requireSameRowIds(this.context, running, table, readBy);
    if (validTxns === undefined) return;
    const { txnId } = running;
    const conflict = await this.context.services.txns.getLatestConflictingCommit({ txnId, validTxns, overwritten: [] });
    if (conflict.txnId === undefined) return;
    throw conflictError(txnId, conflict.txnId, conflict.resource ?? { database: table.database, table: table.name });
  }
}

const staticName = ({ table, partition }: InsertShape): string => nameOf(table, partition.map(String));

async function writtenBy(running: StatementTransaction, table: Table) {
  if (!isTransactional(table)) return { txnId: running.txnId };
  return { txnId: running.txnId, writeId: await running.writeIdOf(table.database, table.name) };
}

/** Where rows go, as an INSERT with a column list and a PARTITION clause says it. */
function shapeOf({ table, partition, given }: WriteTarget): InsertShape {
  const data = table.sd?.columns ?? [];
  const keys = table.partitionKeys;
  const where = `${table.database}.${table.name}`;
  const unknown = Object.keys(partition).find((name) => !keys.some((key) => key.name === name));
  if (unknown !== undefined) {
    throw new SemanticError(
      10098,
      `${unknown} is no partition column of ${where}: it has ${keys.map((key) => key.name).join(', ') || 'none'}`,
    );
  }
  const values = keys.map(({ name, type }) => {
    const text = partition[name];
    if (text === undefined) return undefined;
    if (text !== null && text !== '' && canonicalPartitionText(type, text) === undefined) {
      throw new SemanticError(10248, `Partition column ${name} of ${where}: '${text}' is no ${type}`);
    }
    return normalizePartitionValue(text, type);
  });
  const dynamicKeys = keys.filter((_, i) => values[i] === undefined);
  const missing = dynamicKeys.find((key) => !given.some(({ name }) => name === key.name));
  if (missing !== undefined) {
    throw new SemanticError(
      10004,
      `Partition column ${missing.name} of ${where} is neither given for all rows ("partition") nor a column of the rows`,
    );
  }
  const written = [...data, ...dynamicKeys];
  return { table, given: givenFields({ table, written }, given), written, partition: values, dynamicKeys };
}

async function changeRows(
  context: SessionContext,
  running: StatementTransaction,
  shape: InsertShape,
  incoming: IncomingRows,
  batches: AsyncIterable<RowChanges>,
  signal: AbortSignal | undefined,
): Promise<{ inserted: bigint; deleted: bigint }> {
  const { table } = shape;
  const names = (table.sd?.columns ?? []).map((column) => column.name);
  const open = async (kind: 'delete' | 'insert') =>
    await TableWriter.open(context, running, {
      table,
      statementId: running.nextStatementId(),
      kind,
      dynamicOperation: DataOperation.DATA_OPERATION_UPDATE,
    });
  const deletes = await open('delete');
  const inserts = await open('insert');
  const keysOf = (rows: StructVector, from: number) => {
    let at = from;
    return shape.partition.map((value) => value ?? rows.children[at++]);
  };
  try {
    for await (const { deleted, written } of batches) {
      signal?.throwIfAborted();
      if (deleted !== undefined) await deletes.write(deleted.rowIds, deleted.length, keysOf(deleted.keys, 0));
      if (written === undefined || written.length === 0) continue;
      const rows = await incoming.convert(written, signal);
      const data = columnsAsStruct(names, rows.children.slice(0, names.length), rows.length);
      await inserts.write(data, rows.length, keysOf(rows, names.length));
    }
    await requireSeenRows(context, running, table, deletes, signal);
    const [{ deletedRows }, { insertedRows }] = await allDone([deletes.close(), inserts.close()]);
    return { inserted: BigInt(insertedRows), deleted: BigInt(deletedRows) };
  } catch (error) {
    await deletes.abort();
    await inserts.abort();
    throw error;
  }
}

/** Whether a table's rows have ROW__IDs. */
export const hasRowIds = isFullAcid;
