import { invalidColumn, invalidTableOrColumn, semantic } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import type { TableUseBuilder } from '../expressions/table-use.js';
import type { Identifier, Position } from '../parse/ast-expression.js';
import { quoteName } from '../types/duck-type.js';
import { arrayOf, type HiveType } from '../types/hive-type.js';

export interface ScopeColumn {
  readonly name: string;
  readonly type: HiveType;
  readonly sql: string;
  /** Not in `*`. */
  readonly virtual: boolean;
  /** Found only with its table's name (the right side of USING). */
  readonly qualifiedOnly?: boolean;
  readonly use?: TableUseBuilder;
  /** Of a subquery that only passes a table's column on: that column. */
  readonly origin?: Expr['column'];
}
/** A table of a FROM clause as names see it. */
export interface ScopeTable {
  readonly alias: string | undefined;
  readonly database?: string | undefined;
  readonly columns: readonly ScopeColumn[];
}

/** The names of one FROM clause, and around it those of the query that it is a subquery of. */
export class Scope {
  constructor(
    readonly tables: readonly ScopeTable[],
    readonly outer?: Scope,
  ) {}

  /** What a chain of names means (org.apache.hadoop.hive.ql.parse.RowResolver and TypeCheckProcFactory's DOT). */
  resolve(path: readonly Identifier[], position: Position): Expr {
    const names = path.map((part) => part.name.toLowerCase());
    const found = this.find(names, path) ?? this.outer?.find(names, path, true);
    if (found !== undefined) return found;
    for (let scope = this.outer?.outer; scope !== undefined; scope = scope.outer) {
      const further = scope.find(names, path, true);
      if (further !== undefined) return further;
    }
    throw invalidTableOrColumn(path[0].name, this.possibleNames(), position);
  }

  has(path: readonly Identifier[]): boolean {
    return (
      this.find(
        path.map((part) => part.name.toLowerCase()),
        path,
      ) !== undefined
    );
  }

  table(qualifier: readonly Identifier[]): ScopeTable | undefined {
    const [last, database] = [...qualifier].reverse().map((part) => part.name.toLowerCase());
    return this.tables.find((table) => table.alias === last && (database === undefined || table.database === database));
  }

  private find(names: readonly string[], path: readonly Identifier[], lenient = false): Expr | undefined {
    if (names.length > 1) {
      const direct = this.tables.filter((table) => table.alias === names[0]);
      const qualified =
        direct.length === 0 && names.length > 2
          ? this.tables.filter((table) => table.database === names[0] && table.alias === names[1])
          : [];
      const [tables, at] = direct.length > 0 ? [direct, 1] : [qualified, 2];
      if (tables.length > 0) {
        const columns = tables.flatMap((table) => table.columns.filter((column) => column.name === names[at]));
        if (columns.length === 0) {
          if (lenient || this.bare(names[0]).length > 0) return this.bareColumn(names, path);
          throw invalidColumn(path[at].name, path[at].position);
        }
        return access(columns[0], path.slice(at + 1), span(path));
      }
    }
    return this.bareColumn(names, path);
  }

  private bareColumn(names: readonly string[], path: readonly Identifier[]): Expr | undefined {
    const columns = this.bare(names[0]);
    if (columns.length > 1)
      throw semantic(`Column ${names[0]} Found in more than One Tables/Subqueries`, path[0].position);
    return columns.length === 0 ? undefined : access(columns[0], path.slice(1), span(path));
  }

  private bare(name: string): ScopeColumn[] {
    return this.tables.flatMap((table) =>
      table.columns.filter((column) => column.name === name && column.qualifiedOnly !== true),
    );
  }

  private possibleNames(): string[] {
    const several = this.tables.length > 1;
    return this.tables.flatMap((table) =>
      table.columns
        .filter((column) => !column.virtual)
        .map((column) => (several && table.alias !== undefined ? `${table.alias}.${column.name}` : column.name)),
    );
  }
}

const span = (path: readonly Identifier[]): Position => ({
  ...path[0].position,
  end: path[path.length - 1].position.end,
});

function access(column: ScopeColumn, fields: readonly Identifier[], position: Position): Expr {
  column.use?.need(column.name);
  const base: Expr = {
    sql: column.sql,
    type: column.type,
    position,
    ...(column.use === undefined
      ? column.origin === undefined
        ? {}
        : { column: column.origin }
      : { column: { use: column.use, name: column.name } }),
  };
  return fields.reduce(fieldOf, base);
}

/** `base.field` of a struct, or of every struct of an array (GenericUDFStructField, …ListStructField). */
export function fieldOf(base: Expr, field: Identifier): Expr {
  const name = field.name.toLowerCase();
  const { type, position } = base;
  const struct = type.kind === 'array' ? type.element : type;
  if (struct.kind !== 'struct') {
    throw semantic(
      `Line ${position.line}:${position.column} . Operator is only supported on struct or list of struct types '${field.name}'`,
      position,
      10042,
    );
  }
  const found = struct.fields.find((candidate) => candidate.name === name);
  if (found === undefined) throw invalidColumn(field.name, field.position);
  const key = `'${found.name.replaceAll("'", "''")}'`;
  if (type.kind === 'array') {
    return {
      sql: `list_transform(${base.sql}, lambda s: struct_extract(s, ${key}))`,
      type: arrayOf(found.type),
      position: { ...position, end: field.position.end },
    };
  }
  return {
    sql: `struct_extract(${base.sql}, ${key})`,
    type: found.type,
    position: { ...position, end: field.position.end },
    ...(base.column === undefined ? {} : { column: { use: base.column.use, name: `${base.column.name}.${name}` } }),
  };
}

/** Columns c0, c1, … of a subquery or function in FROM. */
export const derivedColumns = (
  alias: string,
  columns: readonly { readonly name: string; readonly type: HiveType; readonly origin?: Expr['column'] }[],
): ScopeColumn[] =>
  columns.map((column, i) => ({
    name: column.name.toLowerCase(),
    type: column.type,
    sql: `${alias}.c${i}`,
    virtual: false,
    ...(column.origin === undefined ? {} : { origin: column.origin }),
  }));

export const tableColumn = (alias: string, use: TableUseBuilder, name: string, type: HiveType, virtual: boolean) => ({
  name,
  type,
  sql: `${alias}.${quoteName(name)}`,
  virtual,
  use,
});
