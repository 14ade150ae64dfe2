import type { Sarg } from '@skep/orc';
import type { Table } from '@skep/rpc';
import type { ExplainStatement, Statement } from '../parse/ast.js';
import type { TableUse } from '../query.js';
import type { SessionContext } from './context.js';
import { planMerge } from './merge.js';
import { nameOf } from './partitions.js';
import type { StatementResult } from './result.js';
import { runStatement } from './run-statement.js';
import { analyzeInSession, type SessionAnalysis } from './select.js';
import type { StatementTransaction } from './statement-transaction.js';
import { prepareScan } from './table-scan.js';
import { textResult } from './text-result.js';
import { type ChangePlan, planDelete, planUpdate } from './update-delete.js';

/**
 * EXPLAIN: Hive's sections (stages and their plans), with what this engine does in them: the folders, files and delete
 * files a scan reads, partitions it leaves out, the search argument it gives to ORC.
 */
export async function explain(
  context: SessionContext,
  statement: ExplainStatement,
  text: string,
): Promise<StatementResult> {
  const explained = statement.statement;
  if (!hasPlan(explained)) return textResult(['Explain'], lines([...stages, `    ${explained.kind}`, '']));
  return await runStatement(context, async () => {
    const { analysis, target } = await analysisOf(context, explained, text);
    return {
      reads: [],
      writes: [],
      run: async (transaction) => {
        const scans: string[] = [];
        for (const use of analysis.analyzed.tables) scans.push(...(await scanLines(context, transaction, use)));
        const plan = [
          ...stages,
          ...(target === undefined ? ['    Fetch Operator', '      limit: -1'] : [`    ${target}`]),
          '      Processor Tree:',
          ...scans,
          '        Select Operator',
          `          expressions: ${analysis.columns.map((column) => `${column.name} (type: ${column.type})`).join(', ')}`,
          '          ListSink',
          '',
        ];
        return textResult(['Explain'], lines(plan));
      },
    };
  });
}

const lines = (rows: readonly string[]): string[][] => rows.map((row) => [row]);

const stages = ['STAGE DEPENDENCIES:', '  Stage-0 is a root stage', '', 'STAGE PLANS:', '  Stage: Stage-0'];

type Planned = Extract<Statement, { kind: 'query' | 'insert' | 'update' | 'delete' | 'merge' }>;

const hasPlan = (statement: Statement): statement is Planned =>
  ['query', 'insert', 'update', 'delete', 'merge'].includes(statement.kind);

/** The query behind a statement, and what is done with its rows. */
async function analysisOf(
  context: SessionContext,
  statement: Planned,
  text: string,
): Promise<{ analysis: SessionAnalysis; target?: string }> {
  const named = ({ table, analysis }: ChangePlan, verb: string) => ({
    analysis,
    target: `${verb} of ${table.database}.${table.name}`,
  });
  switch (statement.kind) {
    case 'query':
      return { analysis: await analyzeInSession(context, statement, text) };
    case 'insert':
      return { analysis: await analyzeInSession(context, statement.query, text) };
    case 'update':
      return named(await planUpdate(context, statement, text), 'Update');
    case 'delete':
      return named(await planDelete(context, statement, text), 'Delete');
    case 'merge':
      return named(await planMerge(context, statement, text), 'Merge');
  }
}

async function scanLines(context: SessionContext, transaction: StatementTransaction, use: TableUse): Promise<string[]> {
  const table = use.handle as Table;
  const scan = await prepareScan(context, transaction, table, use.predicate, []);
  const splits = scan.folders.flatMap((folder) => folder.splits);
  const deletes = new Set(
    splits.flatMap((split) => ('deletes' in split ? split.deletes.map((file) => file.path) : [])),
  );
  const partitions = scan.folders.flatMap(({ partition }) =>
    partition === undefined ? [] : [nameOf(table, partition.values)],
  );
  return [
    '        TableScan',
    `          alias: ${use.alias}`,
    `          table: ${table.database}.${table.name}`,
    ...(use.predicate.length === 0
      ? []
      : [`          filterExpr: ${use.predicate.map(sargText).join(' and ')} (type: boolean)`]),
    ...(table.partitionKeys.length === 0
      ? []
      : [
          `          partitions: ${partitions.length} of ${scan.partitionCount}${partitions.length > 0 ? ` (${partitions.slice(0, 20).join(', ')}${partitions.length > 20 ? ', …' : ''})` : ''}`,
        ]),
    `          columns: ${use.columns.map((column) => column.name).join(', ') || '(none)'}`,
    `          files: ${splits.length}, delete files: ${deletes.size}`,
    ...splits
      .slice(0, 50)
      .map(
        (split) =>
          `            ${split.kind === 'events' ? split.files.map((f) => f.file.path).join(', ') : split.file.path}`,
      ),
  ];
}

function sargText(sarg: Sarg): string {
  const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value));
  switch (sarg.op) {
    case 'and':
    case 'or':
      return `(${sarg.children.map(sargText).join(` ${sarg.op} `)})`;
    case 'not':
      return `(not ${sargText(sarg.child)})`;
    case 'isNull':
      return `${sarg.column} is null`;
    case 'in':
      return `${sarg.column} in (${sarg.literals.map(literal).join(', ')})`;
    case 'between':
      return `${sarg.column} between ${literal(sarg.low)} and ${literal(sarg.high)}`;
    default: {
      const operators = { equals: '=', nullSafeEquals: '<=>', lessThan: '<', lessThanEquals: '<=' } as const;
      return `(${sarg.column} ${operators[sarg.op]} ${literal(sarg.literal)})`;
    }
  }
}
