import type { Identifier, Join, TableReference, TableSample, TableSource, ValuesSource } from './ast.js';
import type { Cursor } from './cursor.js';
import { parseExpression } from './expression.js';
import { atQuery } from './expression-atom.js';
import { parseFunction, startsFunction } from './function-call.js';
import { TokenKind } from './lexer.js';
import { parseRows } from './values.js';

/** What follows FROM: sources joined from left to right (Hive: `fromSource`; FromClauseParser.g). */
export function parseFromSource(cursor: Cursor): TableReference {
  const start = cursor.index;
  let left = parseSource(cursor, 'join source');
  for (;;) {
    const type = acceptJoin(cursor);
    if (type === undefined) return left;
    const right = parseSource(cursor, 'joinSourcePart');
    const join: Join = {
      kind: 'join',
      type: type === 'comma' ? 'cross' : type,
      left,
      right,
      position: cursor.position(start),
    };
    left = join;
    if (type === 'comma') continue;
    if (cursor.accept('on')) {
      const on = parseExpression(cursor);
      left = { ...join, on, position: cursor.position(start) };
    } else if (cursor.accept('using')) {
      const using = cursor.parenthesised('join source', () => cursor.identifier('join source'));
      left = { ...join, using, position: cursor.position(start) };
    }
  }
}

function acceptJoin(cursor: Cursor): Join['type'] | 'comma' | undefined {
  const rule = 'join type specifier';
  if (cursor.accept(',')) return 'comma';
  if (cursor.accept('join') || cursor.accept('inner', 'join')) return 'inner';
  if (cursor.accept('cross', 'join')) return 'cross';
  if (cursor.accept('left', 'semi', 'join')) return 'left-semi';
  if (cursor.accept('left', 'anti', 'join')) return 'left-anti';
  const decision = cursor.index;
  const side = cursor.acceptOneOf(['left', 'right', 'full']);
  if (side === undefined) {
    if (cursor.at('inner') || cursor.at('cross')) cursor.fail(rule);
    return undefined;
  }
  cursor.accept('outer');
  if (!cursor.accept('join')) cursor.fail(rule, decision);
  return side;
}

/** One source with the lateral views behind it. */
function parseSource(cursor: Cursor, rule: string): TableReference {
  const start = cursor.index;
  let source = parsePlainSource(cursor, rule);
  for (;;) {
    if (cursor.at(',', 'lateral')) cursor.index++;
    if (!cursor.accept('lateral')) return source;
    if (cursor.at('table')) {
      const right = parseTableValues(cursor, true);
      source = { kind: 'join', type: 'cross', left: source, right, position: cursor.position(start) };
      continue;
    }
    cursor.expect('lateral view', 'view');
    const outer = cursor.accept('outer');
    if (!startsFunction(cursor)) cursor.fail('function specification');
    const call = parseFunction(cursor, parseExpression);
    const alias = cursor.isAlias() ? cursor.anyWord() : cursor.fail('table alias');
    const columns: Identifier[] = [];
    if (cursor.accept('as')) {
      do columns.push(cursor.identifier('lateral view'));
      while (!cursor.at(',', 'lateral') && cursor.accept(','));
    }
    source = {
      kind: 'lateral-view',
      input: source,
      outer,
      function: call,
      alias,
      columns,
      position: cursor.position(start),
    };
  }
}

function parsePlainSource(cursor: Cursor, rule: string): TableReference {
  if (cursor.at('table')) return parseTableValues(cursor, false);
  if (cursor.at('(')) return parseParenthesised(cursor);
  if (!cursor.isIdentifier()) cursor.fail(rule);
  const start = cursor.index;
  const table = cursor.tableName('table source');
  const asOf = parseAsOf(cursor);
  const sample = parseSample(cursor);
  const alias = cursor.alias('table source');
  return {
    kind: 'table',
    table,
    ...(alias && { alias }),
    ...(sample && { sample }),
    ...(asOf && { asOf }),
    position: cursor.position(start),
  };
}

/** `(SELECT …) x`, `(VALUES …) x`, or `(a JOIN b)`. Column names behind the alias are more than Hive takes, except for TABLE(VALUES …). */
function parseParenthesised(cursor: Cursor): TableReference {
  const start = cursor.index;
  if (!atQuery(cursor)) {
    cursor.index++;
    const source = parseFromSource(cursor);
    cursor.expect('joinSource', ')');
    return { ...source, position: cursor.position(start) };
  }
  cursor.index++;
  const query = cursor.parseQuery(cursor);
  cursor.expect('subquery source', ')');
  const alias = cursor.alias('subquery source') ?? cursor.fail('subquery source');
  const columns = parseColumnNames(cursor);
  const named = { alias, ...(columns && { columns }), position: cursor.position(start) };
  const { body } = query;
  const plain = query.with.length === 0 && query.position.end === body.position.end;
  if (body.kind === 'values' && plain) return { kind: 'values', rows: body.rows, lateral: false, ...named };
  return { kind: 'subquery', query, ...named };
}

function parseColumnNames(cursor: Cursor): Identifier[] | undefined {
  return cursor.at('(')
    ? cursor.parenthesised('subquery source', () => cursor.identifier('subquery source'))
    : undefined;
}

/** `TABLE(VALUES …) AS v(x, y)`. Hive 4 wants one parenthesis more at the end where there are no column names; that is taken too. */
function parseTableValues(cursor: Cursor, lateral: boolean): ValuesSource {
  const rule = 'virtual table source';
  const start = cursor.index++;
  cursor.expect(rule, '(', 'values');
  const rows = parseRows(cursor);
  cursor.expect(rule, ')');
  const alias = cursor.alias(rule) ?? cursor.fail('table alias');
  const columns = parseColumnNames(cursor);
  return { kind: 'values', rows, lateral, alias, ...(columns && { columns }), position: cursor.position(start) };
}

function parseAsOf(cursor: Cursor): TableSource['asOf'] {
  for (const kind of ['time', 'version'] as const) {
    if (cursor.accept('for', `system_${kind}`, 'as', 'of')) return { kind, value: parseExpression(cursor) };
  }
  return undefined;
}

function parseSample(cursor: Cursor): TableSample | undefined {
  const rule = 'table sample specification';
  if (!cursor.accept('tablesample')) return undefined;
  cursor.expect(rule, '(');
  const sample = parseSampleSize(cursor, rule);
  cursor.expect(rule, ')');
  return sample;
}

function parseSampleSize(cursor: Cursor, rule: string): TableSample {
  if (cursor.accept('bucket')) {
    const numerator = cursor.integer(rule);
    cursor.expect(rule, 'out', 'of');
    const denominator = cursor.integer(rule);
    const on = cursor.accept('on') ? cursor.list(() => parseExpression(cursor)) : [];
    return { kind: 'bucket', numerator, denominator, on };
  }
  const value = cursor.raw();
  if (cursor.kind() === TokenKind.byteLength) {
    cursor.index++;
    return { kind: 'bytes', value };
  }
  if (cursor.kind() !== TokenKind.number) cursor.fail(rule);
  cursor.index++;
  const unit = cursor.acceptOneOf(['percent', 'rows']) ?? cursor.fail(rule, cursor.index - 1);
  return { kind: unit, value };
}
