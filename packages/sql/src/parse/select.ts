import type {
  Expression,
  GroupBy,
  Identifier,
  NamedWindow,
  ScriptTransform,
  Select,
  SelectItem,
  TableReference,
} from './ast.js';
import type { Cursor } from './cursor.js';
import { parseExpression } from './expression.js';
import { parseFromSource } from './from-clause.js';
import { parseNamedWindow, parseStar } from './function-call.js';
import { RESERVED, RESERVED_FUNCTIONS } from './keywords.js';
import { TokenKind } from './lexer.js';
import { parseRowFormat } from './storage-clause.js';
import { parseType } from './type.js';

/** SELECT to QUALIFY. `from` is what stood before SELECT in the FROM-first form, where the node begins at token `start`. */
export function parseSelect(cursor: Cursor, from?: TableReference, start = cursor.index): Select {
  const script = cursor.acceptOneOf(['map', 'reduce']);
  if (script !== undefined) return parseScript(cursor, start, from, undefined, parseItems(cursor));
  cursor.expect('select clause', 'select');
  const hints = acceptHint(cursor);
  if (cursor.at('transform', '(')) {
    cursor.index++;
    const items = cursor.parenthesised('transform clause', () => parseItem(cursor));
    return parseScript(cursor, start, from, hints, items);
  }
  const distinct = cursor.accept('distinct');
  if (!distinct) cursor.accept('all');
  return parseClauses(cursor, start, from, {
    distinct,
    ...(hints !== undefined && { hints }),
    items: parseItems(cursor),
  });
}

function acceptHint(cursor: Cursor): string | undefined {
  if (cursor.kind() !== TokenKind.hint) return undefined;
  const hint = cursor.raw().slice(3, -2).trim();
  cursor.index++;
  return hint;
}

type Head = Pick<Select, 'distinct' | 'hints' | 'items' | 'transform'>;

function parseClauses(cursor: Cursor, start: number, first: TableReference | undefined, head: Head): Select {
  const condition = (word: string): Expression | undefined =>
    cursor.accept(word) ? parseExpression(cursor) : undefined;
  const from = first ?? (cursor.accept('from') ? parseFromSource(cursor) : undefined);
  const where = condition('where');
  const groupBy = parseGroupBy(cursor);
  const having = condition('having');
  const windows: NamedWindow[] = cursor.accept('window')
    ? cursor.list(() => parseNamedWindow(cursor, parseExpression))
    : [];
  const qualify = condition('qualify');
  return {
    kind: 'select',
    ...head,
    ...(from && { from }),
    ...(where && { where }),
    ...(groupBy && { groupBy }),
    ...(having && { having }),
    ...(qualify && { qualify }),
    windows,
    position: cursor.position(start),
  };
}

function parseItems(cursor: Cursor): SelectItem[] {
  if (startsNoItem(cursor)) cursor.fail('select clause');
  return cursor.list(() => parseItem(cursor));
}

/** Where nothing of a select list can stand, Hive names the clause; inside a list the expression. */
function startsNoItem(cursor: Cursor): boolean {
  const kind = cursor.kind();
  if (kind === TokenKind.symbol) return !cursor.atOneOf(['(', '*', '-', '+', '~', 'not', '?']);
  const word = cursor.word();
  return kind === TokenKind.end || (RESERVED.has(word) && !RESERVED_FUNCTIONS.has(word) && !ITEM_STARTS.has(word));
}

const ITEM_STARTS = new Set('case cast extract floor exists not interval null true false timestamplocaltz'.split(' '));

function parseItem(cursor: Cursor): SelectItem {
  const start = cursor.index;
  const qualifier = parseStar(cursor);
  if (qualifier !== undefined) return { kind: 'star', qualifier, position: cursor.position(start) };
  const expression = parseExpression(cursor);
  if (cursor.at('as', '(')) {
    cursor.index++;
    const aliases = cursor.parenthesised('selection target', () => cursor.identifier('selection target'));
    return { kind: 'expression', expression, aliases, position: cursor.position(start) };
  }
  const alias = cursor.alias('selection target');
  return { kind: 'expression', expression, ...(alias && { alias }), position: cursor.position(start) };
}

function parseGroupBy(cursor: Cursor): GroupBy | undefined {
  const start = cursor.index;
  if (!cursor.accept('group')) return undefined;
  cursor.expect('group by clause', 'by');
  const done = (group: Omit<GroupBy, 'position'>): GroupBy => ({ ...group, position: cursor.position(start) });
  const mode = cursor.acceptOneOf(['rollup', 'cube']);
  if (mode !== undefined) {
    return done({ mode, expressions: cursor.parenthesised('standard rollup syntax', () => parseExpression(cursor)) });
  }
  if (cursor.accept('(', ')')) return done({ mode: 'plain', expressions: [] });
  const expressions = cursor.list(() => parseExpression(cursor));
  if (cursor.accept('with', 'rollup')) return done({ mode: 'rollup', expressions });
  if (cursor.accept('with', 'cube')) return done({ mode: 'cube', expressions });
  if (!cursor.accept('grouping', 'sets')) return done({ mode: 'plain', expressions });
  const sets = cursor.parenthesised('grouping set expression', () => parseGroupingSet(cursor));
  return done({ mode: 'grouping-sets', expressions, sets });
}

function parseGroupingSet(cursor: Cursor): readonly Expression[] {
  if (cursor.accept('(', ')')) return [];
  const expression = parseExpression(cursor);
  return expression.kind === 'row' ? expression.items : [expression];
}

/** USING 'script' [AS (columns)], with the row formats and record classes around it read and dropped: scripts are not run. */
function parseScript(
  cursor: Cursor,
  start: number,
  from: TableReference | undefined,
  hints: string | undefined,
  items: SelectItem[],
): Select {
  const rule = 'transform clause';
  parseRowFormat(cursor);
  if (cursor.accept('recordwriter')) cursor.string(rule);
  const index = cursor.index;
  cursor.expect(rule, 'using');
  const script = cursor.string(rule);
  const columns: Identifier[] = [];
  const column = (): void => {
    columns.push(cursor.identifier(rule));
    if (!cursor.at(',') && !cursor.at(')') && !cursor.ended && columnHasType(cursor)) parseType(cursor);
  };
  if (cursor.accept('as')) {
    if (cursor.at('(')) cursor.parenthesised(rule, column);
    else cursor.list(column);
  }
  const transform: ScriptTransform = { script, columns, position: cursor.position(index) };
  parseRowFormat(cursor);
  if (cursor.accept('recordreader')) cursor.string(rule);
  return parseClauses(cursor, start, from, {
    distinct: false,
    ...(hints !== undefined && { hints }),
    items,
    transform,
  });
}

function columnHasType(cursor: Cursor): boolean {
  return !cursor.atOneOf([
    'from',
    'row',
    'recordreader',
    'where',
    'group',
    'limit',
    'order',
    'sort',
    'distribute',
    'cluster',
  ]);
}
