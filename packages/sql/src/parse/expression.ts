import type {
  BinaryExpression,
  BinaryOperator,
  ComparisonOperator,
  Expression,
  LogicalExpression,
  UnaryExpression,
} from './ast.js';
import type { Cursor } from './cursor.js';
import { atQuery, parseAtom } from './expression-atom.js';

/*
 * Hive's operators from loose to tight (IdentifiersParser.g of 4.0.1, checked against its parser):
 *   OR | AND | NOT ! | IS [NOT] NULL… (once) | = <=> <> IS DISTINCT FROM (left to right)
 *   | < <= > >= LIKE RLIKE REGEXP IN BETWEEN (once) | "|" | & | "||" | + - | * / % DIV | ^ | unary + - ~ | [ ] .
 * So `a = b IS NULL` is (a = b) IS NULL, `a ^ b * c` is (a ^ b) * c, and `a < b < c` does not parse.
 */

const RULE = 'expression specification';

/** Any expression. */
export function parseExpression(cursor: Cursor): Expression {
  return cursor.nested(parseOr);
}

function parseOr(cursor: Cursor): Expression {
  return parseLogical(cursor, 'or', parseAnd);
}

function parseAnd(cursor: Cursor): Expression {
  return parseLogical(cursor, 'and', parseNot);
}

function parseLogical(
  cursor: Cursor,
  operator: LogicalExpression['operator'],
  next: (cursor: Cursor) => Expression,
): Expression {
  const start = cursor.index;
  const first = next(cursor);
  if (!cursor.at(operator)) return first;
  const operands = [first];
  while (cursor.accept(operator)) operands.push(next(cursor));
  return { kind: 'logical', operator, operands, position: cursor.position(start) };
}

function parseNot(cursor: Cursor): Expression {
  const start = cursor.index;
  if (cursor.accept('not')) {
    const operand = cursor.nested(parseNot);
    return { kind: 'unary', operator: 'not', operand, position: cursor.position(start) };
  }
  const operand = parseEquality(cursor);
  if (!cursor.at('is')) return operand;
  const decision = cursor.index++;
  const negated = cursor.accept('not');
  const test = cursor.acceptOneOf(['null', 'true', 'false', 'unknown']);
  if (test === undefined) return cursor.fail(RULE, decision);
  return { kind: 'is', operand, test, negated, position: cursor.position(start) };
}

const EQUALITY: readonly ComparisonOperator[] = ['=', '<=>', '<>'];

function parseEquality(cursor: Cursor): Expression {
  const start = cursor.index;
  let left = parseSimilar(cursor);
  for (;;) {
    const operator = cursor.acceptOneOf(EQUALITY);
    if (operator !== undefined) {
      if (cursor.ended) cursor.fail(RULE, cursor.index - 1);
      const right = parseSimilar(cursor);
      left = { kind: 'binary', operator, left, right, position: cursor.position(start) };
      continue;
    }
    const negated = cursor.at('is', 'not', 'distinct', 'from');
    if (!negated && !cursor.at('is', 'distinct', 'from')) return left;
    cursor.index += negated ? 4 : 3;
    const right = parseSimilar(cursor);
    left = { kind: 'is-distinct', left, right, negated, position: cursor.position(start) };
  }
}

const ORDERING: readonly ComparisonOperator[] = ['<', '<=', '>', '>='];
const SIMILAR_AFTER_NOT = ['like', 'rlike', 'regexp', 'in', 'between'] as const;

function parseSimilar(cursor: Cursor): Expression {
  const start = cursor.index;
  if (cursor.accept('exists')) {
    const query = parseSubquery(cursor);
    return { kind: 'exists', query, position: cursor.position(start) };
  }
  const operand = parseBinary(cursor, 0);
  const quantified = parseQuantified(cursor, start, operand);
  if (quantified !== undefined) return quantified;
  const operator = cursor.acceptOneOf(ORDERING);
  if (operator !== undefined) {
    const right = parseBinary(cursor, 0);
    return { kind: 'binary', operator, left: operand, right, position: cursor.position(start) };
  }
  const negated = cursor.at('not');
  if (negated) cursor.index++;
  const word = cursor.acceptOneOf(SIMILAR_AFTER_NOT);
  switch (word) {
    case undefined:
      return negated ? cursor.fail(RULE) : operand;
    case 'in':
      return parseIn(cursor, start, operand, negated);
    case 'between': {
      const low = parseBinary(cursor, 0);
      cursor.expect(RULE, 'and');
      const high = parseBinary(cursor, 0);
      return { kind: 'between', operand, low, high, negated, position: cursor.position(start) };
    }
    default:
      return parseLike(cursor, start, operand, word === 'like' ? 'like' : 'rlike', negated);
  }
}

/** `= ANY (SELECT …)`: only with a subquery behind. */
function parseQuantified(cursor: Cursor, start: number, operand: Expression): Expression | undefined {
  const operator = [...EQUALITY, ...ORDERING].find((o) => cursor.at(o));
  if (operator === undefined) return undefined;
  const word = cursor.word(1);
  if ((word !== 'any' && word !== 'some' && word !== 'all') || cursor.word(2) !== '(') return undefined;
  cursor.index += 2;
  const query = parseSubquery(cursor);
  const quantifier = word === 'all' ? 'all' : 'any';
  return { kind: 'quantified-comparison', operator, quantifier, operand, query, position: cursor.position(start) };
}

function parseIn(cursor: Cursor, start: number, operand: Expression, negated: boolean): Expression {
  if (atQuery(cursor)) {
    const query = parseSubquery(cursor);
    return { kind: 'in-subquery', operand, query, negated, position: cursor.position(start) };
  }
  if (cursor.at('(', ')')) cursor.failAfter(RULE);
  if (!cursor.at('(')) cursor.fail(RULE);
  const items = cursor.parenthesised(RULE, () => parseExpression(cursor));
  return { kind: 'in-list', operand, items, negated, position: cursor.position(start) };
}

function parseLike(
  cursor: Cursor,
  start: number,
  operand: Expression,
  operator: 'like' | 'rlike',
  negated: boolean,
): Expression {
  const quantifier = operator === 'like' ? cursor.acceptOneOf(['any', 'all']) : undefined;
  const patterns =
    quantifier === undefined ? [parseBinary(cursor, 0)] : cursor.parenthesised(RULE, () => parseExpression(cursor));
  const like = { kind: 'like', operator, operand, patterns, negated, position: cursor.position(start) } as const;
  return quantifier === undefined ? like : { ...like, quantifier };
}

/** From loose to tight. */
const BINARY_LEVELS: readonly (readonly BinaryOperator[])[] = [
  ['|'],
  ['&'],
  ['||'],
  ['+', '-'],
  ['*', '/', '%', 'div'],
  ['^'],
];
const LEVEL_OF = new Map(
  BINARY_LEVELS.flatMap((operators, level) => operators.map((o) => [o as string, level] as const)),
);

/** Precedence climbing over the binary operators of at least `minimum`; all associate to the left. */
function parseBinary(cursor: Cursor, minimum: number): Expression {
  const start = cursor.index;
  let left = parseUnary(cursor);
  for (;;) {
    const operator = cursor.word();
    const level = LEVEL_OF.get(operator);
    if (level === undefined || level < minimum) return left;
    cursor.index++;
    const right = parseBinary(cursor, level + 1);
    const binary: BinaryExpression = {
      kind: 'binary',
      operator: operator as BinaryOperator,
      left,
      right,
      position: cursor.position(start),
    };
    left = binary;
  }
}

const UNARY: readonly UnaryExpression['operator'][] = ['-', '+', '~'];

function parseUnary(cursor: Cursor): Expression {
  const start = cursor.index;
  const operator = cursor.acceptOneOf(UNARY);
  if (operator === undefined) return parsePostfix(cursor);
  const operand = cursor.nested(parseUnary);
  return { kind: 'unary', operator, operand, position: cursor.position(start) };
}

function parsePostfix(cursor: Cursor): Expression {
  const start = cursor.index;
  let base = parseAtom(cursor, parseExpression);
  for (;;) {
    if (cursor.accept('[')) {
      const index = parseExpression(cursor);
      cursor.expect(RULE, ']');
      base = { kind: 'index', base, index, position: cursor.position(start) };
    } else if (cursor.at('.')) {
      cursor.index++;
      const field = cursor.identifier(RULE);
      const position = cursor.position(start);
      base =
        base.kind === 'column' && cursor.text[base.position.start] !== '('
          ? { kind: 'column', path: [...base.path, field], position }
          : { kind: 'field', base, field, position };
    } else {
      return base;
    }
  }
}

function parseSubquery(cursor: Cursor) {
  cursor.expect(RULE, '(');
  const query = cursor.parseQuery(cursor);
  cursor.expect(RULE, ')');
  return query;
}
