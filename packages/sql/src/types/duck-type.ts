import type { HiveType, SimpleTypeKind } from './hive-type.js';

const NAMES: Readonly<Record<SimpleTypeKind, string>> = {
  void: 'BOOLEAN',
  boolean: 'BOOLEAN',
  tinyint: 'TINYINT',
  smallint: 'SMALLINT',
  int: 'INTEGER',
  bigint: 'BIGINT',
  float: 'FLOAT',
  double: 'DOUBLE',
  string: 'VARCHAR',
  binary: 'BLOB',
  date: 'DATE',
  // Nanoseconds since 1970-01-01 00:00:00: DuckDB's own timestamps have microseconds only, or end in 2262.
  timestamp: 'HUGEINT',
  'timestamp with local time zone': 'HUGEINT',
  interval_year_month: 'INTEGER',
  interval_day_time: 'HUGEINT',
};

/** A name as DuckDB SQL. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * The DuckDB type that holds a Hive type inside the engine, as SQL. char values are held without their trailing blanks
 * (so that they compare as Hive's), timestamps as nanoseconds, a union as a struct of its tag and all alternatives.
 */
export function duckTypeName(type: HiveType): string {
  switch (type.kind) {
    case 'decimal':
      return `DECIMAL(${type.precision},${type.scale})`;
    case 'char':
    case 'varchar':
      return 'VARCHAR';
    case 'array':
      return `${duckTypeName(type.element)}[]`;
    case 'map':
      return `MAP(${duckTypeName(type.key)},${duckTypeName(type.value)})`;
    case 'struct':
      return `STRUCT(${type.fields.map((field) => `${quoteName(field.name)} ${duckTypeName(field.type)}`).join(',')})`;
    case 'uniontype':
      return `STRUCT(tag TINYINT,${type.alternatives.map((t, i) => `o${i} ${duckTypeName(t)}`).join(',')})`;
    default:
      return NAMES[type.kind];
  }
}
