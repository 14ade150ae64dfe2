import { allDone } from '@skep/core';
import { type Constraint, DataOperation, type Table } from '@skep/rpc';
import type { Assignment, DeleteStatement, Expression, TableReference, UpdateStatement } from '../../parse/ast.js';
import { parseTypeText } from '../../parse/index.js';
import { castTo, columnRef, item, selectQuery } from '../ast-builders.js';
import { resolveTable, type SessionContext } from '../context.js';
import { SemanticError } from '../errors.js';
import type { StatementResult } from '../result.js';
import { analyzeInSession, queryRows, type SessionAnalysis } from '../scan/select.js';
import {
  isFullAcid,
  isInsertOnly,
  isTransactional,
  type ReadEntity,
  type WriteEntity,
} from '../transaction/lock-plan.js';
import { runStatement } from '../transaction/run-statement.js';
import { refuseWithoutAcid } from '../transaction/statement-locks.js';
import { bucketOrder, defaultOf, withConstraintColumns } from './insert-query.js';
import { TableWriter } from './table-writer.js';
import { deleteAll } from './truncate.js';
import { columnsAsStruct, enforce, rowIdsOf } from './write-rows.js';

/** The name under which the queries behind UPDATE, DELETE and MERGE hand out ROW__ID. */
const rowIdAlias = '_row_id';

/** An UPDATE or DELETE made ready: the query of the rows it changes. */
export interface ChangePlan {
  readonly table: Table;
  readonly analysis: SessionAnalysis;
  readonly checks: readonly Constraint[];
}

/** The new rows, their partition and ROW__ID, and tests of constraints. */
export async function planUpdate(
  context: SessionContext,
  statement: UpdateStatement,
  text: string,
): Promise<ChangePlan> {
  const table = await requireFullAcid(context, await resolveTable(context, statement.table), 'update');
  const assignments = checkAssignments(table, statement.assignments);
  const { position } = statement;
  const columns = table.sd?.columns ?? [];
  const values = columns.map((column) => {
    const assigned = assignments.get(column.name);
    const value = assigned ?? columnRef([table.name, column.name], position);
    return item(assigned === undefined ? value : castTo(value, parseTypeText(column.type)), column.name);
  });
  const keys = table.partitionKeys.map((key) => item(columnRef([table.name, key.name], position), key.name));
  const rowId = item(columnRef([table.name, 'ROW__ID'], position), rowIdAlias);
  const rows = selectQuery([...values, ...keys, rowId], targetTable(statement, table), statement.where, position);
  const names = [...columns, ...table.partitionKeys].map((column) => column.name);
  const { query, checks } = withConstraintColumns(table, rows, [...names, rowIdAlias]);
  const ordered = { ...query, orderBy: bucketOrder(table, position) };
  return { table, analysis: await analyzeInSession(context, ordered, text), checks };
}

/** The partition and ROW__ID of the rows that go. */
export async function planDelete(
  context: SessionContext,
  statement: DeleteStatement,
  text: string,
): Promise<ChangePlan> {
  const table = await requireFullAcid(context, await resolveTable(context, statement.table), 'delete');
  const { position } = statement;
  const keys = table.partitionKeys.map((key) => item(columnRef([table.name, key.name], position), key.name));
  const rowId = item(columnRef([table.name, 'ROW__ID'], position), rowIdAlias);
  const query = selectQuery([...keys, rowId], targetTable(statement, table), statement.where, position);
  return { table, analysis: await analyzeInSession(context, query, text), checks: [] };
}

/** UPDATE t SET … WHERE …: a delete event and a new row each; two statement ids, deletes first, as Hive 4 splits it. */
export async function update(
  context: SessionContext,
  statement: UpdateStatement,
  text: string,
  signal?: AbortSignal,
): Promise<StatementResult> {
  return await runStatement(
    context,
    async () => {
      const { table, analysis, checks } = await planUpdate(context, statement, text);
      const data = (table.sd?.columns ?? []).map((column) => column.name);
      return {
        ...entities(table, analysis, 'update'),
        run: async (transaction) => {
          const dynamicOperation = DataOperation.DATA_OPERATION_UPDATE;
          const deleteId = transaction.nextStatementId();
          const insertId = transaction.nextStatementId();
          const deletes = await TableWriter.open(context, transaction, {
            table,
            statementId: deleteId,
            kind: 'delete',
            dynamicOperation,
          });
          const inserts = await TableWriter.open(context, transaction, {
            table,
            statementId: insertId,
            kind: 'insert',
            dynamicOperation,
          });
          try {
            for await (const batch of queryRows(context, transaction, analysis, signal)) {
              const at = data.length + table.partitionKeys.length;
              enforce(table, checks, batch.children.slice(at + 1));
              const partition = batch.children.slice(data.length, at);
              await deletes.write(rowIdsOf(batch.children[at]), batch.length, partition);
              await inserts.write(
                columnsAsStruct(data, batch.children.slice(0, data.length), batch.length),
                batch.length,
                partition,
              );
            }
            const [{ deletedRows }] = await allDone([deletes.close(), inserts.close()]);
            return { messages: [], counts: { inserted: 0n, updated: BigInt(deletedRows), deleted: 0n } };
          } catch (error) {
            await deletes.abort();
            await inserts.abort();
            throw error;
          }
        },
      };
    },
    { signal },
  );
}

/** DELETE FROM t WHERE …. */
export async function deleteRows(
  context: SessionContext,
  statement: DeleteStatement,
  text: string,
  signal?: AbortSignal,
): Promise<StatementResult> {
  if (statement.where === undefined) {
    const { position, table } = statement;
    // A session without transactions may run a TRUNCATE, not a DELETE.
    const target = await resolveTable(context, table);
    refuseWithoutAcid(context, { reads: [], writes: [{ table: target, kind: 'delete' }] });
    return await deleteAll(context, { kind: 'truncate', table, force: false, position }, signal);
  }
  return await runStatement(
    context,
    async () => {
      const { table, analysis } = await planDelete(context, statement, text);
      return {
        ...entities(table, analysis, 'delete'),
        run: async (transaction) => {
          const deletes = await TableWriter.open(context, transaction, {
            table,
            statementId: transaction.nextStatementId(),
            kind: 'delete',
            dynamicOperation: DataOperation.DATA_OPERATION_DELETE,
          });
          try {
            for await (const batch of queryRows(context, transaction, analysis, signal)) {
              const at = table.partitionKeys.length;
              await deletes.write(rowIdsOf(batch.children[at]), batch.length, batch.children.slice(0, at));
            }
            const { deletedRows } = await deletes.close();
            return { messages: [], counts: { inserted: 0n, updated: 0n, deleted: BigInt(deletedRows) } };
          } catch (error) {
            await deletes.abort();
            throw error;
          }
        },
      };
    },
    { signal },
  );
}

function targetTable(statement: UpdateStatement | DeleteStatement, table: Table): TableReference {
  const { position } = statement.table;
  const name = (text: string) => ({ name: text, quoted: true, position });
  return {
    kind: 'table',
    table: { database: name(table.database), name: name(table.name), position },
    position,
  };
}

/** Locks: each partition the plan reads, or the table; what it reads besides. */
export function entities(
  table: Table,
  analysis: SessionAnalysis,
  kind: 'update' | 'delete',
): { reads: readonly ReadEntity[]; writes: readonly WriteEntity[] } {
  return { reads: analysis.reads, writes: [{ table, kind, ...changedPartitions(table, analysis) }] };
}

/** Where rows change: in the partitions that the plan reads, or who knows in which. */
export function changedPartitions(
  table: Table,
  { reads }: SessionAnalysis,
): Pick<WriteEntity, 'partitions' | 'dynamicPartitions'> {
  const own = reads.find((read) => read.table.database === table.database && read.table.name === table.name);
  const partitions = own?.partitions ?? [];
  return partitions.length === 0 ? { dynamicPartitions: table.partitionKeys.length > 0 } : { partitions };
}

/** UPDATE, DELETE and MERGE want a full ACID table and say what else it is. */
export async function requireFullAcid(context: SessionContext, table: Table, verb: string): Promise<Table> {
  if (context.conf.get('hive.txn.manager')?.endsWith('DummyTxnManager')) {
    throw new SemanticError(
      10294,
      `Attempt to do ${verb === 'merge' ? 'update or delete' : 'update or delete'} using transaction manager that does not support these operations.`,
    );
  }
  if (table.tableType === 'VIRTUAL_VIEW' || table.tableType === 'MATERIALIZED_VIEW') {
    throw new SemanticError(10402, `You cannot update or delete records in a view: ${table.name}`);
  }
  if (isInsertOnly(table)) {
    throw new SemanticError(
      10414,
      `Attempt to do update or delete on table ${table.database}.${table.name} that is insert-only transactional`,
    );
  }
  if (!isTransactional(table) || !isFullAcid(table)) {
    throw new SemanticError(10297, `Attempt to do update or delete on table ${table.name} that is not transactional`);
  }
  return table;
}

/** The assignments by column, DEFAULT resolved; refused are columns that are not there, partition and bucket columns. */
export function checkAssignments(table: Table, assignments: readonly Assignment[]): Map<string, Expression> {
  const values = new Map<string, Expression>();
  for (const { column, value, position } of assignments) {
    const name = column.name.toLowerCase();
    if (table.partitionKeys.some((key) => key.name === name)) {
      throw new SemanticError(10292, 'Updating values of partition columns is not supported', { position });
    }
    if (!table.sd?.columns.some((c) => c.name === name)) {
      throw new SemanticError(
        10408,
        `Target column "${column.name}" of set clause is not found in table "${table.database}.${table.name}".`,
        { position },
      );
    }
    if (table.sd.bucketColumns.includes(name)) {
      throw new SemanticError(10302, `Updating values of bucketing columns is not supported.  Column ${name}.`, {
        position,
      });
    }
    // Of a column that is set twice the last value counts (recorded of Hive 4.0.1).
    values.set(name, value.kind === 'default' ? defaultOf(table, name, position) : value);
  }
  return values;
}
