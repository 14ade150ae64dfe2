import type { Sarg } from '@skep/orc';
import type { Table } from '@skep/rpc';
import type { ExplainStatement, Statement } from '../parse/ast.js';
import type { TableUse } from '../query.js';
import type { SessionContext } from './context.js';
import { nameOf } from './partitions.js';
import type { StatementResult } from './result.js';
import { runStatement } from './run-statement.js';
import { analyzeInSession } from './select.js';
import type { StatementTransaction } from './statement-transaction.js';
import { prepareScan } from './table-scan.js';
import { textResult } from './text-result.js';

/**
 * EXPLAIN: Hive's sections (stages and their plans), with what this engine does in them: the folders, files and delete
 * files a scan reads, partitions it leaves out, the search argument it gives to ORC.
 */
export async function explain(
  context: SessionContext,
  statement: ExplainStatement,
  text: string,
): Promise<StatementResult> {
  const query = queryOf(statement.statement);
  if (query === undefined)
    return textResult(
      ['Explain'],
      lines([
        'STAGE DEPENDENCIES:',
        '  Stage-0 is a root stage',
        '',
        'STAGE PLANS:',
        '  Stage: Stage-0',
        `    ${statement.statement.kind}`,
        '',
      ]),
    );
  return await runStatement(context, async () => {
    const analysis = await analyzeInSession(context, query, text);
    return {
      reads: [],
      writes: [],
      run: async (transaction) => {
        const scans: string[] = [];
        for (const use of analysis.analyzed.tables) scans.push(...(await scanLines(context, transaction, use)));
        const plan = [
          'STAGE DEPENDENCIES:',
          '  Stage-0 is a root stage',
          '',
          'STAGE PLANS:',
          '  Stage: Stage-0',
          '    Fetch Operator',
          '      limit: -1',
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

function queryOf(statement: Statement) {
  if (statement.kind === 'query') return statement;
  return statement.kind === 'insert' ? statement.query : undefined;
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
