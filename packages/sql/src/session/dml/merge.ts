import { DataOperation, type Table } from '@skep/rpc';
import type {
  Expression,
  Identifier,
  MergeClause,
  MergeInsert,
  MergeStatement,
  Position,
  Query,
  TableName,
  TableReference,
} from '../../parse/ast.js';
import { parseTypeText } from '../../parse/index.js';
import {
  allOf,
  caseOf,
  castTo,
  columnRef,
  identifier,
  isNull,
  item,
  numberLiteral,
  selectQuery,
} from '../ast-builders.js';
import { resolveTable, type SessionContext } from '../context.js';
import { ExecutionError, SemanticError } from '../errors.js';
import type { StatementResult } from '../result.js';
import { analyzeInSession, queryRows, type SessionAnalysis } from '../scan/select.js';
import { isFullAcid, isInsertOnly, type WriteEntity } from '../transaction/lock-plan.js';
import { runStatement } from '../transaction/run-statement.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';
import { bucketOrder, defaultOf, withConstraintColumns } from './insert-query.js';
import { MergeRows } from './merge-rows.js';
import { TableWriter } from './table-writer.js';
import { type ChangePlan, changedPartitions, checkAssignments, requireFullAcid } from './update-delete.js';

/** The name under which the number of the clause that takes a row is handed out. */
const clauseAlias = '_clause';
const rowIdAlias = '_row_id';
const matchedAlias = '_matched';

/** The query of the pairs that some clause takes. */
export async function planMerge(context: SessionContext, statement: MergeStatement, text: string): Promise<ChangePlan> {
  const table = await resolveTable(context, statement.table);
  // An insert-only table can be merged into as long as no row of it changes (recorded of Hive 4.0.1).
  const onlyInserts = statement.clauses.every((clause) => clause.kind === 'insert');
  if (!onlyInserts || !isInsertOnly(table)) await requireFullAcid(context, table, 'merge');
  checkClauses(statement.clauses);
  refuseSharedAlias(statement);
  const { query, checks } = withConstraintColumns(table, mergeQuery(table, statement), mergeColumns(table));
  const ordered = { ...query, orderBy: bucketOrder(table, statement.position) };
  return { table, analysis: await analyzeInSession(context, ordered, text), checks };
}

/**
 * MERGE INTO: one query joins source and target and says of each pair which clause takes it (the first whose condition
 * holds) and what the new values are; each clause writes under statement ids of its own, in the order written.
 */
export async function merge(
  context: SessionContext,
  statement: MergeStatement,
  text: string,
  signal?: AbortSignal,
): Promise<StatementResult> {
  return await runStatement(
    context,
    async () => {
      const { table, analysis, checks } = await planMerge(context, statement, text);
      return {
        reads: analysis.reads,
        writes: writeEntities(table, analysis, statement.clauses),
        run: async (transaction) => {
          const writers = await openWriters(context, transaction, table, statement.clauses);
          const changesRows = statement.clauses.some((clause) => clause.kind !== 'insert');
          const checksCardinality = changesRows && context.conf.getBoolean('hive.merge.cardinality.check');
          const rows = new MergeRows(table, writers, checks, checksCardinality);
          try {
            for await (const batch of queryRows(context, transaction, analysis, signal)) await rows.write(batch);
            return { messages: [], counts: await rows.close() };
          } catch (error) {
            await rows.abort();
            throw error;
          }
        },
      };
    },
    { signal },
  );
}

/** Were source and target called the same, the ROW__IDs of one might be taken for those of the other. */
function refuseSharedAlias({ table, alias, source }: MergeStatement): void {
  const target = alias ?? table.name;
  const repeated = aliasesOf(source).find((name) => name.name.toLowerCase() === target.name.toLowerCase());
  if (repeated === undefined) return;
  throw new SemanticError(10008, `Ambiguous table alias '${repeated.name}'`, { position: repeated.position });
}

function aliasesOf(source: TableReference): Identifier[] {
  switch (source.kind) {
    case 'table':
      return [source.alias ?? source.table.name];
    case 'join':
      return [...aliasesOf(source.left), ...aliasesOf(source.right)];
    case 'lateral-view':
      return [...aliasesOf(source.input), source.alias];
    default:
      return source.alias === undefined ? [] : [source.alias];
  }
}

/** Hive's rules for the clauses (MergeSemanticAnalyzer). */
function checkClauses(clauses: readonly MergeClause[]): void {
  const matched = clauses.filter((clause) => clause.kind !== 'insert');
  const updates = matched.filter((clause) => clause.kind === 'update');
  const deletes = matched.filter((clause) => clause.kind === 'delete');
  if (updates.length > 1)
    throw new SemanticError(10406, 'MERGE statment can have at most 1 WHEN MATCHED ... UPDATE clause', {
      position: updates[1].position,
    });
  if (deletes.length > 1)
    throw new SemanticError(10405, 'MERGE statment can have at most 1 WHEN MATCHED ... DELETE clause', {
      position: deletes[1].position,
    });
  if (matched.length > 1 && matched[0].condition === undefined) {
    throw new SemanticError(
      10404,
      "When both UPDATE and DELETE clauses are used in a MERGE statement, the 1st clause must specify 'AND condition'",
      { position: matched[0].position },
    );
  }
}

const mergeColumns = (table: Table): string[] => [
  clauseAlias,
  rowIdAlias,
  ...table.partitionKeys.map((key) => `_old_${key.name}`),
  ...(table.sd?.columns ?? []).map((column) => column.name),
  ...table.partitionKeys.map((key) => key.name),
];

/**
 * Clause number, ROW__ID and partition of the target's row (NULL where none matched), then the new row. Pairs that match
 * but that no clause takes stay in: they count for the cardinality check, as in Hive.
 */
function mergeQuery(table: Table, statement: MergeStatement): Query {
  const { position, clauses } = statement;
  const target = statement.alias?.name ?? table.name;
  const full = isFullAcid(table);
  const rowId = columnRef([target, full ? 'ROW__ID' : matchedAlias], position);
  const whens = clauses.map((clause) =>
    allOf(
      [isNull(rowId, clause.kind !== 'insert'), ...(clause.condition === undefined ? [] : [clause.condition])],
      position,
    ),
  );
  const values = clauses.map((clause) => clauseValues(table, target, clause));
  const clauseNumber = caseOf(
    whens.map((when, i) => ({ when, result: numberLiteral(i, position) })),
    undefined,
    position,
  );
  const newValue = (name: string, type: string): Expression =>
    castTo(
      caseOf(
        whens.flatMap((when, i) => {
          const result = values[i].get(name);
          return result === undefined ? [] : [{ when, result: castTo(result, parseTypeText(type)) }];
        }),
        { kind: 'null', position },
        position,
      ),
      parseTypeText(type),
    );
  const written = [...(table.sd?.columns ?? []), ...table.partitionKeys];
  const names = mergeColumns(table);
  const expressions = [
    clauseNumber,
    rowId,
    ...table.partitionKeys.map((key) => columnRef([target, key.name], position)),
    ...written.map((column) =>
      clauses.every((clause) => clause.kind === 'delete')
        ? castTo({ kind: 'null', position }, parseTypeText(column.type))
        : newValue(column.name, column.type),
    ),
  ];
  const alias = statement.alias ?? identifier(table.name, position);
  const from: TableReference = {
    kind: 'join',
    type: clauses.some((clause) => clause.kind === 'insert') ? 'left' : 'inner',
    left: statement.source,
    right: full
      ? { kind: 'table', table: tableName(table, position), alias, position }
      : { kind: 'subquery', query: withMatchedColumn(table, position), alias, position },
    on: statement.on,
    position,
  };
  const wanted: Expression = {
    kind: 'logical',
    operator: 'or',
    operands: [isNull(clauseNumber, true), isNull(rowId, true)],
    position,
  };
  const query = selectQuery(
    expressions.map((expression, i) => item(expression, names[i])),
    from,
    wanted,
    position,
  );
  return { ...query, with: statement.with };
}

const tableName = (table: Table, position: Position): TableName => ({
  database: identifier(table.database, position),
  name: identifier(table.name, position),
  position,
});

/** Rows of a table that is not full ACID have no ROW__ID: a column of our own tells which are there after an outer join. */
function withMatchedColumn(table: Table, position: Position): Query {
  const columns = [...(table.sd?.columns ?? []), ...table.partitionKeys];
  return selectQuery(
    [
      ...columns.map(({ name }) => item(columnRef([name], position), name)),
      item(numberLiteral(1, position), matchedAlias),
    ],
    { kind: 'table', table: tableName(table, position), position },
    undefined,
    position,
  );
}

/** The new row of a clause, by column; a DELETE has none. */
function clauseValues(table: Table, target: string, clause: MergeClause): Map<string, Expression> {
  switch (clause.kind) {
    case 'delete':
      return new Map();
    case 'update': {
      const assigned = checkAssignments(table, clause.assignments);
      const columns = [...(table.sd?.columns ?? []), ...table.partitionKeys];
      return new Map(
        columns.map(({ name }) => [name, assigned.get(name) ?? columnRef([target, name], clause.position)] as const),
      );
    }
    case 'insert':
      return insertValues(table, clause);
  }
}

function insertValues(table: Table, clause: MergeInsert): Map<string, Expression> {
  const all = [...(table.sd?.columns ?? []), ...table.partitionKeys];
  const names =
    clause.columns?.map((column) => {
      const name = column.name.toLowerCase();
      if (!all.some((c) => c.name === name)) {
        throw new SemanticError(10002, `Invalid column reference '${column.name}'`, { position: column.position });
      }
      return name;
    }) ?? all.map((column) => column.name);
  if (names.length !== clause.values.length) {
    throw new SemanticError(
      10044,
      `Cannot insert into target table because column number/types are different '${table.name}': Table insclause-0 has ${names.length} columns, but query has ${clause.values.length} columns.`,
      { position: clause.position },
    );
  }
  const values = new Map(names.map((name, i) => [name, clause.values[i]] as const));
  return new Map(
    all.map(({ name }) => {
      const value = values.get(name);
      const resolved =
        value === undefined || value.kind === 'default' ? defaultOf(table, name, clause.position) : value;
      return [name, resolved] as const;
    }),
  );
}

/** Locks: rows change in the partitions that the plan reads, and new ones go who knows where. */
export function writeEntities(table: Table, analysis: SessionAnalysis, clauses: readonly MergeClause[]): WriteEntity[] {
  const kinds = new Set(clauses.map((clause) => (clause.kind === 'insert' ? 'merge-insert' : clause.kind)));
  return [...kinds].map((kind) =>
    kind === 'merge-insert'
      ? { table, kind, dynamicPartitions: table.partitionKeys.length > 0 }
      : { table, kind, ...changedPartitions(table, analysis) },
  );
}

/** The writers of a clause: an UPDATE has both. */
export interface ClauseWriters {
  readonly kind: MergeClause['kind'];
  readonly deletes?: TableWriter;
  readonly inserts?: TableWriter;
}

/**
 * Statement ids in Hive's order (recorded of 4.0.1): first the delete events of all clauses, then the new rows of UPDATE,
 * then those of INSERT.
 */
async function openWriters(
  context: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  clauses: readonly MergeClause[],
): Promise<ClauseWriters[]> {
  if (clauses.length === 0) throw new ExecutionError('MERGE without a clause');
  const open = async (kind: 'insert' | 'delete', dynamicOperation: DataOperation) =>
    await TableWriter.open(context, transaction, {
      table,
      statementId: transaction.nextStatementId(),
      kind,
      dynamicOperation,
    });
  const writers = clauses.map((clause): { -readonly [K in keyof ClauseWriters]: ClauseWriters[K] } => ({
    kind: clause.kind,
  }));
  for (const writer of writers) {
    if (writer.kind === 'insert') continue;
    const isUpdate = writer.kind === 'update';
    writer.deletes = await open(
      'delete',
      isUpdate ? DataOperation.DATA_OPERATION_UPDATE : DataOperation.DATA_OPERATION_DELETE,
    );
  }
  for (const writer of writers) {
    if (writer.kind === 'update') writer.inserts = await open('insert', DataOperation.DATA_OPERATION_UPDATE);
  }
  for (const writer of writers) {
    if (writer.kind === 'insert') writer.inserts = await open('insert', DataOperation.DATA_OPERATION_INSERT);
  }
  return writers;
}
