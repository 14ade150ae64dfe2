import { type FieldSchema, LockType } from '@skep/rpc';
import type { CreateTableStatement } from '../parse/ast.js';
import { findTable, qualify, requireDatabase, type SessionContext } from './context.js';
import { alreadyExists, defineTable } from './create-table.js';
import { SemanticError } from './errors.js';
import { databaseLock } from './lock-plan.js';
import type { StatementResult } from './result.js';
import { runStatement } from './run-statement.js';
import { analyzeInSession, queryRows } from './select.js';
import { TableWriter } from './table-writer.js';
import { done } from './text-result.js';
import { columnsAsStruct } from './write-rows.js';

/** CREATE TABLE … AS SELECT: the table appears with its rows, or (the query fails) not at all. */
export async function createTableAsSelect(
  context: SessionContext,
  statement: CreateTableStatement,
  text: string,
  signal?: AbortSignal,
): Promise<StatementResult> {
  const { query } = statement;
  if (query === undefined) throw new SemanticError(10000, 'CREATE TABLE AS SELECT without a query');
  const { database, table: name } = qualify(context, statement.table);
  return await runStatement(
    context,
    async () => {
      if (statement.table.database !== undefined) await requireDatabase(context, statement.table.database);
      const existing = await findTable(context, database, name);
      const analysis = await analyzeInSession(context, query, text);
      const columns = analysis.columns.map(
        (column, i): FieldSchema => ({
          name: columnName(column.name, i),
          type: column.type === 'void' ? 'string' : column.type,
          comment: undefined,
        }),
      );
      const table = await defineTable(context, statement, text, columns);
      return {
        reads: analysis.reads,
        writes: [{ table, kind: 'ctas' }],
        otherLocks: [databaseLock(database, LockType.LOCK_TYPE_SHARED_READ)],
        run: async (transaction) => {
          if (existing !== undefined) {
            if (statement.ifNotExists) return done;
            throw alreadyExists(database, name);
          }
          const { catalog, fs } = context.services;
          const location = table.sd?.location ?? '';
          const isNew = !(await fs.stat(location));
          await fs.mkdirs(location);
          const writer = await TableWriter.open(context, transaction, {
            table,
            statementId: transaction.nextStatementId(),
            kind: 'insert',
          });
          try {
            const data = (table.sd?.columns ?? []).map((column) => column.name);
            const positionOf = (column: string) => columns.findIndex((c) => c.name === column);
            for await (const batch of queryRows(context, transaction, analysis, signal)) {
              const rows = columnsAsStruct(
                data,
                data.map((column) => batch.children[positionOf(column)]),
                batch.length,
              );
              const keys = table.partitionKeys.map((key) => batch.children[positionOf(key.name)]);
              await writer.write(rows, batch.length, keys);
            }
            await catalog.createTable({ table });
          } catch (error) {
            await writer.abort();
            if (isNew) await fs.delete(location, { recursive: true });
            throw error;
          }
          const result = await writer.close();
          return { messages: [], counts: { inserted: BigInt(result.insertedRows), updated: 0n, deleted: 0n } };
        },
      };
    },
    { signal },
  );
}

/** A column without a name of its own gets Hive's `_c0`; a qualified one loses its qualifier. */
const columnName = (name: string, index: number): string =>
  (name === '' ? `_c${index}` : name.replace(/^.*\./, '')).toLowerCase();
