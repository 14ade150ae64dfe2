import type {
  Assignment,
  CommonTableExpression,
  DeleteStatement,
  ExportStatement,
  ImportStatement,
  InsertBranch,
  InsertDirectory,
  InsertStatement,
  InsertTarget,
  LoadStatement,
  MultiInsertStatement,
  Query,
  TruncateStatement,
  UpdateStatement,
} from './ast.js';
import { parseNames } from './constraint.js';
import type { Cursor } from './cursor.js';
import { parseExpression } from './expression.js';
import { atQuery } from './expression-atom.js';
import { acceptPartition } from './partition.js';
import { atSelect, continueBody, finishQuery, parseBranchQuery, parseFrom, parseQuery } from './query.js';
import { parseSelect } from './select.js';
import { parseRowFormat, parseStorage } from './storage-clause.js';
import { parseValue } from './values.js';

type Ctes = CommonTableExpression[];

/** INSERT INTO | OVERWRITE … SELECT | VALUES | (query). A WITH in front belongs to the query. */
export function parseInsert(cursor: Cursor, ctes: Ctes, start: number): InsertStatement {
  const target = parseInsertTarget(cursor);
  if (!atSelect(cursor) && !cursor.at('values') && !atQuery(cursor)) cursor.fail('statement');
  const query: Query = { ...parseQuery(cursor), with: ctes };
  return { kind: 'insert', target, query, position: cursor.position(start) };
}

function parseInsertTarget(cursor: Cursor): InsertTarget {
  const start = cursor.index;
  cursor.expect('insert clause', 'insert');
  const word = cursor.acceptOneOf(['into', 'overwrite']) ?? cursor.fail('insert clause', start);
  const overwrite = word === 'overwrite';
  if (overwrite && (cursor.at('directory') || cursor.at('local', 'directory'))) return parseDirectory(cursor, start);
  if (!cursor.accept('table') && overwrite && !cursor.isIdentifier()) cursor.fail('destination specification');
  const table = cursor.tableName();
  const partition = acceptPartition(cursor);
  const ifNotExists = cursor.accept('if', 'not', 'exists');
  if (cursor.at('(', ')')) {
    cursor.index++;
    cursor.fail('statement');
  }
  const columns = cursor.at('(') && !atQuery(cursor) ? parseNames(cursor) : undefined;
  return {
    kind: 'table',
    overwrite,
    table,
    ...(partition && { partition }),
    ifNotExists,
    ...(columns && { columns }),
    position: cursor.position(start),
  };
}

function parseDirectory(cursor: Cursor, start: number): InsertDirectory {
  const local = cursor.accept('local');
  cursor.expect('destination specification', 'directory');
  const path = cursor.string('destination specification');
  const rowFormat = parseRowFormat(cursor);
  const storage = parseStorage(cursor);
  return {
    kind: 'directory',
    local,
    path,
    ...(rowFormat && { rowFormat }),
    ...(storage && { storage }),
    position: cursor.position(start),
  };
}

/** A statement that begins with FROM: a query, or one or several INSERTs from the one source. */
export function parseFromFirst(
  cursor: Cursor,
  ctes: Ctes,
  start: number,
): Query | InsertStatement | MultiInsertStatement {
  const bodyStart = cursor.index;
  const from = parseFrom(cursor);
  if (atSelect(cursor)) {
    const body = continueBody(cursor, bodyStart, parseSelect(cursor, from, bodyStart));
    return finishQuery(cursor, start, ctes, body);
  }
  if (!cursor.at('insert')) {
    cursor.error(`required (...)+ loop did not match anything at input '${cursor.raw()}' in statement`);
  }
  const branches: InsertBranch[] = [];
  while (cursor.at('insert')) {
    const index = cursor.index;
    const target = parseInsertTarget(cursor);
    const query = parseBranchQuery(cursor, from);
    branches.push({ target, query, position: cursor.position(index) });
  }
  const position = cursor.position(start);
  if (branches.length === 1) {
    const [{ target, query }] = branches;
    return { kind: 'insert', target, query: { ...query, with: ctes }, position };
  }
  return { kind: 'multi-insert', with: ctes, from, branches, position };
}

/** UPDATE t SET …: an alias is none of Hive's. */
export function parseUpdate(cursor: Cursor): UpdateStatement {
  const start = cursor.index++;
  const table = cursor.tableName();
  const assignments = parseAssignments(cursor, 'update statement');
  const where = cursor.accept('where') ? parseExpression(cursor) : undefined;
  return {
    kind: 'update',
    table,
    assignments,
    ...(where && { where }),
    position: cursor.position(start),
  };
}

/** `SET a = 1, b = DEFAULT`: columns without their table's name. */
export function parseAssignments(cursor: Cursor, rule: string): Assignment[] {
  cursor.expect(rule, 'set');
  return cursor.list(() => {
    const start = cursor.index;
    const column = cursor.identifier(rule);
    cursor.expect(rule, '=');
    const value = parseValue(cursor);
    return { column, value, position: cursor.position(start) };
  });
}

/** DELETE FROM t WHERE …: an alias is none of Hive's. */
export function parseDelete(cursor: Cursor): DeleteStatement {
  const start = cursor.index++;
  cursor.expect('delete statement', 'from');
  const table = cursor.tableName();
  const where = cursor.accept('where') ? parseExpression(cursor) : undefined;
  return { kind: 'delete', table, ...(where && { where }), position: cursor.position(start) };
}

export function parseLoad(cursor: Cursor): LoadStatement {
  const rule = 'load statement';
  const start = cursor.index;
  cursor.expect(rule, 'load', 'data');
  const local = cursor.accept('local');
  cursor.expect(rule, 'inpath');
  const path = cursor.string(rule);
  const overwrite = cursor.accept('overwrite');
  cursor.expect(rule, 'into', 'table');
  const table = cursor.tableName();
  const partition = acceptPartition(cursor);
  let format: Pick<LoadStatement, 'inputFormat' | 'serde'> = {};
  if (cursor.accept('inputformat')) {
    const inputFormat = cursor.string(rule);
    cursor.expect(rule, 'serde');
    format = { inputFormat, serde: cursor.string(rule) };
  }
  return {
    kind: 'load',
    local,
    path,
    overwrite,
    table,
    ...(partition && { partition }),
    ...format,
    position: cursor.position(start),
  };
}

/** TRUNCATE [TABLE] t [PARTITION (…)] [COLUMNS (…)] [FORCE]. */
export function parseTruncate(cursor: Cursor): TruncateStatement {
  const rule = 'truncate table statement';
  const start = cursor.index++;
  cursor.accept('table');
  const table = cursor.tableName();
  const partition = acceptPartition(cursor);
  const columns = cursor.accept('columns') ? parseNames(cursor) : undefined;
  const force = cursor.accept('force');
  if (cursor.at('columns')) cursor.fail(rule);
  return {
    kind: 'truncate',
    table,
    ...(partition && { partition }),
    ...(columns && { columns }),
    force,
    position: cursor.position(start),
  };
}

export function parseExport(cursor: Cursor): ExportStatement {
  const rule = 'export statement';
  const start = cursor.index++;
  cursor.expect(rule, 'table');
  const table = cursor.tableName();
  const partition = acceptPartition(cursor);
  cursor.expect(rule, 'to');
  const path = cursor.string(rule);
  if (cursor.accept('for')) skipReplication(cursor, rule);
  return { kind: 'export', table, ...(partition && { partition }), path, position: cursor.position(start) };
}

/** The words of `FOR [METADATA] REPLICATION ('id')` behind FOR. */
export function skipReplication(cursor: Cursor, rule: string): void {
  cursor.accept('metadata');
  cursor.expect(rule, 'replication');
  cursor.parenthesised(rule, () => cursor.string(rule));
}

export function parseImport(cursor: Cursor): ImportStatement {
  const rule = 'import statement';
  const start = cursor.index++;
  const external = cursor.accept('external');
  const table = cursor.accept('table') ? cursor.tableName() : undefined;
  const partition = acceptPartition(cursor);
  cursor.expect(rule, 'from');
  const path = cursor.string(rule);
  const location = cursor.accept('location') ? cursor.string(rule) : undefined;
  return {
    kind: 'import',
    external,
    ...(table && { table }),
    ...(partition && { partition }),
    path,
    ...(location !== undefined && { location }),
    position: cursor.position(start),
  };
}
