import type { PartitionColumn, PartitionFilter, PartitionFilterTerm, PartitionSpec } from './ast.js';
import type { Cursor } from './cursor.js';
import { parseConstant } from './expression-atom.js';

const RULE = 'partition specification';

/** `PARTITION (a='x', b)`, or nothing. */
export function acceptPartition(cursor: Cursor): PartitionSpec | undefined {
  return cursor.at('partition') ? parsePartition(cursor) : undefined;
}

export function parsePartition(cursor: Cursor): PartitionSpec {
  const start = cursor.index;
  cursor.expect(RULE, 'partition');
  const columns = cursor.parenthesised(RULE, (): PartitionColumn => {
    const index = cursor.index;
    const column = cursor.identifier(RULE);
    if (!cursor.accept('=')) return { column, position: cursor.position(index) };
    const value = parseConstant(cursor);
    return { column, value, position: cursor.position(index) };
  });
  return { columns, position: cursor.position(start) };
}

const OPERATORS: readonly PartitionFilterTerm['operator'][] = ['=', '<>', '<', '<=', '>', '>=', 'like'];

/** `(ds > '2024-01-01', hr = 1)` behind PARTITION of DROP PARTITION. AND is taken like a comma, as Hive 4 does. */
export function parsePartitionFilter(cursor: Cursor): PartitionFilter {
  const start = cursor.index;
  cursor.expect(RULE, '(');
  const terms: PartitionFilterTerm[] = [];
  do {
    const index = cursor.index;
    const column = cursor.identifier(RULE);
    const operator = cursor.acceptOneOf(OPERATORS) ?? cursor.fail(RULE);
    const value = parseConstant(cursor);
    terms.push({ column, operator, value, position: cursor.position(index) });
  } while (cursor.accept(',') || cursor.accept('and'));
  cursor.expect(RULE, ')');
  return { terms, position: cursor.position(start) };
}
