import { duckTypeName, quoteName } from '../../types/duck-type.js';
import type { HiveType } from '../../types/hive-type.js';

/** Whether timestamps are in a type. */
export function hasTimestamp(type: HiveType): boolean {
  switch (type.kind) {
    case 'timestamp':
    case 'timestamp with local time zone':
      return true;
    case 'array':
      return hasTimestamp(type.element);
    case 'map':
      return hasTimestamp(type.key) || hasTimestamp(type.value);
    case 'struct':
      return type.fields.some((field) => hasTimestamp(field.type));
    default:
      return false;
  }
}

export type TimestampUnit = 'us' | 'ns';

/** DuckDB's timestamps as the engine's nanoseconds (types/duck-type.ts), in nested values too. */
export const nanosecondsOf = (type: HiveType, sql: string, unit: TimestampUnit): string =>
  mapped(type, sql, 0, (leaf) =>
    unit === 'ns' ? `CAST(epoch_ns(${leaf}) AS HUGEINT)` : `CAST(epoch_us(${leaf}) AS HUGEINT) * 1000`,
  );

/** The reverse; with `us` the values are whole microseconds. */
export const timestampsOf = (type: HiveType, sql: string, unit: TimestampUnit): string =>
  mapped(type, sql, 0, (leaf, leafType) => {
    const local =
      unit === 'ns' ? `make_timestamp_ns(CAST(${leaf} AS BIGINT))` : `make_timestamp(CAST(${leaf} // 1000 AS BIGINT))`;
    return leafType.kind === 'timestamp' ? local : `CAST(${local} AS TIMESTAMPTZ)`;
  });

function mapped(type: HiveType, sql: string, depth: number, leaf: (sql: string, type: HiveType) => string): string {
  if (!hasTimestamp(type)) return `CAST(${sql} AS ${duckTypeName(type)})`;
  const item = `e${depth}`;
  switch (type.kind) {
    case 'array':
      return `list_transform(${sql}, lambda ${item}: ${mapped(type.element, item, depth + 1, leaf)})`;
    case 'map': {
      const key = mapped(type.key, `${item}.key`, depth + 1, leaf);
      const value = mapped(type.value, `${item}.value`, depth + 1, leaf);
      const entries = `list_transform(map_entries(${sql}), lambda ${item}: {'key': ${key}, 'value': ${value}})`;
      return `CASE WHEN ${sql} IS NULL THEN NULL ELSE map_from_entries(${entries}) END`;
    }
    case 'struct': {
      const fields = type.fields.map(
        ({ name, type: fieldType }) =>
          `${quoteName(name)} := ${mapped(fieldType, `(${sql}).${quoteName(name)}`, depth, leaf)}`,
      );
      return `CASE WHEN ${sql} IS NULL THEN NULL ELSE struct_pack(${fields.join(', ')}) END`;
    }
    default:
      return leaf(sql, type);
  }
}
