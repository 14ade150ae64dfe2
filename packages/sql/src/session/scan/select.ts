import { BugError } from '@skep/core';
import { type StructVector, type VectorValue, vectorValue } from '@skep/orc';
import { type Table, TxnType } from '@skep/rpc';
import type { Position, Query } from '../../parse/ast.js';
import { parseStatement } from '../../parse/index.js';
import {
  type AnalyzedQuery,
  analyzeQuery,
  BIGINT,
  BOOLEAN,
  type ColumnInfo,
  parseTypeName,
  type ResolvedTable,
  ROW_ID_TYPE,
  STRING,
  type TableUse,
  typeName,
} from '../../query.js';
import { findTable, type SessionContext } from '../context.js';
import { SemanticError } from '../errors.js';
import type { StatementResult } from '../result.js';
import type { ReadEntity } from '../transaction/lock-plan.js';
import { runStatement } from '../transaction/run-statement.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';
import { prepareScan, readPartitions } from './table-scan.js';

/** A query analysed against the session's catalog, and what it reads. */
export interface SessionAnalysis {
  readonly analyzed: AnalyzedQuery;
  /** The names and Hive types of its columns. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Its columns as those of a new table or view: without the tables they come from. */
  readonly fields: readonly { readonly name: string; readonly type: string }[];
  readonly reads: readonly ReadEntity[];
}

/** The columns every table has beside its own (org.apache.hadoop.hive.ql.metadata.VirtualColumn). */
const virtualColumns: readonly ColumnInfo[] = [
  { name: 'row__id', type: ROW_ID_TYPE, virtual: true },
  { name: 'row__is__deleted', type: BOOLEAN, virtual: true },
  { name: 'input__file__name', type: STRING, virtual: true },
  { name: 'block__offset__inside__file', type: BIGINT, virtual: true },
];

/** A SELECT: its rows come as they are read, and its transaction ends with the last. */
export async function select(
  context: SessionContext,
  query: Query,
  text: string,
  signal?: AbortSignal,
): Promise<StatementResult> {
  const readOnly = context.conf.getBoolean('hive.txn.readonly.enabled');
  return await runStatement(
    context,
    async () => {
      const analysis = await analyzeInSession(context, query, text);
      return {
        reads: analysis.reads,
        writes: [],
        run: async (transaction) => ({
          columns: analysis.columns,
          batches: queryRows(context, transaction, analysis, signal),
          messages: [],
        }),
      };
    },
    { signal, ...(readOnly ? { type: TxnType.TXN_TYPE_READ_ONLY } : {}) },
  );
}

/**
 * Resolves names and types by Hive's rules. `text`: the statement's own, which errors quote from. `defining`: the view that the
 * query is to become, which it must not read.
 */
export async function analyzeInSession(
  context: SessionContext,
  query: Query,
  text?: string,
  defining?: { readonly database: string; readonly table: string },
): Promise<SessionAnalysis> {
  const analyzed = await analyzeQuery(query, {
    currentDatabase: context.currentDatabase,
    resolveTable: async (givenDatabase, givenName, _position: Position, current) => {
      const [database, name] = [(givenDatabase ?? current).toLowerCase(), givenName.toLowerCase()];
      if (database === defining?.database && name === defining.table && (await isView(context, database, name))) {
        throw new SemanticError(
          10000,
          `Recursive view ${database}.${name} detected: its query reads ${database}.${name}`,
        );
      }
      return await resolve(context, database, name);
    },
    conf: (name) => context.conf.get(name),
    text,
    now: context.services.clock.now(),
    user: context.services.identity.user,
    evaluate: (constants) => onlyRow(context, constants),
  });
  return {
    analyzed,
    columns: analyzed.columns.map((column) => ({ name: column.name, type: typeName(column.type) })),
    fields: analyzed.columns.map((column) => ({ name: column.bareName, type: typeName(column.type) })),
    reads: await readEntities(context, analyzed.tables),
  };
}

/** The row of a query without tables. */
async function onlyRow(context: SessionContext, query: AnalyzedQuery): Promise<readonly VectorValue[]> {
  const { batches } = await context.engine.run(query, {
    openTable: ({ name }) => {
      throw new BugError(`constants read the table ${name}`);
    },
  });
  for await (const { children } of batches) return children.map((column) => vectorValue(column, 0));
  throw new BugError('a query without tables has no row');
}

const isView = async (context: SessionContext, database: string, name: string): Promise<boolean> =>
  (await findTable(context, database, name))?.tableType === 'VIRTUAL_VIEW';

async function resolve(context: SessionContext, database: string, name: string): Promise<ResolvedTable | undefined> {
  const table = await findTable(context, database, name);
  if (table === undefined) return undefined;
  if (table.tableType === 'VIRTUAL_VIEW') {
    const query = parseStatement(table.viewExpandedText ?? table.viewOriginalText ?? '');
    if (query.kind !== 'query') throw new BugError(`the text of view ${database}.${name} is not a query`);
    return {
      kind: 'view',
      database,
      name,
      query,
      columns: table.sd?.columns.map((column) => column.name),
      currentDatabase: table.parameters['skep.view.database'] ?? database,
    };
  }
  const columns = [...(table.sd?.columns ?? []), ...table.partitionKeys].map(
    (column): ColumnInfo => ({ name: column.name, type: parseTypeName(column.type) }),
  );
  return { kind: 'table', database, name, columns: [...columns, ...virtualColumns], handle: table };
}

/** What is read, a table once: the partitions that the predicates leave. */
async function readEntities(context: SessionContext, uses: readonly TableUse[]): Promise<ReadEntity[]> {
  const entities = new Map<string, ReadEntity>();
  for (const use of uses) {
    const table = use.handle as Table;
    const key = `${table.database}.${table.name}`;
    if (table.partitionKeys.length === 0) {
      entities.set(key, { table, partitions: [] });
      continue;
    }
    const { partitions, known } = await readPartitions(context, table, use.predicate);
    const before = entities.get(key);
    entities.set(key, {
      table,
      partitions: [...new Set([...(before?.partitions ?? []), ...partitions])],
      known: before?.known ?? new Set(known),
    });
  }
  return [...entities.values()];
}

/** Runs an analysed query under the transaction's snapshot. */
export async function* queryRows(
  context: SessionContext,
  transaction: StatementTransaction,
  analysis: SessionAnalysis,
  signal?: AbortSignal,
): AsyncGenerator<StructVector> {
  const result = await context.engine.run(analysis.analyzed, {
    openTable: async (use) =>
      await prepareScan(
        context,
        transaction,
        use.handle as Table,
        use.predicate,
        use.columns.map((column) => column.name),
      ),
    signal,
  });
  yield* result.batches;
}
