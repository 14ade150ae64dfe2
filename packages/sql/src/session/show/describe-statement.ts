import type { Table } from '@skep/rpc';
import type { DescribeTableStatement } from '../../parse/ast.js';
import { requireDatabase, resolveTable, type SessionContext } from '../context.js';
import { SemanticError } from '../errors.js';
import { requirePartition } from '../partition/partitions.js';
import type { StatementResult } from '../result.js';
import { withLiveStatistics } from '../scan/statistics.js';
import { textResult } from '../text-result.js';
import { type DescribeRow, describeExtended, describeFormatted, describeTable, escapeJava } from './describe.js';

const columns = ['col_name', 'data_type', 'comment'];

/** DESCRIBE [FORMATTED | EXTENDED] t [column] [PARTITION (…)]. Figures are those of the files as they are now. */
export async function describe(context: SessionContext, statement: DescribeTableStatement): Promise<StatementResult> {
  if (statement.table.database !== undefined) await requireDatabase(context, statement.table.database);
  const table = await resolveTable(context, statement.table);
  if (statement.column !== undefined)
    return describeColumn((await withLiveStatistics(context, table)).table, statement);
  const partition =
    statement.partition === undefined ? undefined : await requirePartition(context, table, statement.partition);
  if (statement.style === undefined) return textResult(columns, describeTable(table, partition), { padded: true });
  const live = await withLiveStatistics(context, table, partition);
  const rows: DescribeRow[] =
    statement.style === 'formatted'
      ? describeFormatted(live.table, live.partition)
      : describeExtended(live.table, live.partition);
  return textResult(columns, rows, { padded: true });
}

function describeColumn(table: Table, statement: DescribeTableStatement): StatementResult {
  const [first] = statement.column ?? [];
  const name = first.name.toLowerCase();
  const column = [...(table.sd?.columns ?? []), ...table.partitionKeys].find((c) => c.name === name);
  if (column === undefined)
    throw new SemanticError(10002, `Invalid column reference ${first.name}`, { position: first.position });
  const pad = (text: string) => text.padEnd(20);
  const comment = column.comment ?? 'from deserializer';
  const { COLUMN_STATS_ACCURATE: accurate } = table.parameters;
  const state = accurate === undefined ? [] : [['COLUMN_STATS_ACCURATE', escapeJava(accurate)]];
  if (statement.style !== 'formatted') {
    return textResult(columns, [[pad(name), pad(column.type), pad(comment)], ...state.map((row) => [...row, ' '])], {
      padded: true,
    });
  }
  const empty = [
    'min',
    'max',
    'num_nulls',
    'distinct_count',
    'avg_col_len',
    'max_col_len',
    'num_trues',
    'num_falses',
    'bit_vector',
  ];
  return textResult(
    ['column_property', 'value'],
    [
      [pad('col_name'), pad(name)],
      [pad('data_type'), pad(column.type)],
      ...empty.map((property) => [pad(property), pad('')]),
      [pad('comment'), pad(comment)],
      ...state,
    ],
    { padded: true },
  );
}
