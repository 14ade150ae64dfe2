import type { TimestampValue } from '@skep/orc';
import { semantic } from '../expressions/errors.js';
import { derive, type Expr } from '../expressions/expr.js';
import { formatBySql } from '../functions/sql-datetime/format.js';
import { checkForReading, parsePattern } from '../functions/sql-datetime/pattern.js';
import { readBySql } from '../functions/sql-datetime/read.js';
import { type HiveType, STRING, TIMESTAMP, typeName } from '../types/hive-type.js';
import { isDateOrTime, isText } from '../types/type-rules.js';
import type { Analysis } from './analysis.js';

/** CAST(value AS type FORMAT 'pattern') (GenericUDFCastFormat). */
export function castFormat(analysis: Analysis, value: Expr, type: HiveType, format: string): Expr {
  const wrong = (why: string) => semantic(`Line 0:-1 Wrong arguments ''${format}'': ${why}`, value.position);
  if (!isText(type) && type.kind !== 'date' && type.kind !== 'timestamp') {
    throw wrong(
      `Cast...format can only convert to DATE, TIMESTAMP, STRING, VARCHAR, CHAR. Can't convert to ${typeName(type)}`,
    );
  }
  const pattern = parsePattern(format);
  const toText = isText(type);
  const fits = toText ? isDateOrTime(value.type) : isText(value.type);
  if (!fits && value.type.kind !== 'void') {
    throw wrong(
      `Function CAST...as ... FORMAT ... only converts datetime objects to string types and string types to datetime objects. Type of object provided: ${typeName(value.type)}`,
    );
  }
  if (toText) {
    const time = analysis.cast(value, TIMESTAMP);
    const sql = analysis.udfs.call(`format_sql_${format}`, [TIMESTAMP], STRING, [time.sql], (t) =>
      formatBySql(t as TimestampValue, pattern),
    );
    return analysis.cast(derive(value, STRING, sql), type);
  }
  checkForReading(pattern, format);
  const today = Math.floor((analysis.context.now ?? 0) / 86_400_000);
  const text = analysis.cast(value, STRING);
  const sql = analysis.udfs.call(`read_sql_${format}`, [STRING], TIMESTAMP, [text.sql], (s) =>
    readBySql(s as string, pattern, today),
  );
  return analysis.cast(derive(value, TIMESTAMP, sql), type);
}
