import { type FieldSchema, LockType, StorageDescriptor, Table } from '@skep/rpc';
import type { AlterViewStatement, CreateViewStatement } from '../parse/ast.js';
import { findTable, nowSeconds, qualify, resolveTable, type SessionContext, toRecord } from './context.js';
import { alreadyExists } from './create-table.js';
import { MetaError, SemanticError, UnsupportedError } from './errors.js';
import { fileFormats } from './file-format.js';
import { databaseLock } from './lock-plan.js';
import type { StatementResult } from './result.js';
import { runStatement } from './run-statement.js';
import { analyzeInSession } from './select.js';
import { done } from './text-result.js';

/** CREATE VIEW: the query is analysed now, so that a view that cannot work is refused, and kept as text. */
export async function createView(
  context: SessionContext,
  statement: CreateViewStatement,
  text: string,
  signal?: AbortSignal,
): Promise<StatementResult> {
  const { database, table: name } = qualify(context, statement.view);
  if (statement.partitionedOn.length > 0) throw new UnsupportedError('CREATE VIEW … PARTITIONED ON');
  return await runStatement(
    context,
    async () => {
      const existing = await findTable(context, database, name);
      const { columns: produced, reads } = await analyzeInSession(context, statement.query, text);
      return {
        reads,
        writes: [],
        otherLocks: [databaseLock(database, LockType.LOCK_TYPE_SHARED_READ)],
        run: async () => {
          if (existing !== undefined) {
            if (statement.ifNotExists) return done;
            if (!statement.orReplace) throw alreadyExists(database, name);
            if (existing.tableType !== 'VIRTUAL_VIEW') {
              throw new SemanticError(
                10218,
                `Existing table is not a view. The following is an existing table, not a view: ${database}.${name}`,
              );
            }
          }
          if (statement.columns.length > 0 && statement.columns.length !== produced.length) {
            throw new SemanticError(
              10041,
              'The number of columns produced by the SELECT clause does not match the number of column names specified by CREATE VIEW',
            );
          }
          const columns = produced.map(
            (column, i): FieldSchema => ({
              name: (statement.columns[i]?.name.name ?? column.name).toLowerCase(),
              type: column.type,
              comment: statement.columns[i]?.comment,
            }),
          );
          const original = text.slice(statement.query.position.start, statement.query.position.end);
          const table = viewDefinition(context, database, name, columns, original);
          table.parameters = { ...table.parameters, ...toRecord(statement.properties) };
          if (statement.comment !== undefined) table.parameters.comment = statement.comment;
          if (existing === undefined) await context.services.catalog.createTable({ table });
          else await context.services.catalog.alterTable({ database, name, table });
          return done;
        },
      };
    },
    { signal },
  );
}

/**
 * A view keeps the database it was made in (parameter `skep.view.database`): its names are resolved there, wherever it is
 * read from.
 */
function viewDefinition(
  context: SessionContext,
  database: string,
  name: string,
  columns: FieldSchema[],
  original: string,
): Table {
  return Table.fromPartial({
    name,
    database,
    owner: context.services.identity.user,
    ownerType: 'USER',
    createTime: nowSeconds(context),
    tableType: 'VIRTUAL_VIEW',
    viewOriginalText: original,
    viewExpandedText: original,
    parameters: {
      bucketing_version: '2',
      transient_lastDdlTime: String(nowSeconds(context)),
      'skep.view.database': context.currentDatabase,
    },
    sd: StorageDescriptor.fromPartial({
      columns,
      inputFormat: fileFormats.textfile.inputFormat,
      outputFormat: fileFormats.textfile.outputFormat,
      numBuckets: -1,
      serde: {},
    }),
  });
}

export async function alterView(
  context: SessionContext,
  statement: AlterViewStatement,
  text: string,
  signal?: AbortSignal,
): Promise<StatementResult> {
  return await runStatement(
    context,
    async () => {
      const before = await resolveTable(context, statement.view);
      if (before.tableType !== 'VIRTUAL_VIEW') throw new MetaError(`${before.database}.${before.name} is not a view`);
      const after = Table.fromPartial(before);
      const { action } = statement;
      const analysis = action.kind === 'as' ? await analyzeInSession(context, action.query, text) : undefined;
      return {
        reads: analysis?.reads ?? [],
        writes: [],
        otherLocks: [databaseLock(before.database, LockType.LOCK_TYPE_SHARED_READ)],
        run: async () => {
          switch (action.kind) {
            case 'set-properties':
              after.parameters = { ...after.parameters, ...toRecord(action.properties) };
              break;
            case 'unset-properties':
              for (const key of action.keys) delete after.parameters[key];
              break;
            case 'rename':
              ({ database: after.database, table: after.name } = qualify(context, action.to));
              break;
            case 'as': {
              const original = text.slice(action.query.position.start, action.query.position.end);
              const columns = (analysis?.columns ?? []).map(({ name, type }): FieldSchema => ({ name, type }));
              const made = viewDefinition(context, before.database, before.name, columns, original);
              Object.assign(after, { sd: made.sd, viewOriginalText: original, viewExpandedText: original });
              break;
            }
            default:
              throw new UnsupportedError(`ALTER VIEW … ${action.kind}`);
          }
          await context.services.catalog.alterTable({ database: before.database, name: before.name, table: after });
          return done;
        },
      };
    },
    { signal },
  );
}
