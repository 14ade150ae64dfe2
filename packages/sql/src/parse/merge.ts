import type { CommonTableExpression, MergeClause, MergeStatement } from './ast.js';
import { parseNames } from './constraint.js';
import type { Cursor } from './cursor.js';
import { parseAssignments } from './dml.js';
import { parseExpression } from './expression.js';
import { parseFromSource } from './from-clause.js';
import { parseValue } from './values.js';

/** MERGE INTO t USING source ON … WHEN …. A WITH in front is more than Hive takes. */
export function parseMerge(cursor: Cursor, ctes: CommonTableExpression[], start: number): MergeStatement {
  const rule = 'MERGE statement';
  cursor.expect(rule, 'merge', 'into');
  const table = cursor.tableName();
  const alias = cursor.alias(rule);
  cursor.expect(rule, 'using');
  const source = parseFromSource(cursor);
  cursor.expect(rule, 'on');
  const on = parseExpression(cursor);
  const clauses: MergeClause[] = [];
  while (cursor.at('when')) clauses.push(parseWhen(cursor));
  if (clauses.length === 0) cursor.fail(rule);
  return {
    kind: 'merge',
    with: ctes,
    table,
    ...(alias && { alias }),
    source,
    on,
    clauses,
    position: cursor.position(start),
  };
}

function parseWhen(cursor: Cursor): MergeClause {
  const start = cursor.index++;
  const matched = !cursor.accept('not');
  const rule = matched ? 'WHEN MATCHED THEN clause' : 'WHEN NOT MATCHED clause';
  cursor.expect(rule, 'matched');
  const condition = cursor.accept('and') ? parseExpression(cursor) : undefined;
  cursor.expect(rule, 'then');
  const head = condition === undefined ? {} : { condition };
  if (!matched) {
    cursor.expect(rule, 'insert');
    const columns = cursor.at('(') ? parseNames(cursor) : undefined;
    cursor.expect(rule, 'values');
    const values = cursor.parenthesised(rule, () => parseValue(cursor));
    return { kind: 'insert', ...head, ...(columns && { columns }), values, position: cursor.position(start) };
  }
  if (cursor.accept('delete')) return { kind: 'delete', ...head, position: cursor.position(start) };
  if (!cursor.accept('update')) cursor.fail(rule);
  const assignments = parseAssignments(cursor, rule);
  return { kind: 'update', ...head, assignments, position: cursor.position(start) };
}
