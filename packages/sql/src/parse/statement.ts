import { parseAlterTable } from './alter-table.js';
import { parseAlterMaterializedView, parseAlterView } from './alter-view.js';
import type { Position, Statement } from './ast.js';
import { parseCliCommand } from './cli.js';
import {
  parseAbort,
  parseAnalyze,
  parseCreateFunction,
  parseCreateMacro,
  parseDescribe,
  parseDropFunction,
  parseKill,
  parseLock,
  parseMsck,
  parseTransaction,
} from './command.js';
import { atCreateTable, parseCreateTable } from './create-table.js';
import { Cursor } from './cursor.js';
import { parseAlterDatabase, parseCreate, parseDrop, parseUse } from './ddl.js';
import {
  parseDelete,
  parseExport,
  parseFromFirst,
  parseImport,
  parseInsert,
  parseLoad,
  parseTruncate,
  parseUpdate,
} from './dml.js';
import { parseExpression } from './expression.js';
import { atQuery } from './expression-atom.js';
import { parseMerge } from './merge.js';
import { parseQuery, parseWith } from './query.js';
import { firstTokenOffset } from './script.js';
import { parseShow } from './show.js';
import { parseType } from './type.js';
import { acceptUnsupported } from './unsupported.js';

/** Parses one statement, without its semicolon. Throws ParseError with Hive's position and words. */
export function parseStatement(text: string): Statement {
  const offset = firstTokenOffset(text);
  const command = parseCliCommand(text.slice(offset).trimEnd(), positionOf(text, offset));
  if (command !== undefined) return command;
  const cursor = new Cursor(text, parseQuery);
  const statement = parseAny(cursor);
  cursor.expectEnd();
  return statement;
}

/** Parses an expression on its own: a CHECK or DEFAULT text out of the catalog. */
export function parseExpressionText(text: string) {
  const cursor = new Cursor(text, parseQuery);
  const expression = parseExpression(cursor);
  cursor.expectEnd();
  return expression;
}

/** Parses a type as DESCRIBE prints it: `map<string,array<int>>`. */
export function parseTypeText(text: string) {
  const cursor = new Cursor(text, parseQuery);
  const type = parseType(cursor);
  cursor.expectEnd();
  return type;
}

function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return { line, column: offset - (before.lastIndexOf('\n') + 1), start: offset, end: text.trimEnd().length };
}

function parseAny(cursor: Cursor): Statement {
  const unsupported = acceptUnsupported(cursor);
  if (unsupported !== undefined) return unsupported;
  const start = cursor.index;
  switch (cursor.word()) {
    case 'with':
      return parseWithStatement(cursor);
    case 'select':
    case 'values':
    case '(':
      return parseQuery(cursor);
    case 'map':
    case 'reduce':
      return cursor.word(1) === '(' ? cursor.fail('') : parseQuery(cursor);
    case 'from':
      return parseFromFirst(cursor, [], start);
    case 'insert':
      return parseInsert(cursor, [], start);
    case 'update':
      return parseUpdate(cursor);
    case 'delete':
      return parseDelete(cursor);
    case 'merge':
      return parseMerge(cursor, [], start);
    case 'load':
      return parseLoad(cursor);
    case 'truncate':
      return parseTruncate(cursor);
    case 'export':
      return parseExport(cursor);
    case 'import':
      return parseImport(cursor);
    case 'create':
      return parseCreateAny(cursor);
    case 'drop':
      return parseDropAny(cursor);
    case 'alter':
      return parseAlterAny(cursor);
    case 'explain':
      return parseExplain(cursor);
    default:
      return parseCommand(cursor);
  }
}

function parseCommand(cursor: Cursor): Statement {
  const start = cursor.index;
  switch (cursor.word()) {
    case 'use':
      return parseUse(cursor);
    case 'show':
      return parseShow(cursor);
    case 'describe':
    case 'desc':
      return parseDescribe(cursor);
    case 'analyze':
      return parseAnalyze(cursor);
    case 'msck':
      return parseMsck(cursor);
    case 'abort':
      return parseAbort(cursor);
    case 'lock':
    case 'unlock':
      return parseLock(cursor);
    case 'start':
    case 'begin':
    case 'commit':
    case 'rollback':
      return parseTransaction(cursor);
    case 'kill':
      return parseKill(cursor);
    case 'reload':
      cursor.index++;
      if (cursor.acceptOneOf(['function', 'functions']) === undefined) cursor.fail('reload functions statement');
      return { kind: 'reload-functions', position: cursor.position(start) };
    case 'set': {
      cursor.index++;
      cursor.expect('set autocommit statement', 'autocommit');
      const value = cursor.acceptOneOf(['true', 'false']) ?? cursor.fail('set autocommit statement');
      return { kind: 'set-autocommit', value: value === 'true', position: cursor.position(start) };
    }
    default:
      return cursor.fail('');
  }
}

/** WITH … before a query, an INSERT, a FROM, or (more than Hive takes) a MERGE. */
function parseWithStatement(cursor: Cursor): Statement {
  const start = cursor.index;
  const ctes = parseWith(cursor);
  if (cursor.at('insert')) return parseInsert(cursor, ctes, start);
  if (cursor.at('from')) return parseFromFirst(cursor, ctes, start);
  if (cursor.at('merge')) return parseMerge(cursor, ctes, start);
  if (!cursor.at('select') && !cursor.at('values') && !atQuery(cursor)) cursor.fail('statement');
  const inner = parseQuery(cursor);
  return { ...inner, with: ctes, position: cursor.position(start) };
}

function parseCreateAny(cursor: Cursor): Statement {
  if (atCreateTable(cursor)) return parseCreateTable(cursor);
  if (cursor.at('create', 'temporary', 'macro')) return parseCreateMacro(cursor);
  if (cursor.at('create', 'function') || cursor.at('create', 'temporary', 'function'))
    return parseCreateFunction(cursor);
  return parseCreate(cursor) ?? failAtSecond(cursor);
}

function parseDropAny(cursor: Cursor): Statement {
  if (cursor.at('drop', 'function') || cursor.at('drop', 'temporary', 'function')) return parseDropFunction(cursor);
  return parseDrop(cursor) ?? failAtSecond(cursor);
}

function parseAlterAny(cursor: Cursor): Statement {
  if (cursor.at('alter', 'table')) return parseAlterTable(cursor);
  if (cursor.at('alter', 'view')) return parseAlterView(cursor);
  if (cursor.at('alter', 'materialized', 'view')) return parseAlterMaterializedView(cursor);
  if (cursor.at('alter', 'database') || cursor.at('alter', 'schema')) return parseAlterDatabase(cursor);
  return failAtSecond(cursor);
}

/** Hive names three words from CREATE on, and points at the second, where no rule fits. */
function failAtSecond(cursor: Cursor): never {
  return cursor.failAfter('ddl statement');
}

const EXPLAIN_MODES = [
  'extended',
  'formatted',
  'cbo',
  'cost',
  'joincost',
  'dependency',
  'authorization',
  'locks',
  'ast',
  'reoptimization',
  'vectorization',
  'only',
  'summary',
  'operator',
  'expression',
  'detail',
  'debug',
  'logical',
  'ddl',
  'rewrite',
] as const;

function parseExplain(cursor: Cursor): Statement {
  const start = cursor.index++;
  const mode: string[] = [];
  for (;;) {
    const word = cursor.acceptOneOf(EXPLAIN_MODES);
    if (word !== undefined) mode.push(word);
    else if (cursor.word(1) === 'table' || !cursor.accept('analyze')) break;
    else mode.push('analyze');
  }
  if (cursor.ended || cursor.at('explain')) cursor.fail('explain statement');
  const statement = parseAny(cursor);
  return { kind: 'explain', mode, statement, position: cursor.position(start) };
}
