import type { LikeExpression } from '../parse/ast-expression.js';
import { BOOLEAN, STRING } from '../types/hive-type.js';
import type { AnalyzePart } from './analyze-part.js';
import type { Predicate } from './comparison.js';
import { type Expr, sqlString } from './expr.js';
import type { ExpressionAnalysis } from './expression-analysis.js';
import { matchesRegex } from './java-regex.js';

/** LIKE, RLIKE and REGEXP, of one pattern or of any or all of several. */
export function like(node: LikeExpression, analysis: ExpressionAnalysis, of: AnalyzePart): Predicate {
  const operand = of(node.operand);
  const subject = analysis.cast(operand, STRING);
  const matches = node.patterns.map((pattern) => {
    const value = of(pattern);
    const text = analysis.cast(value, STRING);
    if (node.operator === 'like') return likeSql(analysis, subject.sql, { ...text, literal: value.literal });
    return regexMatches(analysis, subject.sql, text, typeof value.literal === 'string' ? value.literal : undefined);
  });
  const sql = matches.length === 1 ? matches[0] : `(${matches.join(node.quantifier === 'any' ? ' OR ' : ' AND ')})`;
  return { sql: node.negated ? `(NOT ${sql})` : sql, type: BOOLEAN, position: node.position };
}

/** In a LIKE pattern only \\% and \\_ are escapes; any other backslash stands for itself (UDFLike). */
const likePattern = (pattern: string): string => pattern.replace(/\\(?![%_])/g, '\\\\');

export function likeSql(analysis: ExpressionAnalysis, subject: string, pattern: Expr): string {
  const { literal } = pattern;
  const sql =
    typeof literal === 'string'
      ? sqlString(likePattern(literal))
      : `CASE WHEN contains(${pattern.sql}, '\\') THEN ${analysis.udfs.call('like_pattern', [STRING], STRING, [pattern.sql], (p) => likePattern(p as string))} ELSE ${pattern.sql} END`;
  return `(${subject} LIKE ${sql} ESCAPE '\\')`;
}

/** RLIKE: DuckDB's RE2 for constant patterns that mean the same there, else JavaScript's. */
function regexMatches(
  analysis: ExpressionAnalysis,
  subject: string,
  pattern: Expr,
  constant: string | undefined,
): string {
  if (constant !== undefined && /^[\w\s.*+?^$|()[\]\-,:;=/@#%!~<>"']+$/.test(constant) && !constant.includes('(?')) {
    return `regexp_matches(${subject}, ${sqlString(constant)})`;
  }
  return analysis.udfs.call('regexp_matches', [STRING, STRING], BOOLEAN, [subject, pattern.sql], (s, p) =>
    matchesRegex(s as string, p as string),
  );
}
