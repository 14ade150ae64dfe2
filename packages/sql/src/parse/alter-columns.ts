import type { AlterTableAction } from './ast.js';
import { parseColumnConstraint, parseColumnDefinition } from './constraint.js';
import type { Cursor } from './cursor.js';
import { parseType } from './type.js';

/** An action without its position, which the caller adds. */
export type Action = AlterTableAction extends infer A ? (A extends unknown ? Omit<A, 'position'> : never) : never;

/** ADD | REPLACE COLUMNS, CHANGE [COLUMN], DROP COLUMN of ALTER TABLE; undefined where none of them is here. */
export function parseAlterColumns(cursor: Cursor): Action | undefined {
  if (cursor.at('add', 'columns') || cursor.at('replace', 'columns')) {
    const kind = cursor.at('add') ? 'add-columns' : 'replace-columns';
    cursor.index += 2;
    const columns = cursor.parenthesised('add column statement', () => parseColumnDefinition(cursor));
    return { kind, columns, cascade: acceptCascade(cursor) };
  }
  if (cursor.at('drop', 'column')) {
    cursor.index += 2;
    const ifExists = cursor.accept('if', 'exists');
    const column = cursor.identifier('drop column statement');
    return { kind: 'drop-column', column, ifExists, cascade: acceptCascade(cursor) };
  }
  return cursor.at('change') ? parseChange(cursor) : undefined;
}

function acceptCascade(cursor: Cursor): boolean {
  return cursor.acceptOneOf(['cascade', 'restrict']) === 'cascade';
}

function parseChange(cursor: Cursor): Action {
  const rule = 'rename column name';
  cursor.index++;
  cursor.accept('column');
  const column = cursor.identifier(rule);
  const newName = cursor.identifier(rule);
  const type = parseType(cursor);
  const constraint = parseColumnConstraint(cursor);
  const comment = cursor.accept('comment') ? cursor.string(rule) : undefined;
  const placement = acceptPlacement(cursor);
  return {
    kind: 'change-column',
    column,
    newName,
    type,
    ...(constraint && { constraint }),
    ...(comment !== undefined && { comment }),
    ...(placement && { placement }),
    cascade: acceptCascade(cursor),
  };
}

function acceptPlacement(cursor: Cursor) {
  if (cursor.accept('first')) return 'first';
  return cursor.accept('after') ? { after: cursor.identifier('rename column name') } : undefined;
}
