import type {
  CommonTableExpression,
  Expression,
  NumberLiteral,
  ParameterExpression,
  Query,
  QueryBody,
  Select,
  SetOperation,
  TableReference,
} from './ast.js';
import type { Cursor } from './cursor.js';
import { parseExpression } from './expression.js';
import { atQuery } from './expression-atom.js';
import { parseFromSource } from './from-clause.js';
import { parseOrderItem } from './function-call.js';
import { TokenKind } from './lexer.js';
import { parseSelect } from './select.js';
import { parseRows } from './values.js';

/** `[WITH …] body [ORDER BY …] [LIMIT …]`, as a statement or inside parentheses (Hive: `queryStatementExpression`). */
export function parseQuery(cursor: Cursor): Query {
  return cursor.nested(parseNestedQuery);
}

function parseNestedQuery(cursor: Cursor): Query {
  const start = cursor.index;
  const ctes = parseWith(cursor);
  return finishQuery(cursor, start, ctes, parseBody(cursor));
}

/** `WITH a AS (…), b (x, y) AS (…)`, or nothing. */
export function parseWith(cursor: Cursor): CommonTableExpression[] {
  if (!cursor.accept('with')) return [];
  return cursor.list(() => {
    const rule = 'cte statement';
    const start = cursor.index;
    const name = cursor.identifier(rule);
    const columns = cursor.at('(') ? cursor.parenthesised(rule, () => cursor.identifier(rule)) : undefined;
    cursor.expect(rule, 'as', '(');
    const query = parseQuery(cursor);
    cursor.expect(rule, ')');
    return { name, ...(columns && { columns }), query, position: cursor.position(start) };
  });
}

/** The clauses after a body, which belong to all of it. */
export function finishQuery(cursor: Cursor, start: number, ctes: CommonTableExpression[], body: QueryBody): Query {
  const clauses = parseOrderClauses(cursor);
  return { kind: 'query', with: ctes, body, ...clauses, position: cursor.position(start) };
}

type OrderClauses = Pick<Query, 'orderBy' | 'distributeBy' | 'sortBy' | 'clusterBy' | 'limit' | 'offset'>;

function parseOrderClauses(cursor: Cursor): OrderClauses {
  const order = () => parseOrderItem(cursor, parseExpression);
  const orderBy = cursor.accept('order', 'by') ? cursor.list(order) : atOrder(cursor);
  const clusterBy = cursor.accept('cluster', 'by') ? unwrapRow(parseExpressions(cursor)) : [];
  const distributeBy = cursor.accept('distribute', 'by') ? unwrapRow(parseExpressions(cursor)) : [];
  const sortBy = cursor.accept('sort', 'by') ? parseSortItems(cursor) : [];
  return { orderBy, clusterBy, distributeBy, sortBy, ...parseLimit(cursor) };
}

/** ORDER and GROUP without BY: the word is reserved, so it can only be that mistake. */
function atOrder(cursor: Cursor): never[] {
  if (cursor.accept('order')) cursor.expect('order by clause', 'by');
  return [];
}

function parseSortItems(cursor: Cursor) {
  const item = () => parseOrderItem(cursor, parseExpression);
  if (!cursor.at('(') || atQuery(cursor)) return cursor.list(item);
  const after = cursor.closingIndex(cursor.index) - cursor.index + 1;
  // `sort by (a), b` and `sort by (a) + 1` are plain items in parentheses, `sort by (a desc, b)` is a list.
  if (!cursor.ended && [',', 'asc', 'desc', 'nulls', '+', '-', '*', '/', '.'].includes(cursor.word(after))) {
    return cursor.list(item);
  }
  return cursor.parenthesised('sort by clause', item);
}

function parseExpressions(cursor: Cursor): Expression[] {
  return cursor.list(() => parseExpression(cursor));
}

/** `CLUSTER BY (a, b)` has two keys, not one struct. */
function unwrapRow(items: Expression[]): readonly Expression[] {
  return items.length === 1 && items[0].kind === 'row' ? items[0].items : items;
}

function parseLimit(cursor: Cursor): Pick<Query, 'limit' | 'offset'> {
  if (!cursor.accept('limit')) return {};
  const first = parseCount(cursor);
  if (cursor.accept(',')) return { offset: first, limit: parseCount(cursor) };
  return cursor.accept('offset') ? { limit: first, offset: parseCount(cursor) } : { limit: first };
}

function parseCount(cursor: Cursor): NumberLiteral | ParameterExpression {
  const start = cursor.index;
  if (cursor.accept('?')) return { kind: 'parameter', position: cursor.position(start) };
  if (cursor.kind() !== TokenKind.number) cursor.fail('limit clause', cursor.index - 1);
  const text = cursor.raw();
  cursor.index++;
  return { kind: 'number', text, suffix: '', position: cursor.position(start) };
}

/** Terms joined by set operators, which all have one precedence and go from left to right in Hive. */
export function parseBody(cursor: Cursor): QueryBody {
  const start = cursor.index;
  return continueBody(cursor, start, parseTerm(cursor));
}

/** What UNION and its like add to a first term that is already read. */
export function continueBody(cursor: Cursor, start: number, first: QueryBody): QueryBody {
  let body = first;
  let flat = false;
  for (;;) {
    const word = cursor.acceptOneOf(['union', 'intersect', 'except', 'minus']);
    if (word === undefined) return body;
    const operator: SetOperation['operator'] = word === 'minus' ? 'except' : word;
    const all = cursor.accept('all');
    if (!all) cursor.accept('distinct');
    const term = parseTerm(cursor);
    const joins = flat && body.kind === 'set-operation' && body.operator === operator && body.all === all;
    if (joins && body.kind === 'set-operation') {
      // The array is this loop's own until the body is returned.
      (body.branches as QueryBody[]).push(term);
      body = { ...body, position: cursor.position(start) };
    } else {
      body = { kind: 'set-operation', operator, all, branches: [body, term], position: cursor.position(start) };
    }
    flat = true;
  }
}

function parseTerm(cursor: Cursor): QueryBody {
  const start = cursor.index;
  switch (cursor.word()) {
    case '(': {
      cursor.index++;
      const query = parseQuery(cursor);
      cursor.expect('subquery', ')');
      return { ...query, position: cursor.position(start) };
    }
    case 'values': {
      cursor.index++;
      const rows = parseRows(cursor);
      return { kind: 'values', rows, position: cursor.position(start) };
    }
    case 'from': {
      const from = parseFrom(cursor);
      if (!atSelect(cursor)) {
        cursor.error(`required (...)+ loop did not match anything at input '${cursor.raw()}' in statement`);
      }
      return parseSelect(cursor, from, start);
    }
    default:
      if (!atSelect(cursor)) cursor.fail('statement');
      return parseSelect(cursor);
  }
}

/** FROM at the front of a statement. */
export function parseFrom(cursor: Cursor): TableReference {
  cursor.expect('from clause', 'from');
  return parseFromSource(cursor);
}

export function atSelect(cursor: Cursor): boolean {
  return cursor.at('select') || ((cursor.at('map') || cursor.at('reduce')) && cursor.word(1) !== '(');
}

/** A branch of a multi-insert: SELECT … without FROM, and what follows it. */
export function parseBranchQuery(cursor: Cursor, from: TableReference): Query {
  const start = cursor.index;
  if (!atSelect(cursor)) cursor.fail('select clause');
  const select: Select = parseSelect(cursor, from);
  return finishQuery(cursor, start, [], select);
}
