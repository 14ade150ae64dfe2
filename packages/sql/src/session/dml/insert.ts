import type { StructVector } from '@skep/orc';
import type { Constraint } from '@skep/rpc';
import { DataOperation, type Partition, type Table, TxnType } from '@skep/rpc';
import type {
  InsertDirectory,
  InsertStatement,
  InsertTable,
  InsertTarget,
  MultiInsertStatement,
  Query,
  TableName,
} from '../../parse/ast.js';
import { resolveTable, type SessionContext } from '../context.js';
import { SemanticError } from '../errors.js';
import { nameOf } from '../partition/partitions.js';
import type { StatementResult } from '../result.js';
import { analyzeInSession, queryRows, type SessionAnalysis } from '../scan/select.js';
import { isTransactional, type ReadEntity, type WriteEntity, type WriteKind } from '../transaction/lock-plan.js';
import { lockRebuild } from '../transaction/rebuild-lock.js';
import { runStatement } from '../transaction/run-statement.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';
import { directoryShape } from './insert-directory.js';
import {
  bucketOrder,
  checkColumnCount,
  type InsertShape,
  insertQuery,
  insertShape,
  refuseOtherNested,
  resolveDefaults,
  withConstraintColumns,
} from './insert-query.js';
import { deleteAllRows, overwriteKind, overwritesByDeletes, refuseOverwriteOfUnseen } from './overwrite.js';
import { TableWriter } from './table-writer.js';
import { columnsAsStruct, enforce } from './write-rows.js';

/** One INSERT made ready: its query analysed, its target known. */
interface PreparedInsert {
  readonly shape: InsertShape;
  readonly overwrite: boolean;
  readonly analysis: SessionAnalysis;
  readonly checks: readonly Constraint[];
  readonly isDirectory?: boolean;
}

/** INSERT INTO | OVERWRITE. */
export async function insert(
  context: SessionContext,
  statement: InsertStatement,
  text: string,
  signal?: AbortSignal,
): Promise<StatementResult> {
  return await runInserts(context, legsOf(statement), text, signal);
}

/** FROM s INSERT … SELECT … INSERT … SELECT …: all legs in one transaction, each with its own statement id. */
export async function multiInsert(
  context: SessionContext,
  statement: MultiInsertStatement,
  text: string,
  signal?: AbortSignal,
): Promise<StatementResult> {
  return await runInserts(context, legsOf(statement), text, signal);
}

/** ALTER MATERIALIZED VIEW … REBUILD: its query once more, in place of the rows it has. */
export async function rebuildMaterializedView(
  context: SessionContext,
  view: TableName,
  { database, name }: Table,
  query: Query,
  text: string,
  signal?: AbortSignal,
): Promise<StatementResult> {
  const { position } = view;
  const quoted = (text: string) => ({ name: text, quoted: true, position });
  const { fields } = await analyzeInSession(context, query, text);
  const target: InsertTable = {
    kind: 'table',
    overwrite: true,
    table: { database: quoted(database), name: quoted(name), position },
    ifNotExists: false,
    columns: fields.map((field) => quoted(field.name)),
    position,
  };
  return await runInserts(context, [{ target, query }], text, signal, true);
}

/** What an INSERT reads and writes, and the query behind each of its targets. */
export async function planInserts(
  context: SessionContext,
  statement: InsertStatement | MultiInsertStatement,
  text: string,
): Promise<readonly { readonly analysis: SessionAnalysis; readonly write: WriteEntity }[]> {
  const planned: { analysis: SessionAnalysis; write: WriteEntity }[] = [];
  for (const { target, query } of legsOf(statement)) {
    if (target.kind === 'directory') continue;
    const leg = await prepareInsert(context, target, query, text);
    planned.push({ analysis: leg.analysis, write: writeEntity(leg) });
  }
  return planned;
}

const legsOf = (statement: InsertStatement | MultiInsertStatement): { target: InsertTarget; query: Query }[] =>
  statement.kind === 'insert'
    ? [{ target: statement.target, query: statement.query }]
    : statement.branches.map(({ target, query }) => ({
        target,
        query: { ...query, with: [...statement.with, ...query.with] },
      }));

async function runInserts(
  context: SessionContext,
  legs: readonly { target: InsertTarget; query: Query }[],
  text: string,
  signal?: AbortSignal,
  rebuild = false,
): Promise<StatementResult> {
  return await runStatement(
    context,
    async (transaction) => {
      const prepared: PreparedInsert[] = [];
      const seen = new Set<string>();
      for (const { target, query } of legs) {
        if (target.kind === 'directory') {
          prepared.push(await prepareDirectory(context, target, query, text));
          continue;
        }
        const leg = await prepareInsert(context, target, query, text, rebuild);
        if (rebuild && context.onlyLocks === undefined && isTransactional(leg.shape.table)) {
          await lockRebuild(context.services, transaction, leg.shape.table);
        }
        const output = `${leg.shape.table.name}${partitionName(leg.shape) === undefined ? '' : `@${partitionName(leg.shape)}`}`;
        if (seen.has(output)) {
          // Hive has allocated the table's write id by now, and a failed statement does not give it back.
          await transaction.writeIdOf(leg.shape.table.database, leg.shape.table.name);
          throw new SemanticError(10087, `The same output cannot be present multiple times:  ${leg.shape.table.name}`);
        }
        seen.add(output);
        prepared.push(leg);
      }
      return {
        reads: prepared.flatMap((leg): readonly ReadEntity[] => leg.analysis.reads),
        writes: prepared
          .filter((leg) => !leg.isDirectory)
          .map((leg) => writeEntity(leg, overwriteKind(transaction, leg.shape.table))),
        run: async (running) => {
          let inserted = 0n;
          for (const leg of prepared) inserted += await runLeg(context, running, leg, signal);
          return { messages: [], counts: { inserted, updated: 0n, deleted: 0n } };
        },
      };
    },
    { signal, ...(rebuild ? { type: TxnType.TXN_TYPE_MATER_VIEW_REBUILD } : {}) },
  );
}

function partitionName(shape: InsertShape): string | undefined {
  if (shape.partition.length === 0 || shape.partition.includes(undefined)) return undefined;
  return nameOf(shape.table, shape.partition.map(String));
}

export function writeEntity(
  leg: Pick<PreparedInsert, 'shape' | 'overwrite'>,
  overwriting: WriteKind = 'insert-overwrite',
): WriteEntity {
  const name = partitionName(leg.shape);
  return {
    table: leg.shape.table,
    kind: leg.overwrite ? overwriting : 'insert',
    ...(name === undefined ? {} : { partitions: [name] }),
    dynamicPartitions: leg.shape.dynamicKeys.length > 0,
  };
}

async function prepareInsert(
  context: SessionContext,
  target: InsertTable,
  query: Query,
  text: string,
  rebuild = false,
): Promise<PreparedInsert> {
  const table = await resolveTable(context, target.table);
  if (!rebuild) refuseViews(table, target);
  const nonstrict = rebuild || context.conf.get('hive.exec.dynamic.partition.mode') !== 'strict';
  const shape = insertShape(table, target, nonstrict);
  if (shape.dynamicKeys.length > 0 && !context.conf.getBoolean('hive.exec.dynamic.partition')) {
    throw new SemanticError(
      10095,
      'Dynamic partition is disabled. Either enable it by setting hive.exec.dynamic.partition=true or specify partition column values',
      { position: target.position },
    );
  }
  const source = resolveDefaults(shape, query);
  // Analysed by itself first: its columns are counted, and its errors speak of the user's own text.
  const counted = await analyzeInSession(context, source, text);
  checkColumnCount(shape, target, counted.columns.length);
  refuseOtherNested(shape, target, counted.columns);
  const { query: rows, checks } = withConstraintColumns(
    table,
    insertQuery(shape, source),
    shape.written.map((column) => column.name),
  );
  const ordered = { ...rows, orderBy: bucketOrder(table, query.position) };
  return { shape, overwrite: target.overwrite, analysis: await analyzeInSession(context, ordered, text), checks };
}

async function prepareDirectory(
  context: SessionContext,
  target: InsertDirectory,
  query: Query,
  text: string,
): Promise<PreparedInsert> {
  const analysis = await analyzeInSession(context, query, text);
  return {
    shape: directoryShape(context, target, analysis.fields),
    overwrite: true,
    analysis,
    checks: [],
    isDirectory: true,
  };
}

function refuseViews(table: Table, target: InsertTable): void {
  if (table.tableType !== 'VIRTUAL_VIEW' && table.tableType !== 'MATERIALIZED_VIEW') return;
  throw new SemanticError(10090, `You cannot insert into a view: ${table.name}`, { position: target.table.position });
}

async function runLeg(
  context: SessionContext,
  transaction: StatementTransaction,
  leg: PreparedInsert,
  signal?: AbortSignal,
): Promise<bigint> {
  const { shape, overwrite, analysis, checks } = leg;
  const rows = async function* checked() {
    for await (const batch of queryRows(context, transaction, analysis, signal)) {
      enforce(shape.table, checks, batch.children.slice(shape.written.length));
      yield batch;
    }
  };
  return await insertRows(context, transaction, shape, overwrite, rows(), signal);
}

/** Writes batches of the shape's `written` columns. Answers how many rows. */
export async function insertRows(
  context: SessionContext,
  transaction: StatementTransaction,
  shape: InsertShape,
  overwrite: boolean,
  batches: AsyncIterable<StructVector>,
  signal?: AbortSignal,
): Promise<bigint> {
  const { table } = shape;
  const dynamicOperation = overwrite ? DataOperation.DATA_OPERATION_UPDATE : DataOperation.DATA_OPERATION_INSERT;
  const dynamic = shape.dynamicKeys.length === 0 ? {} : { dynamicOperation };
  const open = async (kind: 'insert' | 'overwrite' | 'delete') =>
    await TableWriter.open(context, transaction, {
      table,
      statementId: transaction.nextStatementId(),
      kind,
      ...dynamic,
    });
  const byDeletes = overwrite && overwritesByDeletes(transaction, table);
  const deletes = byDeletes ? await open('delete') : undefined;
  const writer = await open(overwrite && !byDeletes ? 'overwrite' : 'insert');
  const names = (table.sd?.columns ?? []).map((column) => column.name);
  try {
    for await (const batch of batches) {
      let dynamicKey = names.length;
      const keys = shape.partition.map((value) => value ?? batch.children[dynamicKey++]);
      const rows = columnsAsStruct(names, batch.children.slice(0, names.length), batch.length);
      await writer.write(rows, batch.length, keys);
    }
    if (overwrite && shape.dynamicKeys.length === 0) await writer.touch(shape.partition.map(String));
    const result = await writer.close();
    if (deletes !== undefined) {
      const partitions = await writtenPartitions(context, table, writer.partitions);
      await deleteAllRows(context, transaction, table, partitions, deletes, signal);
      await deletes.close();
    } else if (overwrite) await refuseOverwriteOfUnseen(context, transaction, table, writer.partitions);
    return BigInt(result.insertedRows);
  } catch (error) {
    await writer.abort();
    await deletes?.abort();
    throw error;
  }
}

/** Of a table without partition columns: itself. */
async function writtenPartitions(
  context: SessionContext,
  table: Table,
  names: readonly string[],
): Promise<readonly (Partition | undefined)[]> {
  if (table.partitionKeys.length === 0) return [undefined];
  if (names.length === 0) return [];
  const { partitions } = await context.services.catalog.getPartitions({
    database: table.database,
    table: table.name,
    names: [...names],
  });
  return partitions;
}
