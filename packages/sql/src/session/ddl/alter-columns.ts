import { Constraint_Kind, type FieldSchema, type Table } from '@skep/rpc';
import type { AlterTableAction } from '../../parse/ast.js';
import { columnType } from '../column-type.js';
import { SemanticError } from '../errors.js';
import { isFullAcid } from '../transaction/lock-plan.js';
import { checkTypeChange } from './type-change.js';

export const columnsOf = (table: Table): FieldSchema[] => table.sd?.columns ?? [];

export function setColumns(table: Table, columns: FieldSchema[]): void {
  if (table.sd !== undefined) table.sd.columns = columns;
}

export function refuseRepeated(table: Table, added: readonly FieldSchema[]): void {
  const names = new Set([...columnsOf(table), ...table.partitionKeys].map((c) => c.name));
  for (const column of added) {
    if (names.has(column.name)) throw new SemanticError(10036, `Duplicate column name: ${column.name}`);
    names.add(column.name);
  }
}

export function refuseDroppedColumns(before: Table, columns: readonly FieldSchema[]): void {
  if (columns.length < columnsOf(before).length) {
    throw new SemanticError(
      10313,
      `Replacing columns cannot drop columns for table ${before.database}.${before.name}. SerDe may be incompatible`,
    );
  }
}

export function changeColumn(table: Table, action: Extract<AlterTableAction, { kind: 'change-column' }>): void {
  const columns = columnsOf(table);
  const oldName = action.column.name.toLowerCase();
  const at = columns.findIndex((c) => c.name === oldName);
  if (at < 0)
    throw new SemanticError(10002, `Invalid column reference '${action.column.name}'`, {
      position: action.column.position,
    });
  const column: FieldSchema = {
    name: action.newName.name.toLowerCase(),
    type: columnType(action.type),
    comment: action.comment ?? columns[at].comment,
  };
  if (column.name !== oldName && [...columns, ...table.partitionKeys].some((c) => c.name === column.name)) {
    throw new SemanticError(10036, `Duplicate column name: ${column.name}`);
  }
  const rest = columns.filter((_, i) => i !== at);
  let to = at;
  if (action.placement === 'first') to = 0;
  else if (action.placement !== undefined) {
    const after = action.placement.after.name.toLowerCase();
    to = rest.findIndex((c) => c.name === after) + 1;
    if (to === 0)
      throw new SemanticError(10002, `Invalid column reference '${after}'`, {
        position: action.placement.after.position,
      });
  }
  if (to !== at && isFullAcid(table)) {
    throw new SemanticError(
      10311,
      `Reordering columns is not supported for table ${table.database}.${table.name}. SerDe may be incompatible`,
    );
  }
  checkTypeChange(columns[at], column, table);
  setColumns(table, [...rest.slice(0, to), column, ...rest.slice(to)]);
  if (table.sd !== undefined && column.name !== oldName) {
    table.sd.bucketColumns = table.sd.bucketColumns.map((name) => (name === oldName ? column.name : name));
  }
  for (const constraint of table.constraints) {
    constraint.columns = constraint.columns.map((name) => (name === oldName ? column.name : name));
    // A CHECK is kept with its columns in backticks.
    if (constraint.kind === Constraint_Kind.KIND_CHECK)
      constraint.expression = constraint.expression.replaceAll(quoted(oldName), quoted(column.name));
  }
}

const quoted = (name: string): string => `\`${name.replaceAll('`', '``')}\``;
