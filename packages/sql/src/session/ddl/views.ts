import { type FieldSchema, LockType, StorageDescriptor, Table } from '@skep/rpc';
import type { AlterViewStatement, CreateViewStatement, Query, QueryBody } from '../../parse/ast.js';
import { findTable, nowSeconds, qualify, resolveTable, type SessionContext, toRecord } from '../context.js';
import { MetaError, SemanticError, UnsupportedError } from '../errors.js';
import { fileFormats } from '../file-format.js';
import type { StatementResult } from '../result.js';
import { analyzeInSession } from '../scan/select.js';
import { done } from '../text-result.js';
import { databaseLock } from '../transaction/lock-plan.js';
import { runStatement } from '../transaction/run-statement.js';
import { alreadyExists } from './create-table.js';
import { refuseMissing } from './missing-properties.js';

/** A view's names are resolved in the database that was current when it was made; SHOW and DESCRIBE leave the parameter out. */
export const VIEW_DATABASE = 'skep.view.database';

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
      const defining = { database, table: name };
      const { fields, reads } = await analyzeInSession(context, statement.query, text, defining);
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
          if (statement.columns.length > 0 && statement.columns.length !== fields.length) {
            throw new SemanticError(
              10041,
              'The number of columns produced by the SELECT clause does not match the number of column names specified by CREATE VIEW',
            );
          }
          const columns = fields.map(
            (field, i): FieldSchema => ({
              name: (statement.columns[i]?.name.name ?? field.name).toLowerCase(),
              type: field.type,
              comment: statement.columns[i]?.comment,
            }),
          );
          const table = viewDefinition(context, { database, name, columns, fields }, statement.query, text);
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

/** A view about to be made: `fields` are the names its query gives, `columns` those it has. */
interface NewView {
  readonly database: string;
  readonly name: string;
  readonly columns: readonly FieldSchema[];
  readonly fields: readonly { readonly name: string }[];
}

/**
 * A view keeps the database it was made in (parameter `skep.view.database`): its names are resolved there, wherever it is
 * read from. A `*` stands for the columns of the day it was made, as in Hive: the expanded text picks them by name.
 */
function viewDefinition(context: SessionContext, view: NewView, query: Query, text: string): Table {
  const { database, name, columns, fields } = view;
  const seen = new Set<string>();
  for (const column of columns) {
    if (seen.has(column.name)) throw new SemanticError(10036, `Duplicate column name: ${column.name}`);
    seen.add(column.name);
  }
  const original = text.slice(query.position.start, query.position.end);
  const quoted = (identifier: string) => `\`${identifier.replaceAll('`', '``')}\``;
  const picked = fields.map((field, i) => `${quoted(field.name)} AS ${quoted(columns[i].name)}`);
  const expanded = hasStar(query) ? `SELECT ${picked.join(', ')} FROM (${original}) ${quoted(name)}` : original;
  return Table.fromPartial({
    name,
    database,
    owner: context.services.identity.user,
    ownerType: 'USER',
    createTime: nowSeconds(context),
    tableType: 'VIRTUAL_VIEW',
    viewOriginalText: original,
    viewExpandedText: expanded,
    parameters: {
      bucketing_version: '2',
      transient_lastDdlTime: String(nowSeconds(context)),
      [VIEW_DATABASE]: context.currentDatabase,
    },
    sd: StorageDescriptor.fromPartial({
      columns: [...columns],
      inputFormat: fileFormats.textfile.inputFormat,
      outputFormat: fileFormats.textfile.outputFormat,
      numBuckets: -1,
      serde: {},
    }),
  });
}

/** Whether a body's own select list has a `*`. */
function hasStar(body: QueryBody): boolean {
  switch (body.kind) {
    case 'query':
      return hasStar(body.body);
    case 'set-operation':
      return hasStar(body.branches[0]);
    case 'select':
      return body.items.some((item) => item.kind === 'star');
    case 'values':
      return false;
  }
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
      if (before.tableType !== 'VIRTUAL_VIEW')
        throw new SemanticError(10132, 'To alter a base table you need to use the ALTER TABLE command.');
      const after = Table.fromPartial(before);
      const { action } = statement;
      if (action.kind === 'unset-properties') refuseMissing(before, action);
      const analysis =
        action.kind === 'as'
          ? await analyzeInSession(context, action.query, text, { database: before.database, table: before.name })
          : undefined;
      return {
        reads: analysis?.reads ?? [],
        writes: [],
        otherLocks: /^(un)?set-properties$/.test(action.kind)
          ? []
          : [databaseLock(before.database, LockType.LOCK_TYPE_SHARED_READ)],
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
              if ((await findTable(context, after.database, after.name)) !== undefined) {
                throw new MetaError(`Unable to alter table. new table ${after.database}.${after.name} already exists`);
              }
              break;
            case 'as': {
              const { database, name } = before;
              const fields = analysis?.fields ?? [];
              const columns = fields.map(
                (field): FieldSchema => ({ name: field.name.toLowerCase(), type: field.type }),
              );
              const made = viewDefinition(context, { database, name, columns, fields }, action.query, text);
              const { sd, viewOriginalText, viewExpandedText } = made;
              const where = { [VIEW_DATABASE]: context.currentDatabase };
              Object.assign(after, {
                sd,
                viewOriginalText,
                viewExpandedText,
                parameters: { ...after.parameters, ...where },
              });
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
