import type { Expression } from './ast.js';
import type { Cursor } from './cursor.js';
import { parseExpression } from './expression.js';
import { parseLiteral } from './expression-atom.js';
import { TokenKind } from './lexer.js';

const RULE = 'values table constructor';

/** `(1, 'a'), (2, DEFAULT)`: the rows behind VALUES. Literals skip the operator levels: bulk loads have millions. */
export function parseRows(cursor: Cursor): Expression[][] {
  return cursor.list(() => parseRow(cursor));
}

export function parseRow(cursor: Cursor): Expression[] {
  if (cursor.at('(', ')')) cursor.failAfter(RULE);
  if (!cursor.at('(')) cursor.fail(RULE);
  return cursor.parenthesised(RULE, () => parseValue(cursor));
}

/** A value of VALUES or SET: an expression, or DEFAULT, which elsewhere would be a column's name. */
export function parseValue(cursor: Cursor): Expression {
  const kind = cursor.kind();
  const next = cursor.word(1);
  if (next === ',' || next === ')') {
    if (kind === TokenKind.string || kind === TokenKind.number || kind === TokenKind.suffixed)
      return parseLiteral(cursor);
  }
  if (cursor.at('default') && !(next === '(' || next === '.' || next === '[')) {
    const start = cursor.index++;
    return { kind: 'default', position: cursor.position(start) };
  }
  return parseExpression(cursor);
}
