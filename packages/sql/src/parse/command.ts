import type {
  AnalyzeStatement,
  CommandStatement,
  CreateFunctionStatement,
  CreateMacroStatement,
  DescribeTableStatement,
  DropFunctionStatement,
  Identifier,
  MsckStatement,
} from './ast.js';
import type { Cursor } from './cursor.js';
import { parseExpression } from './expression.js';
import { TokenKind } from './lexer.js';
import { acceptPartition, parsePartitionFilter } from './partition.js';
import { parseType } from './type.js';

/** DESCRIBE | DESC of a table, a database or a function. */
export function parseDescribe(cursor: Cursor): CommandStatement {
  const rule = 'describe statement';
  const start = cursor.index++;
  if (cursor.acceptOneOf(['database', 'schema']) !== undefined) {
    const extended = cursor.accept('extended');
    const database = cursor.identifier(rule);
    return { kind: 'describe-database', extended, database, position: cursor.position(start) };
  }
  if (cursor.accept('function')) {
    const extended = cursor.accept('extended');
    const name = cursor.acceptString() ?? parseAnyFunctionName(cursor);
    return { kind: 'describe-function', extended, name: name.toLowerCase(), position: cursor.position(start) };
  }
  const styled = cursor.at('extended') || (cursor.at('formatted') && cursor.isIdentifier(1));
  const style = styled ? cursor.acceptOneOf(['formatted', 'extended']) : undefined;
  if (!cursor.isIdentifier()) cursor.fail(rule, styled ? cursor.index - 1 : cursor.index);
  const table = cursor.tableName();
  const before = acceptPartition(cursor);
  const column = cursor.isIdentifier() ? parseColumnPath(cursor) : undefined;
  const partition = before ?? acceptPartition(cursor);
  const described: DescribeTableStatement = { kind: 'describe-table', table, position: cursor.position(start) };
  return { ...described, ...(style && { style }), ...(column && { column }), ...(partition && { partition }) };
}

/** An operator may be described too: `DESCRIBE FUNCTION +`. */
function parseAnyFunctionName(cursor: Cursor): string {
  if (cursor.ended) cursor.fail('describe statement');
  if (cursor.kind() === TokenKind.symbol) {
    const raw = cursor.raw();
    cursor.index++;
    return raw;
  }
  return parseFunctionName(cursor);
}

function parseFunctionName(cursor: Cursor): string {
  let name = cursor.kind() === TokenKind.word ? cursor.anyWord().name : cursor.identifier('function identifier').name;
  if (cursor.accept('.')) name += `.${cursor.identifier('function identifier').name}`;
  return name;
}

/** `a.b.$elem$.c`. */
function parseColumnPath(cursor: Cursor): Identifier[] {
  const path = [cursor.anyWord()];
  while (cursor.accept('.')) {
    const start = cursor.index;
    if (cursor.at('$') && cursor.word(2) === '$') {
      cursor.index += 3;
      const position = cursor.position(start);
      path.push({ name: cursor.text.slice(position.start, position.end), quoted: false, position });
    } else {
      path.push(cursor.identifier('describe statement'));
    }
  }
  return path;
}

/** ABORT TRANSACTIONS | COMPACTIONS n …: ids without commas. */
export function parseAbort(cursor: Cursor): CommandStatement {
  const start = cursor.index++;
  const what = cursor.acceptOneOf(['transactions', 'compactions']) ?? cursor.fail('ddl statement', start);
  const rule = `abort ${what} statement`;
  const ids: bigint[] = [];
  while (cursor.kind() === TokenKind.number) {
    const text = cursor.raw();
    cursor.integer(rule);
    ids.push(BigInt(text));
  }
  if (ids.length === 0) {
    cursor.error(`required (...)+ loop did not match anything at input '${cursor.raw()}' in ${rule}`);
  }
  return { kind: `abort-${what}`, ids, position: cursor.position(start) };
}

/** LOCK | UNLOCK of a table or a database. */
export function parseLock(cursor: Cursor): CommandStatement {
  const rule = cursor.at('lock') ? 'lock statement' : 'unlock statement';
  const start = cursor.index;
  const lock = cursor.word() === 'lock';
  cursor.index++;
  const mode = (): 'shared' | 'exclusive' => cursor.acceptOneOf(['shared', 'exclusive']) ?? cursor.fail('lock mode');
  if (cursor.acceptOneOf(['database', 'schema']) !== undefined) {
    const database = cursor.identifier(rule);
    if (lock) return { kind: 'lock-database', database, mode: mode(), position: cursor.position(start) };
    return { kind: 'unlock-database', database, position: cursor.position(start) };
  }
  cursor.expect(rule, 'table');
  const table = cursor.tableName();
  const partition = acceptPartition(cursor);
  const target = { table, ...(partition && { partition }) };
  if (lock) return { kind: 'lock-table', ...target, mode: mode(), position: cursor.position(start) };
  return { kind: 'unlock-table', ...target, position: cursor.position(start) };
}

/** START TRANSACTION, COMMIT, ROLLBACK, and BEGIN, which Hive has not. */
export function parseTransaction(cursor: Cursor): CommandStatement {
  const start = cursor.index;
  const word = cursor.word();
  cursor.index++;
  if (word === 'commit' || word === 'rollback') {
    cursor.acceptOneOf(['work', 'transaction']);
    return { kind: word, position: cursor.position(start) };
  }
  if (word === 'begin') cursor.acceptOneOf(['transaction', 'work']);
  else cursor.expect('statement', 'transaction');
  let readOnly = false;
  let isolated = false;
  do {
    if (cursor.accept('read', 'only')) readOnly = true;
    else if (cursor.accept('isolation', 'level', 'snapshot')) isolated = true;
    else cursor.accept('read', 'write');
  } while (cursor.accept(','));
  return {
    kind: 'start-transaction',
    readOnly,
    ...(isolated && { isolationLevel: 'snapshot' as const }),
    position: cursor.position(start),
  };
}

/** CREATE [TEMPORARY] FUNCTION f AS 'class' [USING JAR 'x', …]. */
export function parseCreateFunction(cursor: Cursor): CreateFunctionStatement {
  const rule = 'create function statement';
  const start = cursor.index++;
  const temporary = cursor.accept('temporary');
  cursor.expect(rule, 'function');
  const name = parseFunctionName(cursor).toLowerCase();
  cursor.expect(rule, 'as');
  const className = cursor.string(rule);
  const resources = cursor.accept('using')
    ? cursor.list((): CreateFunctionStatement['resources'][number] => {
        const type = cursor.acceptOneOf(['jar', 'file', 'archive']) ?? cursor.fail('resource type');
        return { type, path: cursor.string(rule) };
      })
    : [];
  return { kind: 'create-function', temporary, name, className, resources, position: cursor.position(start) };
}

export function parseDropFunction(cursor: Cursor): DropFunctionStatement {
  const start = cursor.index++;
  const temporary = cursor.accept('temporary');
  cursor.index++;
  const ifExists = cursor.accept('if', 'exists');
  const name = parseFunctionName(cursor).toLowerCase();
  return { kind: 'drop-function', temporary, ifExists, name, position: cursor.position(start) };
}

/** CREATE TEMPORARY MACRO m(x int) x + 1. */
export function parseCreateMacro(cursor: Cursor): CreateMacroStatement {
  const rule = 'create macro statement';
  const start = cursor.index;
  cursor.index += 3;
  const name = cursor.identifier(rule).name.toLowerCase();
  const empty = cursor.accept('(', ')');
  const parameters = empty
    ? []
    : cursor.parenthesised(rule, () => ({ name: cursor.identifier(rule), type: parseType(cursor) }));
  const body = parseExpression(cursor);
  return { kind: 'create-macro', name, parameters, body, position: cursor.position(start) };
}

export function parseKill(cursor: Cursor): CommandStatement {
  const start = cursor.index++;
  cursor.expect('kill query statement', 'query');
  const ids: string[] = [];
  do ids.push(cursor.string('kill query statement'));
  while (!cursor.ended);
  return { kind: 'kill-query', ids, position: cursor.position(start) };
}

/** MSCK [REPAIR] TABLE t [ADD | DROP | SYNC PARTITIONS [(filter)]]. */
export function parseMsck(cursor: Cursor): MsckStatement {
  const rule = 'msck repair table statement';
  const start = cursor.index++;
  const repair = cursor.accept('repair');
  cursor.expect(rule, 'table');
  const table = cursor.tableName();
  const action = cursor.acceptOneOf(['add', 'drop', 'sync']);
  if (action !== undefined) cursor.expect(rule, 'partitions');
  const filter = action !== undefined && cursor.at('(') ? parsePartitionFilter(cursor) : undefined;
  const position = cursor.position(start);
  return { kind: 'msck', repair, table, action: action ?? 'add', ...(filter && { filter }), position };
}

/** ANALYZE TABLE t COMPUTE STATISTICS …. */
export function parseAnalyze(cursor: Cursor): AnalyzeStatement {
  const rule = 'analyze statement';
  const start = cursor.index++;
  cursor.expect(rule, 'table');
  const table = cursor.tableName();
  const partition = acceptPartition(cursor);
  const head = { kind: 'analyze', table, ...(partition && { partition }) } as const;
  const action = parseAnalyzeAction(cursor, rule);
  const noScan = action === 'compute' && cursor.accept('noscan');
  const forColumns = action !== 'cache-metadata' && cursor.accept('for', 'columns');
  const columns = forColumns && cursor.isIdentifier() ? cursor.list(() => cursor.identifier(rule)) : [];
  return { ...head, action, noScan, forColumns, columns, position: cursor.position(start) };
}

function parseAnalyzeAction(cursor: Cursor, rule: string): AnalyzeStatement['action'] {
  if (cursor.accept('cache', 'metadata')) return 'cache-metadata';
  if (cursor.accept('drop', 'statistics')) return 'drop';
  cursor.expect(rule, 'compute', 'statistics');
  return 'compute';
}
