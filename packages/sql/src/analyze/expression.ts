import { unreachable } from '@skep/core';
import type { AnalyzePart } from '../expressions/analyze-part.js';
import { arithmetic, complement, isArithmetic, negate } from '../expressions/arithmetic.js';
import { caseOf } from '../expressions/case.js';
import { between, compare, inList, type Predicate } from '../expressions/comparison.js';
import { withConstant } from '../expressions/constant.js';
import { aggregateNotAllowed, argumentType, semantic } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import {
  dateLiteral,
  intervalOfText,
  intervalOfValue,
  numberLiteral,
  stringLiteral,
  timestampLiteral,
} from '../expressions/literal.js';
import { is, isDistinct, logical, not } from '../expressions/logic.js';
import { element, rowOf } from '../expressions/nested-value.js';
import { like } from '../expressions/pattern-match.js';
import { invokeFunction, isAggregate } from '../functions/call.js';
import type {
  CastExpression,
  ColumnReference,
  Expression,
  FunctionCall,
  IntervalExpression,
  UnaryExpression,
} from '../parse/ast-expression.js';
import { duckTypeName } from '../types/duck-type.js';
import { BOOLEAN, type HiveType, sameType, typeName, typeOfNode, VOID } from '../types/hive-type.js';
import { isInteger, isNumeric, isPrimitive } from '../types/type-rules.js';
import type { Analysis } from './analysis.js';
import { castFormat } from './cast-format.js';
import type { ExpressionEnvironment } from './expression-environment.js';
import { fieldOf } from './scope.js';
import { exists, inSubquery, quantified, scalarSubquery } from './subquery.js';

/** Types an expression and writes its SQL (org.apache.hadoop.hive.ql.parse.type.TypeCheckProcFactory). */
export function analyzeExpression(node: Expression, env: ExpressionEnvironment): Predicate {
  const replaced = env.replace?.(node);
  if (replaced !== undefined) return replaced;
  const { analysis } = env;
  const { position } = node;
  const of: AnalyzePart = (part) => analyzeExpression(part, env);
  switch (node.kind) {
    case 'null':
      return { sql: 'NULL', type: VOID, position, literal: null };
    case 'boolean':
      return { sql: String(node.value), type: BOOLEAN, position, literal: node.value };
    case 'string':
      return stringLiteral(node);
    case 'number':
      return numberLiteral(node, false, position);
    case 'date':
      return dateLiteral(node);
    case 'timestamp':
      return timestampLiteral(node);
    case 'interval':
      return interval(node, env);
    case 'column':
      return columnOrFunction(node, env);
    case 'field':
      return fieldOf(of(node.base), node.field);
    case 'index':
      return element(of(node.base), of(node.index), env, position);
    case 'unary':
      return unary(node, env);
    case 'binary': {
      const [left, right] = [of(node.left), of(node.right)];
      if (!isArithmetic(node.operator)) {
        const [a, b] = [withConstant(node.left, left), withConstant(node.right, right)];
        return { ...compare(analysis, node.operator, a, b), position };
      }
      return { ...arithmetic(analysis, node.operator, left, right), position };
    }
    case 'logical':
      return logical(node, analysis, of);
    case 'is':
      return is(node, analysis, of);
    case 'is-distinct':
      return isDistinct(node, analysis, of);
    case 'in-list':
      return inList(node, analysis, of);
    case 'in-subquery':
      return inSubquery(node, env, of);
    case 'between':
      return between(node, analysis, of);
    case 'like':
      return like(node, analysis, of);
    case 'exists':
      return exists(node, env);
    case 'subquery':
      return scalarSubquery(node, env);
    case 'quantified-comparison':
      return quantified(node, env, of);
    case 'row':
      return rowOf(node.items.map(of), position);
    case 'case':
      return caseOf(node, analysis, of);
    case 'cast':
      return castOf(node, env);
    case 'extract':
      return invokeFunction(analysis, extractFunction(node.unit), [of(node.operand)], position);
    case 'floor-to':
      return invokeFunction(analysis, `floor_${node.unit}`, [of(node.operand)], position);
    case 'trim': {
      const name = { both: 'trim', leading: 'ltrim', trailing: 'rtrim' }[node.mode];
      const args = node.characters === undefined ? [of(node.operand)] : [of(node.operand), of(node.characters)];
      return invokeFunction(analysis, name, args, position);
    }
    case 'function':
      return functionCall(node, env);
    case 'all-columns':
      throw semantic('* is not an expression', position);
    case 'default':
      throw semantic('DEFAULT keyword is only allowed in VALUES and SET', position);
    case 'parameter':
      throw semantic('Parameters of prepared statements are not supported', position);
    default:
      return unreachable(node, 'expression');
  }
}

const extractFunction = (unit: string): string =>
  unit === 'week' ? 'weekofyear' : unit === 'dow' ? 'dayofweek' : unit;

/** A name without parentheses may be CURRENT_DATE and its like where no column has it. */
function columnOrFunction({ path, position }: ColumnReference, env: ExpressionEnvironment): Expr {
  const name = path[0].name.toLowerCase();
  if (path.length === 1 && !path[0].quoted && ['current_date', 'current_timestamp', 'current_user'].includes(name)) {
    if (!env.scope.has(path)) return invokeFunction(env.analysis, name, [], position);
  }
  return env.scope.resolve(path, position);
}

function interval(node: IntervalExpression, env: ExpressionEnvironment): Expr {
  const { value, unit, position } = node;
  const negative = value.kind === 'unary' && value.operator === '-';
  const inner = negative ? value.operand : value;
  if (inner.kind === 'string' || inner.kind === 'number') {
    const text = inner.kind === 'string' ? inner.value : inner.text;
    const found = intervalOfText(negative ? `-${text}` : text, unit, position);
    if (found !== undefined) return found;
    throw semantic(`Invalid interval literal '${text}' ${unit}`, position);
  }
  const amount = analyzeExpression(value, env);
  const found = isInteger(amount.type) ? intervalOfValue(amount, unit, position) : undefined;
  if (found === undefined) throw semantic(`INTERVAL of ${typeName(amount.type)} ${unit} is not supported`, position);
  return found;
}

function unary(node: UnaryExpression, env: ExpressionEnvironment): Predicate {
  const { operator, operand, position } = node;
  if (operator === '-' && operand.kind === 'number') return numberLiteral(operand, true, position);
  const value = analyzeExpression(operand, env);
  switch (operator) {
    case '-':
      return { ...negate(env.analysis, value), position };
    case '+':
      return { ...value, position };
    case '~':
      return { ...complement(env.analysis, value), position };
    case 'not':
      return not(value, env.analysis, position);
  }
}

/** CAST to a nested type only passes on what has that type already; of a number or a boolean there is no date. */
function convertedTo(analysis: Analysis, value: Expr, type: HiveType): Expr {
  if (!isPrimitive(type) && value.type.kind !== 'void' && !sameType(value.type, type)) {
    return { ...value, type, sql: `CAST(NULL AS ${duckTypeName(type)})` };
  }
  if (type.kind === 'date' && (isNumeric(value.type) || value.type.kind === 'boolean')) {
    throw argumentType(
      analysis.text(value.position),
      `todate only takes DATE_GROUP, STRING_GROUP, VOID_GROUP types as 1st argument, got ${typeName(value.type).toUpperCase()}`,
      value.position,
    );
  }
  return analysis.cast(value, type);
}

function castOf(node: CastExpression, env: ExpressionEnvironment): Expr {
  const value = analyzeExpression(node.operand, env);
  const type = typeOfNode(node.type);
  if (node.format !== undefined)
    return { ...castFormat(env.analysis, value, type, node.format), position: node.position };
  const result = convertedTo(env.analysis, value, type);
  // A constant stays one where its value does: so that partitions can be pruned by it.
  const keeps = value.literal !== undefined && value.type.kind === type.kind;
  return { ...result, position: node.position, ...(keeps ? { literal: value.literal } : {}) };
}

function functionCall(node: FunctionCall, env: ExpressionEnvironment): Expr {
  const { analysis } = env;
  if (node.over !== undefined) {
    if (env.window !== undefined) return env.window(node);
    throw semantic(
      `Line ${node.position.line}:${node.position.column} Unsupported place for window function '${node.name}'`,
      node.position,
      10249,
    );
  }
  if (isAggregate(node)) {
    if (env.aggregate !== undefined) return env.aggregate(node);
    throw aggregateNotAllowed(node.name, node.position);
  }
  if (node.name === 'grouping' && env.aggregate !== undefined) return env.aggregate(node);
  const args = node.arguments.map((argument) => analyzeExpression(argument, env));
  return invokeFunction(analysis, node.name, args, node.position);
}
