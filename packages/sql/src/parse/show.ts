import type { Identifier, OrderItem, ShowStatement, ShowWhat } from './ast.js';
import type { Cursor } from './cursor.js';
import { parseExpression } from './expression.js';
import { parseOrderItem } from './function-call.js';
import { TokenKind } from './lexer.js';
import { acceptPartition } from './partition.js';

const RULE = 'show statement';

/** SHOW …: the forms of Hive 4 (HiveParser.g: `showStatement`), and EXTENDED DATABASES and bare patterns, which it refuses. */
export function parseShow(cursor: Cursor): ShowStatement {
  const start = cursor.index++;
  const what = parseWhat(cursor, start);
  return { kind: 'show', what, position: cursor.position(start) };
}

function parseWhat(cursor: Cursor, start: number): ShowWhat {
  const extended = cursor.at('extended', 'tables') || cursor.at('extended', 'databases');
  if (extended) cursor.index++;
  const word = cursor.word();
  const second = cursor.word(1);
  cursor.index++;
  switch (word) {
    case 'databases':
    case 'schemas':
      return { kind: 'databases', extended, ...acceptPattern(cursor) };
    case 'tables':
      return parseTables(cursor, extended);
    case 'views':
      return { kind: 'views', ...acceptDatabase(cursor), ...acceptPattern(cursor) };
    case 'functions':
      return { kind: 'functions', ...acceptPattern(cursor) };
    case 'partitions':
      return parsePartitions(cursor);
    case 'tblproperties':
      return parseTableProperties(cursor);
    case 'columns':
      return parseColumns(cursor, false);
    case 'transactions':
      return { kind: 'transactions' };
    case 'processlist':
      return { kind: 'processlist' };
    case 'locks':
      return parseLocks(cursor);
    case 'compactions':
      return parseCompactions(cursor);
    case 'conf':
      return { kind: 'conf', name: cursor.string(RULE) };
    default:
      cursor.index--;
      return parseTwoWords(cursor, `${word} ${second}`) ?? parseUnsupported(cursor, start);
  }
}

function parseTwoWords(cursor: Cursor, words: string): ShowWhat | undefined {
  const start = cursor.index;
  cursor.index += 2;
  switch (words) {
    case 'materialized views':
      return { kind: 'materialized-views', ...acceptDatabase(cursor), ...acceptPattern(cursor) };
    case 'sorted columns':
      return parseColumns(cursor, true);
    case 'create table':
      return { kind: 'create-table', table: cursor.tableName() };
    case 'create database':
    case 'create schema':
      return { kind: 'create-database', database: cursor.identifier(RULE) };
    case 'table extended':
      return parseTableExtended(cursor);
    default:
      cursor.index = start;
      return undefined;
  }
}

/** `[LIKE] 'x*'` or a bare word. */
function acceptPattern(cursor: Cursor): { pattern?: string } {
  const like = cursor.accept('like');
  if (cursor.kind() === TokenKind.string) return { pattern: cursor.string(RULE) };
  if (cursor.isIdentifier()) return { pattern: cursor.anyWord().name };
  return like ? cursor.fail(RULE) : {};
}

function acceptDatabase(cursor: Cursor): { database?: Identifier } {
  return cursor.acceptOneOf(['in', 'from']) === undefined ? {} : { database: cursor.identifier(RULE) };
}

function parseTables(cursor: Cursor, extended: boolean): ShowWhat {
  const head = { kind: 'tables', extended, ...acceptDatabase(cursor) } as const;
  if (!cursor.accept('where')) return { ...head, ...acceptPattern(cursor) };
  cursor.identifier('show tables filter expr');
  cursor.expect('show tables filter expr', '=');
  return { ...head, tableType: cursor.string('show tables filter expr') };
}

function parseTableExtended(cursor: Cursor): ShowWhat {
  const database = acceptDatabase(cursor);
  if (!cursor.at('like')) cursor.mismatch('like', RULE);
  const { pattern = '' } = acceptPattern(cursor);
  const partition = acceptPartition(cursor);
  return { kind: 'table-extended', ...database, pattern, ...(partition && { partition }) };
}

function parseColumns(cursor: Cursor, sorted: boolean): ShowWhat {
  if (cursor.acceptOneOf(['from', 'in']) === undefined) cursor.fail(RULE);
  const table = cursor.tableName();
  const { database } = acceptDatabase(cursor);
  return { kind: 'columns', table: database ? { ...table, database } : table, sorted, ...acceptPattern(cursor) };
}

function parsePartitions(cursor: Cursor): ShowWhat {
  const table = cursor.tableName();
  const partition = acceptPartition(cursor);
  const where = cursor.accept('where') ? parseExpression(cursor) : undefined;
  const orderBy = acceptOrder(cursor);
  const limit = acceptLimit(cursor);
  return { kind: 'partitions', table, ...(partition && { partition }), ...(where && { where }), orderBy, ...limit };
}

function acceptOrder(cursor: Cursor): OrderItem[] {
  return cursor.accept('order', 'by') ? cursor.list(() => parseOrderItem(cursor, parseExpression)) : [];
}

function acceptLimit(cursor: Cursor): { limit?: number } {
  return cursor.accept('limit') ? { limit: cursor.integer('limit clause') } : {};
}

function parseTableProperties(cursor: Cursor): ShowWhat {
  const table = cursor.tableName();
  if (!cursor.accept('(')) return { kind: 'tblproperties', table };
  const key = cursor.string(RULE);
  cursor.expect(RULE, ')');
  return { kind: 'tblproperties', table, key };
}

function parseLocks(cursor: Cursor): ShowWhat {
  if (cursor.acceptOneOf(['database', 'schema']) !== undefined) {
    const database = cursor.identifier(RULE);
    return { kind: 'locks', database, extended: cursor.accept('extended') };
  }
  const table = cursor.isIdentifier() ? cursor.tableName() : undefined;
  const partition = table && acceptPartition(cursor);
  const extended = cursor.accept('extended');
  return { kind: 'locks', ...(table && { table }), ...(partition && { partition }), extended };
}

/** SHOW COMPACTIONS and its filters, in this order: database or table, POOL, TYPE, STATUS, ORDER BY, LIMIT. */
function parseCompactions(cursor: Cursor): ShowWhat {
  if (cursor.accept('compactionid')) {
    cursor.expect('compaction id', '=');
    const text = cursor.raw();
    cursor.integer('compaction id');
    return { kind: 'compactions', compactionId: BigInt(text), orderBy: [] };
  }
  let scope: Partial<Extract<ShowWhat, { kind: 'compactions' }>> = {};
  if (cursor.acceptOneOf(['database', 'schema']) !== undefined) scope = { database: cursor.identifier(RULE) };
  else if (cursor.isIdentifier() && !atCompactionFilter(cursor)) {
    const table = cursor.tableName();
    const partition = acceptPartition(cursor);
    scope = { table, ...(partition && { partition }) };
  }
  const pool = acceptText(cursor, 'pool');
  const type = acceptText(cursor, 'type');
  const status = acceptText(cursor, 'status');
  return {
    kind: 'compactions',
    ...scope,
    ...(pool !== undefined && { pool }),
    ...(type !== undefined && { type }),
    ...(status !== undefined && { status }),
    orderBy: acceptOrder(cursor),
    ...acceptLimit(cursor),
  };
}

function atCompactionFilter(cursor: Cursor): boolean {
  if (cursor.at('limit')) return cursor.kind(1) === TokenKind.number;
  return cursor.atOneOf(['pool', 'type', 'status']) && cursor.kind(1) === TokenKind.string;
}

function acceptText(cursor: Cursor, word: string): string | undefined {
  return cursor.accept(word) ? cursor.string(RULE) : undefined;
}

const UNSUPPORTED: readonly (readonly string[])[] = [
  ['roles'],
  ['current', 'roles'],
  ['role', 'grant'],
  ['grant'],
  ['principals'],
  ['resource', 'plans'],
  ['resource', 'plan'],
  ['dataconnectors'],
  ['indexes'],
  ['index'],
];

function parseUnsupported(cursor: Cursor, start: number): ShowWhat {
  const form = UNSUPPORTED.find((words) => cursor.at(...words));
  if (form === undefined) return cursor.fail('ddl statement', start);
  while (!cursor.ended) cursor.index++;
  return { kind: 'unsupported', name: form.join(' ') };
}
