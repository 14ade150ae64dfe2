import { type HiveType, VOID } from '../types/hive-type.js';
import { commonType } from '../types/type-rules.js';
import { decimalOf } from './arithmetic.js';
import { argumentType } from './errors.js';
import type { Expr } from './expr.js';
import type { ExpressionAnalysis } from './expression-analysis.js';

/** The common type of several values (CASE, COALESCE, array(…)). */
export function commonOf(
  analysis: ExpressionAnalysis,
  values: readonly Expr[],
  why: (type: HiveType) => string,
): HiveType {
  // Beside a decimal column an integer constant counts with its own digits.
  const narrow = values.some((value) => value.type.kind === 'decimal' && value.literal === undefined);
  const typeOf = (value: Expr) => (narrow && typeof value.literal === 'bigint' ? decimalOf(value) : value.type);
  let type: HiveType = values[0] === undefined ? VOID : typeOf(values[0]);
  for (const value of values.slice(1)) {
    const common = commonType(type, typeOf(value));
    if (common === undefined) throw argumentType(analysis.text(value.position), why(value.type), value.position);
    type = common;
  }
  return type;
}
