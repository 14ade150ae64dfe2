import type { HiveType, SimpleTypeKind } from '../types/hive-type.js';
import type { Duck, LogicalType } from './bindings.js';

/** duckdb_type of DuckDB's C API. */
export const DUCKDB_TYPE: Readonly<Record<SimpleTypeKind, number>> = {
  void: 1,
  boolean: 1,
  tinyint: 2,
  smallint: 3,
  int: 4,
  bigint: 5,
  float: 10,
  double: 11,
  timestamp: 16,
  'timestamp with local time zone': 16,
  interval_day_time: 16,
  interval_year_month: 4,
  date: 13,
  string: 17,
  binary: 18,
};

/** The same type as `duckTypeName` names. */
export function logicalType(duck: Duck, type: HiveType): LogicalType {
  switch (type.kind) {
    case 'decimal':
      return duck.create_decimal_type(type.precision, type.scale);
    case 'char':
    case 'varchar':
      return duck.create_logical_type(DUCKDB_TYPE.string);
    case 'array':
      return duck.create_list_type(logicalType(duck, type.element));
    case 'map':
      return duck.create_map_type(logicalType(duck, type.key), logicalType(duck, type.value));
    case 'struct':
      return duck.create_struct_type(
        type.fields.map((field) => logicalType(duck, field.type)),
        type.fields.map((field) => field.name),
      );
    case 'uniontype':
      return duck.create_struct_type(
        [duck.create_logical_type(DUCKDB_TYPE.tinyint), ...type.alternatives.map((t) => logicalType(duck, t))],
        ['tag', ...type.alternatives.map((_, i) => `o${i}`)],
      );
    default:
      return duck.create_logical_type(DUCKDB_TYPE[type.kind]);
  }
}
