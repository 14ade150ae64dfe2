import type { ColumnConstraint, ColumnDefinition, ConstraintState, Identifier, TableConstraint } from './ast.js';
import type { Cursor } from './cursor.js';
import { parseExpression } from './expression.js';
import { parseType } from './type.js';

const RULE = 'column constraint';

/** `c type [constraint] [COMMENT 'x']` in this order (Hive: `columnNameTypeConstraint`). */
export function parseColumnDefinition(cursor: Cursor): ColumnDefinition {
  const start = cursor.index;
  const name = cursor.identifier('column name or constraint');
  if (/[.,:]/.test(name.name)) {
    cursor.error(
      `Failed to recognize predicate '${cursor.raw()}'. Failed rule: '[., :] can not be used in column name in create table statement.' in column specification`,
    );
  }
  const type = parseType(cursor);
  const constraint = parseColumnConstraint(cursor);
  const comment = cursor.accept('comment') ? cursor.string('column specification') : undefined;
  return {
    name,
    type,
    ...(constraint && { constraint }),
    ...(comment !== undefined && { comment }),
    position: cursor.position(start),
  };
}

/** The constraint behind a column's type, or nothing. */
export function parseColumnConstraint(cursor: Cursor): ColumnConstraint | undefined {
  const start = cursor.index;
  const name = cursor.accept('constraint') ? cursor.identifier(RULE) : undefined;
  const type = parseColumnConstraintType(cursor);
  if (type === undefined) return name === undefined ? undefined : cursor.fail(RULE);
  const state = parseState(cursor);
  return { ...type, ...(name && { name }), ...state, position: cursor.position(start) } as ColumnConstraint;
}

type WithoutState<T> = T extends unknown ? Omit<T, keyof ConstraintState | 'position'> : never;

function parseColumnConstraintType(cursor: Cursor): WithoutState<ColumnConstraint> | undefined {
  if (cursor.accept('not', 'null')) return { kind: 'not-null' };
  if (cursor.accept('unique')) return { kind: 'unique' };
  if (cursor.accept('primary', 'key')) return { kind: 'primary-key' };
  if (cursor.accept('default')) {
    // A constant, a CAST or a function's call.
    if (cursor.at('(')) cursor.fail(RULE);
    const value = parseExpression(cursor);
    if (value.kind === 'column') cursor.fail('function identifier');
    return { kind: 'default', value };
  }
  if (cursor.at('check', '(')) return { kind: 'check', expression: parseCheck(cursor) };
  if (!cursor.accept('references')) return undefined;
  const table = cursor.tableName();
  return { kind: 'foreign-key', table, columns: parseNames(cursor) };
}

function parseCheck(cursor: Cursor) {
  cursor.expect(RULE, 'check', '(');
  const expression = parseExpression(cursor);
  cursor.expect(RULE, ')');
  return expression;
}

export function parseNames(cursor: Cursor): Identifier[] {
  return cursor.parenthesised('column name', () => cursor.identifier('column name'));
}

/** Whether a table constraint begins here rather than a column. */
export function atTableConstraint(cursor: Cursor): boolean {
  return cursor.atOneOf(['constraint', 'primary', 'unique', 'foreign']) || cursor.at('check', '(');
}

/** `[CONSTRAINT n] PRIMARY KEY (…) | UNIQUE (…) | FOREIGN KEY (…) REFERENCES t (…) | CHECK (…)` with its state. */
export function parseTableConstraint(cursor: Cursor): TableConstraint {
  const start = cursor.index;
  const name = cursor.accept('constraint') ? cursor.identifier('constraint name') : undefined;
  const type = parseTableConstraintType(cursor);
  const state = parseState(cursor);
  return { ...type, ...(name && { name }), ...state, position: cursor.position(start) } as TableConstraint;
}

function parseTableConstraintType(cursor: Cursor): WithoutState<TableConstraint> {
  if (cursor.accept('primary', 'key')) return { kind: 'primary-key', columns: parseNames(cursor) };
  if (cursor.accept('unique')) return { kind: 'unique', columns: parseNames(cursor) };
  if (cursor.at('check')) return { kind: 'check', expression: parseCheck(cursor) };
  if (!cursor.accept('foreign', 'key')) return cursor.fail('table constraint');
  const columns = parseNames(cursor);
  cursor.expect('foreign key', 'references');
  const table = cursor.tableName();
  return { kind: 'foreign-key', columns, table, referencedColumns: parseNames(cursor) };
}

/** ENABLE | DISABLE | [NOT] ENFORCED, then [NO]VALIDATE, then [NO]RELY. */
function parseState(cursor: Cursor): Omit<ConstraintState, 'name'> {
  let enable: boolean | undefined;
  if (cursor.accept('enable') || cursor.accept('enforced')) enable = true;
  else if (cursor.accept('disable') || cursor.accept('not', 'enforced')) enable = false;
  const validate = acceptEither(cursor, 'validate', 'novalidate');
  const rely = acceptEither(cursor, 'rely', 'norely');
  return {
    ...(enable !== undefined && { enable }),
    ...(validate !== undefined && { validate }),
    ...(rely !== undefined && { rely }),
  };
}

function acceptEither(cursor: Cursor, yes: string, no: string): boolean | undefined {
  if (cursor.accept(yes)) return true;
  return cursor.accept(no) ? false : undefined;
}
