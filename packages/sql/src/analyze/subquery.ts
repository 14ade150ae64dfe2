import type { AnalyzePart } from '../expressions/analyze-part.js';
import { comparable, type Predicate } from '../expressions/comparison.js';
import { semantic } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import type {
  ExistsExpression,
  InSubqueryExpression,
  Position,
  QuantifiedComparison,
  SubqueryExpression,
} from '../parse/ast-expression.js';
import { BOOLEAN } from '../types/hive-type.js';
import type { ExpressionEnvironment } from './expression-environment.js';

const subqueryColumns = (env: ExpressionEnvironment, position: Position) =>
  semantic(
    `Line ${position.line}:${position.column} Invalid SubQuery expression '${env.analysis.text(position)}': SubQuery can contain only 1 item in Select List.`,
    position,
    10249,
  );

export function exists(node: ExistsExpression, env: ExpressionEnvironment): Predicate {
  const block = env.analysis.analyzeSubquery(node.query, env.environment, env.scope);
  return { sql: `EXISTS (${block.sql})`, type: BOOLEAN, position: node.position };
}

/** A subquery as a value: one column, at most one row. */
export function scalarSubquery(node: SubqueryExpression, env: ExpressionEnvironment): Expr {
  const { position } = node;
  const block = env.analysis.analyzeSubquery(node.query, env.environment, env.scope);
  if (block.columns.length !== 1) throw subqueryColumns(env, position);
  return { sql: `(${block.sql})`, type: block.columns[0].type, position };
}

export function inSubquery(node: InSubqueryExpression, env: ExpressionEnvironment, of: AnalyzePart): Predicate {
  const { analysis } = env;
  const operand = of(node.operand);
  const block = analysis.analyzeSubquery(node.query, env.environment, env.scope);
  // A row of several columns is none of Hive's either.
  if (block.columns.length !== 1) throw subqueryColumns(env, node.query.position);
  const not = node.negated ? 'NOT ' : '';
  const alias = analysis.alias('s');
  const inner: Expr = { sql: `${alias}.c0`, type: block.columns[0].type, position: node.query.position };
  const [left, right] = comparable(analysis, operand, inner);
  return {
    sql: `(${left.sql} ${not}IN (SELECT ${right.sql} FROM (${block.sql}) AS ${alias}))`,
    type: BOOLEAN,
    position: node.position,
  };
}

/** `a < ALL (SELECT …)`, `a = SOME (SELECT …)`. */
export function quantified(node: QuantifiedComparison, env: ExpressionEnvironment, of: AnalyzePart): Predicate {
  const { analysis } = env;
  const operand = of(node.operand);
  const block = analysis.analyzeSubquery(node.query, env.environment, env.scope);
  if (block.columns.length !== 1) throw subqueryColumns(env, node.query.position);
  const alias = analysis.alias('s');
  const [left, right] = comparable(analysis, operand, {
    sql: `${alias}.c0`,
    type: block.columns[0].type,
    position: node.query.position,
  });
  return {
    sql: `(${left.sql} ${node.operator} ${node.quantifier.toUpperCase()} (SELECT ${right.sql} FROM (${block.sql}) AS ${alias}))`,
    type: BOOLEAN,
    position: node.position,
  };
}
