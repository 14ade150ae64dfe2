import type { SargLiteral } from '@skep/orc';
import type { Position } from '../parse/ast-expression.js';
import type { HiveType } from '../types/hive-type.js';
import type { Constant } from './constant.js';
import type { TableUseBuilder } from './table-use.js';

/** An expression after analysis: its Hive type and its DuckDB SQL (of the DuckDB type that holds the Hive type). */
export interface Expr {
  readonly sql: string;
  readonly type: HiveType;
  readonly position: Position;
  /** Of a literal: its value in the form of a search argument's. */
  readonly literal?: SargLiteral;
  /** Of a constant expression that is no literal, where it is compared: its value, once it is known. */
  readonly constant?: Constant | undefined;
  /** Of a plain column of a table, or a struct field of one: the dotted name. */
  readonly column?: { readonly use: TableUseBuilder; readonly name: string };
}

/** The same value as another type, or made by other SQL. */
export const derive = (from: Expr, type: HiveType, sql: string): Expr => ({ sql, type, position: from.position });

/** A text as a DuckDB literal. */
export function sqlString(value: string): string {
  const quoted = (part: string) => `'${part.replaceAll("'", "''")}'`;
  if (!value.includes('\0')) return quoted(value);
  return `(${value.split('\0').map(quoted).join(' || chr(0) || ')})`;
}
