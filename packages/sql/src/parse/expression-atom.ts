import type { CaseExpression, Expression, IntervalUnit, Position, TimeUnit } from './ast.js';
import type { Cursor } from './cursor.js';
import { parseFunction, startsFunction } from './function-call.js';
import { INTERVAL_UNITS } from './keywords.js';
import { TokenKind } from './lexer.js';
import { unquoteString } from './string-literal.js';
import { parseType } from './type.js';

const RULE = 'expression specification';

/** The rule for whole expressions, handed in because expressions are made of atoms and atoms of expressions. */
export type ExpressionRule = (cursor: Cursor) => Expression;

/** A constant, a name, a call, CASE, CAST and their like, or something in parentheses (Hive: `atomExpression`). */
export function parseAtom(cursor: Cursor, expression: ExpressionRule): Expression {
  const start = cursor.index;
  switch (cursor.kind()) {
    case TokenKind.string:
    case TokenKind.number:
    case TokenKind.suffixed: {
      const value = parseLiteral(cursor);
      return withIntervalUnit(cursor, start, value) ?? value;
    }
    case TokenKind.symbol:
      if (cursor.at('(')) return parseParenthesised(cursor, expression);
      if (cursor.accept('?')) return { kind: 'parameter', position: cursor.position(start) };
      return cursor.fail(RULE);
    case TokenKind.word:
    case TokenKind.quoted:
      return parseKeyword(cursor, expression) ?? parseName(cursor, expression);
    default:
      return cursor.fail(RULE);
  }
}

/** A string (with those next to it) or a number. */
export function parseLiteral(cursor: Cursor): Expression {
  const start = cursor.index;
  const kind = cursor.kind();
  const raw = cursor.raw();
  cursor.index++;
  if (kind === TokenKind.string) {
    let value = unquoteString(raw);
    while (cursor.kind() === TokenKind.string) {
      value += unquoteString(cursor.raw());
      cursor.index++;
    }
    return { kind: 'string', value, position: cursor.position(start) };
  }
  if (kind === TokenKind.number) return { kind: 'number', text: raw, suffix: '', position: cursor.position(start) };
  const length = /bd$/i.test(raw) ? 2 : 1;
  const suffix = raw.slice(-length).toUpperCase() as 'Y' | 'S' | 'L' | 'D' | 'BD';
  return { kind: 'number', text: raw.slice(0, -length), suffix, position: cursor.position(start) };
}

/**
 * A constant as partition values and properties have it: no names, no operators, but a sign, which Hive's own grammar
 * refuses there and users write.
 */
export function parseConstant(cursor: Cursor): Expression {
  const start = cursor.index;
  const kind = cursor.kind();
  if (cursor.at('-') && (cursor.kind(1) === TokenKind.number || cursor.kind(1) === TokenKind.suffixed)) {
    cursor.index++;
    const operand = parseLiteral(cursor);
    return { kind: 'unary', operator: '-', operand, position: cursor.position(start) };
  }
  if (kind === TokenKind.string || kind === TokenKind.number || kind === TokenKind.suffixed)
    return parseLiteral(cursor);
  return parseWordConstant(cursor) ?? cursor.fail('constant');
}

function parseWordConstant(cursor: Cursor): Expression | undefined {
  const start = cursor.index;
  const position = (): Position => cursor.position(start);
  switch (cursor.word()) {
    case 'null':
      cursor.index++;
      return { kind: 'null', position: position() };
    case 'true':
    case 'false': {
      const value = cursor.word() === 'true';
      cursor.index++;
      return { kind: 'boolean', value, position: position() };
    }
    case 'date': {
      if (cursor.kind(1) !== TokenKind.string) return undefined;
      cursor.index++;
      const value = cursor.string(RULE);
      return { kind: 'date', value, position: position() };
    }
    case 'timestamp':
    case 'timestamplocaltz': {
      const zoned = cursor.at('timestamp', 'with', 'local', 'time', 'zone');
      const words = zoned ? 5 : 1;
      if (cursor.kind(words) !== TokenKind.string) return undefined;
      const localTimeZone = zoned || cursor.word() === 'timestamplocaltz';
      cursor.index += words;
      const value = cursor.string(RULE);
      return { kind: 'timestamp', value, localTimeZone, position: position() };
    }
    case 'current_date':
    case 'current_timestamp': {
      if (cursor.word(1) === '(') return undefined;
      const name = cursor.word();
      cursor.index++;
      return { kind: 'function', name, arguments: [], distinct: false, star: false, position: position() };
    }
    default:
      return undefined;
  }
}

function parseKeyword(cursor: Cursor, expression: ExpressionRule): Expression | undefined {
  const called = cursor.word(1) === '(';
  switch (cursor.word()) {
    case 'case':
      return parseCase(cursor, expression);
    case 'interval':
      return parseInterval(cursor, expression);
    case 'cast':
      return parseCast(cursor, expression);
    case 'extract':
      return parseExtract(cursor, expression);
    case 'floor':
      return called ? parseFloor(cursor, expression) : undefined;
    case 'trim':
      return called ? parseTrim(cursor, expression) : undefined;
    default:
      return parseWordConstant(cursor);
  }
}

function parseName(cursor: Cursor, expression: ExpressionRule): Expression {
  if (startsFunction(cursor)) return parseFunction(cursor, expression);
  const start = cursor.index;
  const name = cursor.identifier(RULE);
  return { kind: 'column', path: [name], position: cursor.position(start) };
}

/** `(SELECT …)`, `(a)`, `(a, b)`, and Hive's `(1) DAY`. */
function parseParenthesised(cursor: Cursor, expression: ExpressionRule): Expression {
  const start = cursor.index;
  if (atQuery(cursor)) {
    cursor.index++;
    const query = cursor.parseQuery(cursor);
    cursor.expect(RULE, ')');
    return { kind: 'subquery', query, position: cursor.position(start) };
  }
  cursor.index++;
  const items = cursor.list(() => expression(cursor));
  cursor.expect(RULE, ')');
  const position = cursor.position(start);
  if (items.length > 1) return { kind: 'row', items, position };
  const [item] = items;
  // The parentheses belong to the node's text, and keep `(a).b` a field of the column a.
  const inner = { ...item, position };
  return withIntervalUnit(cursor, start, inner) ?? inner;
}

/** Whether a parenthesis here opens a query: `(SELECT`, `((SELECT …) UNION …`, but not `((SELECT 1) + 1)`. */
export function atQuery(cursor: Cursor): boolean {
  let open = 0;
  while (cursor.word(open) === '(') open++;
  if (open === 0) return false;
  const word = cursor.word(open);
  if (!QUERY_STARTS.has(word) && !(SCRIPT_STARTS.has(word) && cursor.word(open + 1) !== '(')) return false;
  for (let inner = open - 1; inner > 0; inner--) {
    const after = cursor.closingIndex(cursor.index + inner) - cursor.index + 1;
    if (!QUERY_CONTINUES.has(cursor.word(after))) return false;
  }
  return true;
}

const SCRIPT_STARTS = new Set(['map', 'reduce']);
const QUERY_STARTS = new Set(['select', 'with', 'from', 'values']);
const QUERY_CONTINUES = new Set('union intersect except minus ) order sort distribute cluster limit'.split(' '));

function withIntervalUnit(cursor: Cursor, start: number, value: Expression): Expression | undefined {
  if (value.kind !== 'string' && !(value.kind === 'number' && value.suffix === '')) return undefined;
  const unit = acceptIntervalUnit(cursor);
  return unit === undefined ? undefined : { kind: 'interval', value, unit, position: cursor.position(start) };
}

function acceptIntervalUnit(cursor: Cursor): IntervalUnit | undefined {
  if (cursor.accept('year', 'to', 'month')) return 'year to month';
  if (cursor.accept('day', 'to', 'second')) return 'day to second';
  const word = cursor.word();
  if (!Object.hasOwn(INTERVAL_UNITS, word)) return undefined;
  cursor.index++;
  return INTERVAL_UNITS[word];
}

function parseInterval(cursor: Cursor, expression: ExpressionRule): Expression {
  const start = cursor.index++;
  const kind = cursor.kind();
  let value: Expression | undefined;
  if (cursor.accept('(')) {
    value = expression(cursor);
    cursor.expect(RULE, ')');
  } else if (kind === TokenKind.string || kind === TokenKind.number) {
    value = parseLiteral(cursor);
  }
  const unit = value === undefined ? undefined : acceptIntervalUnit(cursor);
  if (value === undefined || unit === undefined) {
    cursor.index = start;
    return cursor.fail(RULE);
  }
  return { kind: 'interval', value, unit, position: cursor.position(start) };
}

function parseCase(cursor: Cursor, expression: ExpressionRule): Expression {
  const rule = 'case expression';
  const start = cursor.index++;
  const operand = cursor.at('when') ? undefined : expression(cursor);
  const branches: { when: Expression; result: Expression }[] = [];
  while (cursor.accept('when')) {
    const when = expression(cursor);
    cursor.expect(rule, 'then');
    branches.push({ when, result: expression(cursor) });
  }
  if (branches.length === 0) {
    cursor.error(`required (...)+ loop did not match anything at input '${cursor.raw()}' in ${rule}`);
  }
  const otherwise = cursor.accept('else') ? expression(cursor) : undefined;
  cursor.expect(rule, 'end');
  const node: CaseExpression = { kind: 'case', branches, position: cursor.position(start) };
  return { ...node, ...(operand && { operand }), ...(otherwise && { otherwise }) };
}

function parseCast(cursor: Cursor, expression: ExpressionRule): Expression {
  const rule = 'cast expression';
  const start = cursor.index++;
  cursor.expect(rule, '(');
  const operand = expression(cursor);
  cursor.expect(rule, 'as');
  const type = parseType(cursor, rule);
  const format = cursor.accept('format') ? cursor.string(rule) : undefined;
  cursor.expect(rule, ')');
  const position = cursor.position(start);
  return format === undefined
    ? { kind: 'cast', operand, type, position }
    : { kind: 'cast', operand, type, format, position };
}

const TIME_UNITS: readonly TimeUnit[] = ['year', 'quarter', 'month', 'week', 'day', 'dow', 'hour', 'minute', 'second'];

function acceptTimeUnit(cursor: Cursor): TimeUnit | undefined {
  const unit = cursor.acceptOneOf(TIME_UNITS);
  if (unit !== undefined) return unit;
  if (cursor.accept('dayofweek')) return 'dow';
  const plural = cursor.word();
  if (!Object.hasOwn(INTERVAL_UNITS, plural)) return undefined;
  cursor.index++;
  return INTERVAL_UNITS[plural];
}

function parseExtract(cursor: Cursor, expression: ExpressionRule): Expression {
  const start = cursor.index++;
  cursor.expect(RULE, '(');
  const unit = acceptTimeUnit(cursor) ?? cursor.fail(RULE);
  cursor.expect(RULE, 'from');
  const operand = expression(cursor);
  cursor.expect(RULE, ')');
  return { kind: 'extract', unit, operand, position: cursor.position(start) };
}

/** `FLOOR(x TO unit)`, or the plain function. */
function parseFloor(cursor: Cursor, expression: ExpressionRule): Expression {
  const start = cursor.index;
  cursor.index += 2;
  const operand = expression(cursor);
  if (cursor.accept('to')) {
    const unit = acceptTimeUnit(cursor) ?? cursor.fail(RULE);
    cursor.expect(RULE, ')');
    return { kind: 'floor-to', operand, unit, position: cursor.position(start) };
  }
  cursor.expect(RULE, ')');
  const position = cursor.position(start);
  return { kind: 'function', name: 'floor', arguments: [operand], distinct: false, star: false, position };
}

/** The forms with FROM; `trim(x)` and `trim(x, y)` are plain functions. */
function parseTrim(cursor: Cursor, expression: ExpressionRule): Expression {
  const start = cursor.index;
  cursor.index += 2;
  const mode = cursor.acceptOneOf(['both', 'leading', 'trailing']);
  const first = cursor.at('from') ? undefined : expression(cursor);
  if (mode === undefined && !cursor.at('from')) {
    cursor.index = start;
    return parseFunction(cursor, expression);
  }
  cursor.expect('trim function', 'from');
  const operand = expression(cursor);
  cursor.expect('trim function', ')');
  const trim = { kind: 'trim', mode: mode ?? 'both', operand, position: cursor.position(start) } as const;
  return first === undefined ? trim : { ...trim, characters: first };
}
