import type {
  AlterDatabaseStatement,
  CreateDatabaseStatement,
  CreateMaterializedViewStatement,
  CreateViewStatement,
  DdlStatement,
  DropDatabaseStatement,
  DropTableStatement,
  Identifier,
  Principal,
  UseStatement,
} from './ast.js';
import { parseNames } from './constraint.js';
import { parseStorageClauses } from './create-table.js';
import type { Cursor } from './cursor.js';
import { skipReplication } from './dml.js';
import { parseProperties, parseTableProperties } from './storage-clause.js';

const isDatabase = (cursor: Cursor, ahead = 1): boolean => ['database', 'schema'].includes(cursor.word(ahead));

/** CREATE of a view, a materialized view or a database; undefined for other things. */
export function parseCreate(cursor: Cursor): DdlStatement | undefined {
  if (cursor.at('create', 'view') || cursor.at('create', 'or', 'replace')) return parseCreateView(cursor);
  if (cursor.at('create', 'materialized', 'view')) return parseCreateMaterializedView(cursor);
  if (isDatabase(cursor) || (cursor.word(1) === 'remote' && isDatabase(cursor, 2))) return parseCreateDatabase(cursor);
  return undefined;
}

/** DROP of a table, a view, a materialized view or a database; undefined for other things. */
export function parseDrop(cursor: Cursor): DdlStatement | undefined {
  const start = cursor.index;
  if (cursor.at('drop', 'table')) return parseDropTable(cursor);
  if (isDatabase(cursor)) return parseDropDatabase(cursor);
  const kind = cursor.at('drop', 'view') ? 'drop-view' : 'drop-materialized-view';
  if (kind !== 'drop-view' && !cursor.at('drop', 'materialized', 'view')) return undefined;
  cursor.index += kind === 'drop-view' ? 2 : 3;
  const ifExists = cursor.accept('if', 'exists');
  const view = cursor.tableName('view name');
  return { kind, ifExists, view, position: cursor.position(start) };
}

function parseDropTable(cursor: Cursor): DropTableStatement {
  const start = cursor.index;
  cursor.index += 2;
  const ifExists = cursor.accept('if', 'exists');
  const table = cursor.tableName();
  const purge = cursor.accept('purge');
  if (cursor.accept('for')) skipReplication(cursor, 'drop statement');
  return { kind: 'drop-table', ifExists, table, purge, position: cursor.position(start) };
}

function parseDropDatabase(cursor: Cursor): DropDatabaseStatement {
  const start = cursor.index;
  cursor.index += 2;
  const ifExists = cursor.accept('if', 'exists');
  const name = cursor.identifier('drop database statement');
  const cascade = cursor.acceptOneOf(['cascade', 'restrict']) === 'cascade';
  return { kind: 'drop-database', ifExists, name, cascade, position: cursor.position(start) };
}

function parseCreateView(cursor: Cursor): CreateViewStatement {
  const rule = 'create view statement';
  const start = cursor.index++;
  const orReplace = cursor.accept('or', 'replace');
  cursor.expect(rule, 'view');
  const ifNotExists = cursor.accept('if', 'not', 'exists');
  const view = cursor.tableName();
  const columns = cursor.at('(')
    ? cursor.parenthesised(rule, (): CreateViewStatement['columns'][number] => {
        const name = cursor.identifier('column name');
        const comment = cursor.accept('comment') ? cursor.string('column name') : undefined;
        return comment === undefined ? { name } : { name, comment };
      })
    : [];
  const comment = cursor.accept('comment') ? cursor.string(rule) : undefined;
  const partitionedOn = parseOn(cursor, 'partitioned');
  const properties = parseTableProperties(cursor);
  cursor.expect(rule, 'as');
  const query = cursor.parseQuery(cursor);
  return {
    kind: 'create-view',
    orReplace,
    ifNotExists,
    view,
    columns,
    ...(comment !== undefined && { comment }),
    partitionedOn,
    properties,
    query,
    position: cursor.position(start),
  };
}

function parseOn(cursor: Cursor, word: string): readonly Identifier[] {
  return cursor.accept(word, 'on') ? parseNames(cursor) : [];
}

function parseCreateMaterializedView(cursor: Cursor): CreateMaterializedViewStatement {
  const rule = 'create materialized view statement';
  const start = cursor.index;
  cursor.index += 3;
  const ifNotExists = cursor.accept('if', 'not', 'exists');
  const view = cursor.tableName();
  const rewrite = !cursor.accept('disable', 'rewrite');
  const comment = cursor.accept('comment') ? cursor.string(rule) : undefined;
  const partitionedOn = parseOn(cursor, 'partitioned');
  const clusteredOn = parseOn(cursor, 'clustered');
  const distributedOn = parseOn(cursor, 'distributed');
  const sortedOn = parseOn(cursor, 'sorted');
  const storage = parseStorageClauses(cursor);
  cursor.expect(rule, 'as');
  const query = cursor.parseQuery(cursor);
  return {
    kind: 'create-materialized-view',
    ifNotExists,
    view,
    rewrite,
    ...(comment !== undefined && { comment }),
    partitionedOn,
    clusteredOn,
    distributedOn,
    sortedOn,
    ...storage,
    query,
    position: cursor.position(start),
  };
}

function parseCreateDatabase(cursor: Cursor): CreateDatabaseStatement {
  const rule = 'create database statement';
  const start = cursor.index++;
  const remote = cursor.accept('remote');
  cursor.index++;
  const ifNotExists = cursor.accept('if', 'not', 'exists');
  const name = cursor.identifier(rule);
  const text = (word: string): string | undefined => (cursor.accept(word) ? cursor.string(rule) : undefined);
  const comment = text('comment');
  const location = text('location');
  const managedLocation = text('managedlocation');
  const connector = remote && cursor.accept('using') ? cursor.identifier(rule) : undefined;
  const properties = cursor.accept('with', 'dbproperties') ? parseProperties(cursor) : [];
  return {
    kind: 'create-database',
    remote,
    ifNotExists,
    name,
    ...(comment !== undefined && { comment }),
    ...(location !== undefined && { location }),
    ...(managedLocation !== undefined && { managedLocation }),
    ...(connector && { connector }),
    properties,
    position: cursor.position(start),
  };
}

/** ALTER DATABASE | SCHEMA d SET …. */
export function parseAlterDatabase(cursor: Cursor): AlterDatabaseStatement {
  const start = cursor.index;
  cursor.index += 2;
  const name = cursor.identifier('alter database statement');
  const action = parseDatabaseAction(cursor);
  return { kind: 'alter-database', name, action, position: cursor.position(start) };
}

function parseDatabaseAction(cursor: Cursor): AlterDatabaseStatement['action'] {
  const rule = 'alter database statement';
  if (cursor.accept('set', 'dbproperties')) return { kind: 'set-properties', properties: parseProperties(cursor) };
  if (cursor.accept('set', 'owner')) return { kind: 'set-owner', owner: parsePrincipal(cursor) };
  if (cursor.accept('set', 'location')) return { kind: 'set-location', location: cursor.string(rule) };
  if (!cursor.accept('set', 'managedlocation')) return cursor.fail(rule);
  return { kind: 'set-managed-location', location: cursor.string(rule) };
}

/** `USER x`, `ROLE x`, `GROUP x`. */
export function parsePrincipal(cursor: Cursor): Principal {
  const rule = 'user|group|role name';
  const start = cursor.index;
  const type = cursor.acceptOneOf(['user', 'role', 'group']) ?? cursor.fail(rule);
  const name = cursor.identifier(rule);
  return { type, name, position: cursor.position(start) };
}

export function parseUse(cursor: Cursor): UseStatement {
  const start = cursor.index++;
  const database = cursor.identifier('switch database statement');
  return { kind: 'use', database, position: cursor.position(start) };
}
