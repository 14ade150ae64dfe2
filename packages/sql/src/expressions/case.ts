import type { CaseExpression, Position } from '../parse/ast-expression.js';
import { typeName } from '../types/hive-type.js';
import type { AnalyzePart } from './analyze-part.js';
import { commonOf } from './common-type.js';
import { compare } from './comparison.js';
import { argumentType } from './errors.js';
import type { Expr } from './expr.js';
import type { ExpressionAnalysis } from './expression-analysis.js';

/** CASE WHEN … THEN … and CASE value WHEN … THEN … (GenericUDFWhen, GenericUDFCase). */
export function caseOf(node: CaseExpression, analysis: ExpressionAnalysis, of: AnalyzePart): Expr {
  const operand = node.operand === undefined ? undefined : of(node.operand);
  const branches = node.branches.map(({ when, result }) => ({ when: of(when), result: of(result) }));
  const otherwise = node.otherwise === undefined ? undefined : of(node.otherwise);
  return caseOfValues(operand, branches, otherwise, analysis, node.position);
}

/** The same of analysed parts. */
export function caseOfValues(
  operand: Expr | undefined,
  branches: readonly { readonly when: Expr; readonly result: Expr }[],
  otherwise: Expr | undefined,
  analysis: ExpressionAnalysis,
  position: Position,
): Expr {
  const conditions = branches.map(({ when: value }) => {
    if (operand !== undefined) return compare(analysis, '=', operand, value).sql;
    if (value.type.kind !== 'boolean') {
      throw argumentType(
        analysis.text(value.position),
        `"boolean" is expected after WHEN, but "${typeName(value.type)}" is found`,
        value.position,
      );
    }
    return value.sql;
  });
  const results = branches.map(({ result }) => result);
  const all = otherwise === undefined ? results : [...results, otherwise];
  const type = commonOf(
    analysis,
    all,
    (type) => `"${typeName(all[0].type)}" is expected but "${typeName(type)}" is found`,
  );
  const parts = conditions.map((condition, i) => `WHEN ${condition} THEN ${analysis.cast(results[i], type).sql}`);
  const rest = otherwise === undefined ? '' : ` ELSE ${analysis.cast(otherwise, type).sql}`;
  return { sql: `(CASE ${parts.join(' ')}${rest} END)`, type, position };
}
