import { castSql } from '../emit/cast.js';
import { UdfCollector } from '../emit/udfs.js';
import { QueryError } from '../expressions/errors.js';
import { duckTypeName } from '../types/duck-type.js';
import { type HiveType, sameType, typeName } from '../types/hive-type.js';
import type { AnalyzedQuery } from './query.js';

/**
 * The query with its columns converted to the types of an INSERT's target, as CAST does: text that is no number becomes
 * NULL, decimals are rounded or become NULL where they do not fit, char and varchar are cut. `undefined` keeps a column.
 */
export function castColumns(analyzed: AnalyzedQuery, types: readonly (HiveType | undefined)[]): AnalyzedQuery {
  const changes = analyzed.columns.some((column, i) => {
    const target = types[i];
    return target !== undefined && !sameType(column.type, target);
  });
  if (!changes) return analyzed;
  const udfs = new UdfCollector();
  const columns = analyzed.columns.map((column, i) => ({ ...column, type: types[i] ?? column.type }));
  const list = analyzed.columns.map((column, i) => {
    const target = types[i];
    if (target === undefined || sameType(column.type, target)) return `q.c${i} AS c${i}`;
    const sql = castSql(udfs, `q.c${i}`, column.type, target);
    if (sql === undefined) {
      throw new QueryError(
        10044,
        `Cannot insert into target table because column number/types are different: Cannot convert column ${i} from ${typeName(column.type)} to ${typeName(target)}.`,
      );
    }
    return `CAST(${sql} AS ${duckTypeName(target)}) AS c${i}`;
  });
  const known = new Set(analyzed.udfs.map((udf) => udf.sqlName));
  return {
    ...analyzed,
    columns,
    sql: `SELECT ${list.join(', ')} FROM (${analyzed.sql}) AS q`,
    udfs: [...analyzed.udfs, ...udfs.all.filter((udf) => !known.has(udf.sqlName))],
  };
}
