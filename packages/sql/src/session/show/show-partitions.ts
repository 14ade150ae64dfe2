import { DEFAULT_PARTITION_NAME } from '@skep/core';
import { isNull } from '@skep/orc';
import type { Partition, Table } from '@skep/rpc';
import type { Expression, OrderItem, Position, Query, ShowWhat, ValuesSource } from '../../parse/ast.js';
import { parseTypeText } from '../../parse/index.js';
import { formatValue, STRING } from '../../query.js';
import { castTo, columnRef, identifier, item, selectQuery } from '../ast-builders.js';
import { resolveTable, type SessionContext } from '../context.js';
import { ExecutionError, SemanticError } from '../errors.js';
import { matchingPartitions, nameOf, partitionValues } from '../partition/partitions.js';
import type { StatementResult } from '../result.js';
import { analyzeInSession } from '../scan/select.js';
import { textResult } from '../text-result.js';

type ShowPartitions = Extract<ShowWhat, { kind: 'partitions' }>;

const nameAlias = '_name';

/** SHOW PARTITIONS t [PARTITION (…)] [WHERE …] [ORDER BY …] [LIMIT n]: conditions and order are of the typed partition columns. */
export async function showPartitions(context: SessionContext, what: ShowPartitions): Promise<StatementResult> {
  const table = await resolveTable(context, what.table);
  if (table.partitionKeys.length === 0) {
    throw new SemanticError(10241, `Table ${table.database}.${table.name} is not a partitioned table`, {
      position: what.table.position,
    });
  }
  const values = what.partition === undefined ? new Map() : partitionValues(table, what.partition);
  const partitions = await matchingPartitions(context, table, values);
  const byName = partitions
    .map((partition) => ({ partition, name: nameOf(table, partition.values) }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const isPlain = what.where === undefined && what.orderBy.length === 0;
  const names =
    isPlain || byName.length === 0 ? byName.map(({ name }) => name) : await chosen(context, table, what, byName);
  const shown = what.limit === undefined ? names : names.slice(0, what.limit);
  return textResult(
    ['partition'],
    shown.map((name) => [name]),
  );
}

/** The names that a query over the partitions' values yields. */
async function chosen(
  context: SessionContext,
  table: Table,
  what: ShowPartitions,
  partitions: readonly { readonly partition: Partition; readonly name: string }[],
): Promise<string[]> {
  const { position } = what.table;
  const query = partitionQuery(table, partitions, what.where, what.orderBy, position);
  const { analyzed } = await analyzeInSession(context, query);
  const result = await context.engine.run(analyzed, {
    openTable: async () => {
      throw new ExecutionError('SHOW PARTITIONS reads no table');
    },
  });
  const names: string[] = [];
  for await (const batch of result.batches) {
    const [vector] = batch.children;
    for (let row = 0; row < batch.length; row++) {
      if (!isNull(vector, row)) names.push(formatValue(STRING, vector, row));
    }
  }
  return names;
}

function partitionQuery(
  table: Table,
  partitions: readonly { readonly partition: Partition; readonly name: string }[],
  where: Expression | undefined,
  orderBy: readonly OrderItem[],
  position: Position,
): Query {
  const text = (value: string): Expression => ({ kind: 'string', value, position });
  const columns = [nameAlias, ...table.partitionKeys.map((key) => `_${key.name}`)];
  const source: ValuesSource = {
    kind: 'values',
    rows: partitions.map(({ partition, name }) => [
      text(name),
      ...partition.values.map((value) =>
        value === DEFAULT_PARTITION_NAME ? ({ kind: 'null', position } as const) : text(value),
      ),
    ]),
    alias: identifier('_values', position),
    columns: columns.map((column) => identifier(column, position)),
    lateral: false,
    position,
  };
  const typed = selectQuery(
    [
      item(columnRef([nameAlias], position), nameAlias),
      ...table.partitionKeys.map((key) =>
        item(castTo(columnRef([`_${key.name}`], position), parseTypeText(key.type)), key.name),
      ),
    ],
    source,
    undefined,
    position,
  );
  const query = selectQuery(
    [item(columnRef([nameAlias], position), nameAlias)],
    { kind: 'subquery', query: typed, alias: identifier(table.name, position), position },
    where,
    position,
  );
  if (orderBy.length > 0) return { ...query, orderBy };
  return { ...query, orderBy: [{ expression: columnRef([nameAlias], position), direction: 'asc', position }] };
}
