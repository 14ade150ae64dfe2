import type {
  Expression,
  FrameBound,
  FunctionCall,
  Identifier,
  NamedWindow,
  OrderItem,
  WindowFrame,
  WindowSpecification,
} from './ast.js';
import type { Cursor } from './cursor.js';
import { RESERVED_FUNCTIONS } from './keywords.js';
import { TokenKind } from './lexer.js';

type ExpressionRule = (cursor: Cursor) => Expression;

const RULE = 'function specification';

/** Whether `name(` or `db.name(` begins here. */
export function startsFunction(cursor: Cursor): boolean {
  if (cursor.word(1) === '(') return cursor.isIdentifier() || RESERVED_FUNCTIONS.has(cursor.word());
  return cursor.word(1) === '.' && cursor.word(3) === '(' && cursor.isIdentifier() && cursor.isIdentifier(2);
}

/** A call with what may follow it: OVER, WITHIN GROUP, IGNORE NULLS. */
export function parseFunction(cursor: Cursor, expression: ExpressionRule): FunctionCall {
  const start = cursor.index;
  let name = cursor.anyWord().name;
  if (cursor.accept('.')) name += `.${cursor.anyWord().name}`;
  cursor.expect(RULE, '(');
  const star = cursor.at('*', ')');
  let nulls: FunctionCall['nulls'];
  let distinct = false;
  let items: Expression[] = [];
  if (star) cursor.index++;
  else {
    distinct = cursor.accept('distinct');
    if (!distinct) cursor.accept('all');
    if (!cursor.at(')')) items = cursor.list(() => parseArgument(cursor, expression));
    nulls = acceptNulls(cursor);
  }
  cursor.expect(RULE, ')');
  nulls ??= acceptNulls(cursor);
  const withinGroup = parseWithinGroup(cursor, expression);
  const over = cursor.accept('over') ? parseWindowSpecification(cursor, expression) : undefined;
  return {
    kind: 'function',
    name: name.toLowerCase(),
    arguments: items,
    distinct,
    star,
    ...(nulls && { nulls }),
    ...(withinGroup && { withinGroup }),
    ...(over && { over }),
    position: cursor.position(start),
  };
}

function acceptNulls(cursor: Cursor): FunctionCall['nulls'] {
  if (cursor.accept('ignore', 'nulls')) return 'ignore';
  return cursor.accept('respect', 'nulls') ? 'respect' : undefined;
}

function parseArgument(cursor: Cursor, expression: ExpressionRule): Expression {
  const start = cursor.index;
  const qualifier = parseStar(cursor);
  return qualifier === undefined
    ? expression(cursor)
    : { kind: 'all-columns', qualifier, position: cursor.position(start) };
}

/** `*`, `t.*`, `db.t.*`: what stands before the star, undefined where no star is here. */
export function parseStar(cursor: Cursor): readonly Identifier[] | undefined {
  if (cursor.accept('*')) return [];
  let ahead = 0;
  while (cursor.isIdentifier(ahead) && cursor.word(ahead + 1) === '.') ahead += 2;
  if (ahead === 0 || cursor.word(ahead) !== '*') return undefined;
  const qualifier: Identifier[] = [];
  while (!cursor.accept('*')) {
    qualifier.push(cursor.anyWord());
    cursor.accept('.');
  }
  return qualifier;
}

function parseWithinGroup(cursor: Cursor, expression: ExpressionRule): OrderItem[] | undefined {
  if (!cursor.accept('within', 'group')) return undefined;
  cursor.expect(RULE, '(', 'order', 'by');
  const items = cursor.list(() => parseOrderItem(cursor, expression));
  cursor.expect(RULE, ')');
  return items;
}

/** `x [ASC | DESC] [NULLS FIRST | LAST]`. */
export function parseOrderItem(cursor: Cursor, expression: ExpressionRule): OrderItem {
  const start = cursor.index;
  const item = { expression: expression(cursor), direction: cursor.acceptOneOf(['asc', 'desc']) ?? 'asc' };
  const nulls = acceptNullOrder(cursor);
  return { ...item, ...(nulls && { nulls }), position: cursor.position(start) };
}

export function acceptNullOrder(cursor: Cursor): 'first' | 'last' | undefined {
  if (cursor.accept('nulls', 'first')) return 'first';
  return cursor.accept('nulls', 'last') ? 'last' : undefined;
}

/** `WINDOW w AS (…), …`. */
export function parseNamedWindow(cursor: Cursor, expression: ExpressionRule): NamedWindow {
  const start = cursor.index;
  const name = cursor.identifier('window_defn');
  cursor.expect('window_defn', 'as');
  const specification = parseWindowSpecification(cursor, expression);
  return { name, specification, position: cursor.position(start) };
}

/** `w` or `([w] [PARTITION BY …] [ORDER BY …] [frame])`. */
function parseWindowSpecification(cursor: Cursor, expression: ExpressionRule): WindowSpecification {
  const rule = 'window_specification';
  const start = cursor.index;
  if (!cursor.at('(')) {
    const reference = cursor.identifier(rule);
    return { reference, partitionBy: [], orderBy: [], position: cursor.position(start) };
  }
  cursor.index++;
  const reference = cursor.isAlias() ? cursor.anyWord() : undefined;
  const one = (): Expression => expression(cursor);
  const order = (): OrderItem => parseOrderItem(cursor, expression);
  let partitionBy: Expression[] = [];
  let orderBy: OrderItem[] = [];
  if (cursor.accept('cluster', 'by')) {
    partitionBy = cursor.list(one);
    orderBy = partitionBy.map((item) => ({ expression: item, direction: 'asc', position: item.position }));
  } else {
    if (cursor.accept('partition', 'by') || cursor.accept('distribute', 'by')) partitionBy = cursor.list(one);
    if (cursor.accept('order', 'by') || cursor.accept('sort', 'by')) orderBy = cursor.list(order);
  }
  const frame = parseFrame(cursor, expression);
  cursor.expect(rule, ')');
  return {
    ...(reference && { reference }),
    partitionBy,
    orderBy,
    ...(frame && { frame }),
    position: cursor.position(start),
  };
}

function parseFrame(cursor: Cursor, expression: ExpressionRule): WindowFrame | undefined {
  const index = cursor.index;
  const unit = cursor.acceptOneOf(['rows', 'range']);
  if (unit === undefined) return undefined;
  if (!cursor.accept('between')) {
    const start = parseBound(cursor, expression);
    return { unit, start, position: cursor.position(index) };
  }
  const start = parseBound(cursor, expression);
  cursor.expect('window_frame', 'and');
  const end = parseBound(cursor, expression);
  return { unit, start, end, position: cursor.position(index) };
}

function parseBound(cursor: Cursor, expression: ExpressionRule): FrameBound {
  const rule = 'windowframeboundary';
  if (cursor.accept('current', 'row')) return { kind: 'current-row' };
  if (cursor.accept('unbounded')) {
    const side = cursor.acceptOneOf(['preceding', 'following']) ?? cursor.fail(rule, cursor.index - 1);
    return { kind: side === 'preceding' ? 'unbounded-preceding' : 'unbounded-following' };
  }
  if (cursor.kind() !== TokenKind.number && !cursor.at('interval')) cursor.fail(rule);
  const value = expression(cursor);
  const kind = cursor.acceptOneOf(['preceding', 'following']) ?? cursor.mismatch('PRECEDING', rule);
  return { kind, value };
}
