import type { StructVector } from '@skep/orc';
import { type FieldSchema, LockType, type Table } from '@skep/rpc';
import type { FileSystem } from '@skep/storage';
import type { CreateTableStatement } from '../../parse/ast.js';
import { layeredCatalog } from '../catalog-layer.js';
import { findTable, qualify, requireDatabase, type SessionContext } from '../context.js';
import { withoutAccurateStatistics } from '../distrust-statistics.js';
import { TableWriter } from '../dml/table-writer.js';
import { columnsAsStruct } from '../dml/write-rows.js';
import { SemanticError } from '../errors.js';
import type { StatementResult } from '../result.js';
import { analyzeInSession, queryRows } from '../scan/select.js';
import { done } from '../text-result.js';
import { databaseLock } from '../transaction/lock-plan.js';
import { runStatement } from '../transaction/run-statement.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';
import { alreadyExists, defineTable, hides, placeTemporary, registerTable } from './create-table.js';
import { placeNewTable } from './soft-delete.js';

/** CREATE TABLE … AS SELECT: the table appears with its rows, or (the query fails) not at all. `finish` completes its definition. */
export async function createTableAsSelect(
  context: SessionContext,
  statement: CreateTableStatement,
  text: string,
  signal?: AbortSignal,
  finish: (table: Table) => void = () => {},
): Promise<StatementResult> {
  const { query } = statement;
  if (query === undefined) throw new SemanticError(10000, 'CREATE TABLE AS SELECT without a query');
  refuseFixedPlaces(statement);
  const { database, table: name } = qualify(context, statement.table);
  return await runStatement(
    context,
    async ({ txnId }) => {
      if (statement.table.database !== undefined) await requireDatabase(context, statement.table.database);
      const existing = await findTable(context, database, name);
      const analysis = await analyzeInSession(context, query, text);
      const columns = analysis.fields.map(
        ({ name: field, type }): FieldSchema => ({ name: field.toLowerCase(), type }),
      );
      refuseVoid(columns);
      const table = await defineTable(context, statement, text, columns);
      finish(table);
      if (!statement.temporary) await placeNewTable(context, table, txnId, statement.location !== undefined);
      else if (statement.location === undefined) placeTemporary(context, table, txnId);
      return {
        reads: analysis.reads,
        writes: [{ table, kind: 'ctas' }],
        otherLocks: [databaseLock(database, LockType.LOCK_TYPE_SHARED_READ)],
        run: async (transaction) => {
          if (existing !== undefined && hides(context, statement, existing)) {
            if (statement.ifNotExists) return done;
            throw alreadyExists(database, name);
          }
          return await writeNewTable(
            context,
            transaction,
            statement,
            table,
            columns,
            queryRows(context, transaction, analysis, signal),
          );
        },
      };
    },
    { signal },
  );
}

/** Rows first, then the catalog, then the partitions; whatever fails takes all of it back, but nothing of anybody else's. */
async function writeNewTable(
  context: SessionContext,
  transaction: StatementTransaction,
  statement: CreateTableStatement,
  table: Table,
  columns: readonly FieldSchema[],
  batches: AsyncIterable<StructVector>,
): Promise<StatementResult> {
  const { catalog, fs } = context.services;
  const location = table.sd?.location ?? '';
  const data = (table.sd?.columns ?? []).map((column) => column.name);
  const positionOf = (column: string) => columns.findIndex((c) => c.name === column);
  const writer = await TableWriter.open(withoutPartitions(context), transaction, {
    table,
    statementId: transaction.nextStatementId(),
    kind: 'insert',
  });
  await fs.mkdirs(location);
  try {
    for await (const batch of batches) {
      const rows = columnsAsStruct(
        data,
        data.map((column) => batch.children[positionOf(column)]),
        batch.length,
      );
      const keys = table.partitionKeys.map((key) => batch.children[positionOf(key.name)]);
      await writer.write(rows, batch.length, keys);
    }
    await registerTable(context, statement, {
      ...table,
      parameters: withoutAccurateStatistics(table.parameters),
    });
    transaction.onRollback(async () => {
      await catalog.dropTable({ database: table.database, name: table.name });
      await writer.abort();
      await deleteEmptyFolders(fs, location);
    });
    const result = await writer.close();
    return { messages: [], counts: { inserted: BigInt(result.insertedRows), updated: 0n, deleted: 0n } };
  } catch (error) {
    await writer.abort();
    await deleteEmptyFolders(fs, location);
    throw error;
  }
}

/** The writer asks where a partition is: a table that the catalog does not have yet has none. */
function withoutPartitions(context: SessionContext): SessionContext {
  const catalog = layeredCatalog(context.services.catalog, { getPartitions: async () => ({ partitions: [] }) });
  return { ...context, services: { ...context.services, catalog } };
}

/** Folders without a file go; a table that another session made here meanwhile keeps its own (bug report B79). */
async function deleteEmptyFolders(fs: FileSystem, path: string): Promise<void> {
  if ((await fs.stat(path)) === undefined) return;
  for (const entry of await fs.list(path)) if (entry.isDirectory) await deleteEmptyFolders(fs, entry.path);
  if ((await fs.list(path)).length === 0) await fs.delete(path);
}

/** Partition columns with types, and buckets, are not for the rows of a query (SemanticAnalyzer.analyzeCreateTable). */
function refuseFixedPlaces({ clusteredBy, partitionedBy }: CreateTableStatement): void {
  const typed = partitionedBy.find(({ type }) => type !== undefined);
  const place = clusteredBy?.columns[0] ?? typed;
  if (place === undefined) return;
  throw new SemanticError(10068, 'CREATE-TABLE-AS-SELECT does not support partitioning in the target table', {
    position: place.position,
  });
}

function refuseVoid(columns: readonly FieldSchema[]): void {
  const untyped = columns.find((column) => /\bvoid\b/.test(column.type));
  if (untyped === undefined) return;
  throw new SemanticError(
    10305,
    `CREATE-TABLE-AS-SELECT creates a VOID type, please use CAST to specify the type, near field:  ${untyped.name}`,
  );
}
