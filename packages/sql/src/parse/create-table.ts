import type {
  ClusteredBy,
  ColumnDefinition,
  CreateTableStatement,
  Expression,
  PartitionColumnDefinition,
  SkewedBy,
  SortColumn,
  TableConstraint,
} from './ast.js';
import { atTableConstraint, parseColumnDefinition, parseNames, parseTableConstraint } from './constraint.js';
import type { Cursor } from './cursor.js';
import { parseConstant } from './expression-atom.js';
import { acceptNullOrder } from './function-call.js';
import { parseRowFormat, parseStorage, parseTableProperties } from './storage-clause.js';
import { parseType } from './type.js';

const RULE = 'create table statement';
const MODIFIERS = ['temporary', 'transactional', 'external', 'managed'] as const;

/** Whether CREATE here goes on with a table. */
export function atCreateTable(cursor: Cursor): boolean {
  let ahead = 1;
  while ((MODIFIERS as readonly string[]).includes(cursor.word(ahead))) ahead++;
  return cursor.word(ahead) === 'table';
}

/** CREATE … TABLE with its clauses in Hive's order (CreateDDLParser.g). */
export function parseCreateTable(cursor: Cursor): CreateTableStatement {
  const start = cursor.index++;
  const modifiers = { temporary: false, transactional: false, external: false, managed: false };
  for (let word = cursor.acceptOneOf(MODIFIERS); word !== undefined; word = cursor.acceptOneOf(MODIFIERS)) {
    modifiers[word] = true;
  }
  cursor.expect(RULE, 'table');
  const ifNotExists = cursor.accept('if', 'not', 'exists');
  const table = cursor.tableName();
  const head = { kind: 'create-table', ...modifiers, ifNotExists, table } as const;
  if (cursor.accept('like')) {
    const like = cursor.tableName();
    const rest = { columns: [], constraints: [], partitionedBy: [], ...parseStorageClauses(cursor), like };
    return { ...head, ...rest, position: cursor.position(start) };
  }
  const body = cursor.at('(') ? parseColumns(cursor) : { columns: [], constraints: [] };
  const comment = cursor.accept('comment') ? cursor.string('table comment') : undefined;
  const partitionedBy = parsePartitionedBy(cursor);
  const clusteredBy = parseClusteredBy(cursor);
  const skewedBy = parseSkewedBy(cursor);
  const storage = parseStorageClauses(cursor);
  const query = cursor.accept('as') ? cursor.parseQuery(cursor) : undefined;
  return {
    ...head,
    ...body,
    ...(comment !== undefined && { comment }),
    partitionedBy,
    ...(clusteredBy && { clusteredBy }),
    ...(skewedBy && { skewedBy }),
    ...storage,
    ...(query && { query }),
    position: cursor.position(start),
  };
}

function parseColumns(cursor: Cursor): Pick<CreateTableStatement, 'columns' | 'constraints'> {
  const columns: ColumnDefinition[] = [];
  const constraints: TableConstraint[] = [];
  cursor.parenthesised(RULE, () => {
    if (atTableConstraint(cursor)) constraints.push(parseTableConstraint(cursor));
    else columns.push(parseColumnDefinition(cursor));
  });
  return { columns, constraints };
}

function parsePartitionedBy(cursor: Cursor): PartitionColumnDefinition[] {
  if (!cursor.accept('partitioned', 'by')) return [];
  const rule = 'create table partition specification';
  return cursor.parenthesised(rule, () => {
    const start = cursor.index;
    const name = cursor.identifier('column name');
    const type = cursor.at(',') || cursor.at(')') ? undefined : parseType(cursor);
    const comment = cursor.accept('comment') ? cursor.string(rule) : undefined;
    return {
      name,
      ...(type && { type }),
      ...(comment !== undefined && { comment }),
      position: cursor.position(start),
    };
  });
}

/** CLUSTERED BY (…) [SORTED BY (…)] INTO n BUCKETS, or nothing. */
export function parseClusteredBy(cursor: Cursor): ClusteredBy | undefined {
  const rule = 'table buckets specification';
  const start = cursor.index;
  if (!cursor.accept('clustered')) return undefined;
  cursor.expect(rule, 'by');
  const columns = parseNames(cursor);
  const sortedBy = cursor.accept('sorted', 'by') ? cursor.parenthesised(rule, () => parseSortColumn(cursor)) : [];
  cursor.expect(rule, 'into');
  const buckets = cursor.integer(rule);
  cursor.expect(rule, 'buckets');
  return { columns, sortedBy, buckets, position: cursor.position(start) };
}

function parseSortColumn(cursor: Cursor): SortColumn {
  const start = cursor.index;
  const column = cursor.identifier('column name order');
  const direction = cursor.acceptOneOf(['asc', 'desc']) ?? 'asc';
  const nulls = acceptNullOrder(cursor);
  return { column, direction, ...(nulls && { nulls }), position: cursor.position(start) };
}

/** SKEWED BY (…) ON (…) [STORED AS DIRECTORIES], or nothing. */
export function parseSkewedBy(cursor: Cursor): SkewedBy | undefined {
  const rule = 'table skewed specification';
  const start = cursor.index;
  if (!cursor.accept('skewed', 'by')) return undefined;
  const columns = parseNames(cursor);
  cursor.expect(rule, 'on');
  const values = cursor.parenthesised(rule, (): Expression[] =>
    cursor.at('(') ? cursor.parenthesised(rule, () => parseConstant(cursor)) : [parseConstant(cursor)],
  );
  const storedAsDirectories = cursor.accept('stored', 'as', 'directories');
  return { columns, values, storedAsDirectories, position: cursor.position(start) };
}

type StorageClauses = Pick<CreateTableStatement, 'rowFormat' | 'storage' | 'location' | 'properties'>;

/** ROW FORMAT, STORED AS, LOCATION, TBLPROPERTIES in this order, each optional. */
export function parseStorageClauses(cursor: Cursor): StorageClauses {
  const rowFormat = parseRowFormat(cursor);
  const storage = parseStorage(cursor);
  const location = cursor.accept('location') ? cursor.string('table location specification') : undefined;
  const properties = parseTableProperties(cursor);
  return {
    ...(rowFormat && { rowFormat }),
    ...(storage && { storage }),
    ...(location !== undefined && { location }),
    properties,
  };
}
