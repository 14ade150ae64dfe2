import type { AlterMaterializedViewStatement, AlterViewStatement, PartitionFilter, PartitionSpec } from './ast.js';
import type { Cursor } from './cursor.js';
import { parsePartition, parsePartitionFilter } from './partition.js';
import { parseProperties, parsePropertyKeys } from './storage-clause.js';

const RULE = 'alter view statement';

/** ALTER VIEW v …. */
export function parseAlterView(cursor: Cursor): AlterViewStatement {
  const start = cursor.index;
  cursor.index += 2;
  const view = cursor.tableName();
  cursor.accept('as');
  const action = parseAction(cursor);
  return { kind: 'alter-view', view, action, position: cursor.position(start) };
}

function parseAction(cursor: Cursor): AlterViewStatement['action'] {
  if (cursor.accept('set', 'tblproperties')) return { kind: 'set-properties', properties: parseProperties(cursor) };
  if (cursor.accept('unset', 'tblproperties')) {
    const ifExists = cursor.accept('if', 'exists');
    return { kind: 'unset-properties', ifExists, keys: parsePropertyKeys(cursor) };
  }
  if (cursor.accept('rename', 'to')) return { kind: 'rename', to: cursor.tableName() };
  if (cursor.accept('add')) {
    const ifNotExists = cursor.accept('if', 'not', 'exists');
    const partitions: PartitionSpec[] = [];
    do partitions.push(parsePartition(cursor));
    while (cursor.at('partition'));
    return { kind: 'add-partitions', ifNotExists, partitions };
  }
  if (cursor.accept('drop')) {
    const ifExists = cursor.accept('if', 'exists');
    const partitions = cursor.list((): PartitionFilter => {
      cursor.expect(RULE, 'partition');
      return parsePartitionFilter(cursor);
    });
    return { kind: 'drop-partitions', ifExists, partitions };
  }
  if (!cursor.atOneOf(['select', 'with', 'values', '(', 'from'])) cursor.fail(RULE);
  return { kind: 'as', query: cursor.parseQuery(cursor) };
}

/** ALTER MATERIALIZED VIEW v REBUILD | ENABLE REWRITE | DISABLE REWRITE. */
export function parseAlterMaterializedView(cursor: Cursor): AlterMaterializedViewStatement {
  const start = cursor.index;
  cursor.index += 3;
  const view = cursor.tableName();
  const done = (action: AlterMaterializedViewStatement['action']): AlterMaterializedViewStatement => ({
    kind: 'alter-materialized-view',
    view,
    action,
    position: cursor.position(start),
  });
  if (cursor.accept('rebuild')) return done('rebuild');
  if (cursor.accept('enable', 'rewrite')) return done('enable-rewrite');
  if (cursor.accept('disable', 'rewrite')) return done('disable-rewrite');
  return cursor.fail('alter materialized view statement');
}
