import { unreachable } from '@skep/core';
import { invokeFunction } from '../functions/call.js';
import { javaRegex } from '../functions/java-regex.js';
import { findFunction } from '../functions/registry.js';
import type {
  BetweenExpression,
  CaseExpression,
  CastExpression,
  Expression,
  FunctionCall,
  InListExpression,
  InSubqueryExpression,
  IntervalExpression,
  IsExpression,
  LikeExpression,
  LogicalExpression,
  Position,
  QuantifiedComparison,
  UnaryExpression,
} from '../parse/ast-expression.js';
import { BIGINT, BOOLEAN, type HiveType, STRING, structOf, typeName, typeOfNode, VOID } from '../types/hive-type.js';
import { commonType, comparisonType, isInteger, isNumeric, isText } from '../types/type-rules.js';
import type { Analysis, QueryEnvironment } from './analysis.js';
import { arithmetic, complement, decimalOf, isArithmetic, negate } from './arithmetic.js';
import { comparable, compare, type Predicate } from './comparison.js';
import { aggregateNotAllowed, argumentType, semantic, wrongArguments } from './errors.js';
import { derive, type Expr, sqlString } from './expr.js';
import {
  dateLiteral,
  intervalOfText,
  intervalOfValue,
  numberLiteral,
  stringLiteral,
  timestampLiteral,
} from './literal.js';
import { betweenCondition, inCondition, isNullCondition, joined, notCondition } from './sarg.js';
import { fieldOf, type Scope } from './scope.js';

/** Where an expression stands: what its names mean, and what else it may hold. */
export interface ExpressionEnvironment {
  readonly analysis: Analysis;
  readonly environment: QueryEnvironment;
  readonly scope: Scope;
  /** Tried before everything else: keys and aggregates of a GROUP BY, aliases of the select list. */
  readonly replace?: (node: Expression) => Expr | undefined;
  /** An aggregate function without OVER; absent where none may stand. */
  readonly aggregate?: (call: FunctionCall) => Expr;
  /** A function with OVER; absent where none may stand. */
  readonly window?: (call: FunctionCall) => Expr;
}

/** Types an expression and writes its SQL (org.apache.hadoop.hive.ql.parse.type.TypeCheckProcFactory). */
export function analyzeExpression(node: Expression, env: ExpressionEnvironment): Predicate {
  const replaced = env.replace?.(node);
  if (replaced !== undefined) return replaced;
  const { analysis } = env;
  const { position } = node;
  const of = (child: Expression) => analyzeExpression(child, env);
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
      return columnOrFunction(node.path, position, env);
    case 'field':
      return fieldOf(of(node.base), node.field);
    case 'index':
      return element(of(node.base), of(node.index), env, position);
    case 'unary':
      return unary(node, env);
    case 'binary': {
      const [left, right] = [of(node.left), of(node.right)];
      if (!isArithmetic(node.operator)) return { ...compare(analysis, node.operator, left, right), position };
      return { ...arithmetic(analysis, node.operator, left, right), position };
    }
    case 'logical':
      return logical(node, env);
    case 'is':
      return is(node, env);
    case 'is-distinct': {
      const same = compare(analysis, '<=>', of(node.left), of(node.right));
      return node.negated
        ? same
        : { ...derive(same, BOOLEAN, `(NOT ${same.sql})`), condition: notCondition(same.condition) };
    }
    case 'in-list':
      return inList(node, env);
    case 'in-subquery':
      return inSubquery(node, env);
    case 'between':
      return between(node, env);
    case 'like':
      return like(node, env);
    case 'exists': {
      const block = analysis.analyzeSubquery(node.query, env.environment, env.scope);
      return { sql: `EXISTS (${block.sql})`, type: BOOLEAN, position };
    }
    case 'subquery': {
      const block = analysis.analyzeSubquery(node.query, env.environment, env.scope);
      if (block.columns.length !== 1) throw subqueryColumns(env, node.position, node.position);
      return { sql: `(${block.sql})`, type: block.columns[0].type, position };
    }
    case 'quantified-comparison':
      return quantified(node, env);
    case 'row': {
      const items = node.items.map(of);
      return rowOf(items, position);
    }
    case 'case':
      return caseOf(node, env);
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
function columnOrFunction(
  path: Extract<Expression, { kind: 'column' }>['path'],
  position: Position,
  env: ExpressionEnvironment,
): Expr {
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

/** `list[i]` and `map[key]` (GenericUDFIndex). */
export function element(base: Expr, index: Expr, env: { analysis: Analysis }, position: Position): Expr {
  const { analysis } = env;
  if (base.type.kind === 'array') {
    if (!isInteger(index.type) && index.type.kind !== 'void') {
      throw argumentType(
        analysis.text(index.position),
        `Non-constant expressions for array indexes must be integral, but "${typeName(index.type)}" is found`,
        index.position,
      );
    }
    return { sql: `hv_element(${base.sql}, ${index.sql})`, type: base.type.element, position };
  }
  if (base.type.kind === 'map') {
    const key = analysis.cast(index, base.type.key);
    return { sql: `map_extract(${base.sql}, ${key.sql})[1]`, type: base.type.value, position };
  }
  throw semantic(
    `Line ${position.line}:${position.column} [] not valid on non-collection types '${analysis.text(index.position)}': ${typeName(base.type)}`,
    position,
    10033,
  );
}

function unary(node: UnaryExpression, env: ExpressionEnvironment): Predicate {
  const { operator, operand, position } = node;
  if (operator === '-' && operand.kind === 'number') return numberLiteral(operand, true, position);
  const value = analyzeExpression(operand, env);
  switch (operator) {
    case '-':
      return { ...negate(env.analysis, value), position };
    case '+':
      return isText(value.type)
        ? { ...env.analysis.cast(value, { kind: 'double' }), position }
        : { ...value, position };
    case '~':
      return { ...complement(env.analysis, value), position };
    case 'not': {
      const condition = asBoolean(value, env);
      return {
        ...derive(condition, BOOLEAN, `(NOT ${condition.sql})`),
        position,
        condition: notCondition(value.condition),
      };
    }
  }
}

/** A condition: boolean, or what AND, OR, NOT and WHERE take for one. */
export function asBoolean(value: Predicate, env: { analysis: Analysis }): Predicate {
  if (value.type.kind === 'boolean') return value;
  const { type } = value;
  if (type.kind === 'void') return derive(value, BOOLEAN, 'CAST(NULL AS BOOLEAN)');
  if (isNumeric(type) || isText(type)) return env.analysis.cast(value, BOOLEAN);
  throw wrongArguments(
    env.analysis.text(value.position),
    `"boolean" is expected, but "${typeName(type)}" is found`,
    value.position,
  );
}

function logical(node: LogicalExpression, env: ExpressionEnvironment): Predicate {
  const operands = node.operands.map((operand) => analyzeExpression(operand, env));
  const sql = operands.map((operand) => asBoolean(operand, env).sql).join(` ${node.operator.toUpperCase()} `);
  return {
    sql: `(${sql})`,
    type: BOOLEAN,
    position: node.position,
    condition: joined(
      node.operator,
      operands.map((operand) => operand.condition),
    ),
  };
}

function is(node: IsExpression, env: ExpressionEnvironment): Predicate {
  const value = analyzeExpression(node.operand, env);
  const negation = node.negated ? 'NOT ' : '';
  const { position } = node;
  if (node.test === 'null' || node.test === 'unknown') {
    const condition = isNullCondition(value);
    return {
      sql: `(${value.sql} IS ${negation}NULL)`,
      type: BOOLEAN,
      position,
      condition: node.negated ? notCondition(condition) : condition,
    };
  }
  return { sql: `(${asBoolean(value, env).sql} IS ${negation}${node.test.toUpperCase()})`, type: BOOLEAN, position };
}

function rowOf(items: readonly Expr[], position: Position): Expr {
  const type = structOf(items.map((item, i) => ({ name: `col${i + 1}`, type: item.type })));
  return { sql: `{${items.map((item, i) => `'col${i + 1}': ${item.sql}`).join(', ')}}`, type, position };
}

function inList(node: InListExpression, env: ExpressionEnvironment): Predicate {
  const { analysis } = env;
  const operand = analyzeExpression(node.operand, env);
  const items = node.items.map((item) => analyzeExpression(item, env));
  let type: HiveType = operand.type;
  for (const item of items) {
    comparable(analysis, operand, item);
    const common = comparisonType(type, item.type);
    if (common === undefined) {
      throw argumentType(
        analysis.text(item.position),
        `The arguments for IN should be the same type! Types are: {${typeName(type)} IN (${items.map((i) => typeName(i.type)).join(', ')})}`,
        operand.position,
      );
    }
    type = common;
  }
  const list = items.map((item) => analysis.cast(item, type).sql).join(', ');
  const condition = inCondition(operand, items);
  return {
    sql: `(${analysis.cast(operand, type).sql} ${node.negated ? 'NOT ' : ''}IN (${list}))`,
    type: BOOLEAN,
    position: node.position,
    condition: node.negated ? notCondition(condition) : condition,
  };
}

const subqueryColumns = (env: ExpressionEnvironment, position: Position, whole: Position) =>
  semantic(
    `Line ${position.line}:${position.column} Invalid SubQuery expression '${env.analysis.text(whole)}': SubQuery can contain only 1 item in Select List.`,
    position,
    10249,
  );

function inSubquery(node: InSubqueryExpression, env: ExpressionEnvironment): Predicate {
  const { analysis } = env;
  const operand = analyzeExpression(node.operand, env);
  const block = analysis.analyzeSubquery(node.query, env.environment, env.scope);
  const width = operand.type.kind === 'struct' && node.operand.kind === 'row' ? operand.type.fields.length : 1;
  if (block.columns.length !== width) throw subqueryColumns(env, node.query.position, node.query.position);
  const not = node.negated ? 'NOT ' : '';
  const alias = analysis.alias('s');
  const columns = block.columns.map(
    (column, i): Expr => ({
      sql: `${alias}.c${i}`,
      type: column.type,
      position: node.query.position,
    }),
  );
  const inner = node.operand.kind === 'row' ? rowOf(columns, node.query.position) : columns[0];
  const [left, right] = comparable(analysis, operand, inner);
  return {
    sql: `(${left.sql} ${not}IN (SELECT ${right.sql} FROM (${block.sql}) AS ${alias}))`,
    type: BOOLEAN,
    position: node.position,
  };
}

function quantified(node: QuantifiedComparison, env: ExpressionEnvironment): Predicate {
  const { analysis } = env;
  const operand = analyzeExpression(node.operand, env);
  const block = analysis.analyzeSubquery(node.query, env.environment, env.scope);
  if (block.columns.length !== 1) throw subqueryColumns(env, node.query.position, node.query.position);
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

function between(node: BetweenExpression, env: ExpressionEnvironment): Predicate {
  const [operand, low, high] = [node.operand, node.low, node.high].map((child) => analyzeExpression(child, env));
  const from = compare(env.analysis, '>=', operand, low);
  const to = compare(env.analysis, '<=', operand, high);
  const condition = betweenCondition(operand, low, high);
  return {
    sql: node.negated ? `(NOT (${from.sql} AND ${to.sql}))` : `(${from.sql} AND ${to.sql})`,
    type: BOOLEAN,
    position: node.position,
    condition: node.negated ? notCondition(condition) : condition,
  };
}

function like(node: LikeExpression, env: ExpressionEnvironment): Predicate {
  const { analysis } = env;
  const operand = analyzeExpression(node.operand, env);
  const subject = analysis.cast(operand, STRING);
  const matches = node.patterns.map((pattern) => {
    const value = analyzeExpression(pattern, env);
    const text = analysis.cast(value, STRING);
    if (node.operator === 'like') return likeSql(analysis, subject.sql, { ...text, literal: value.literal });
    return regexMatches(analysis, subject.sql, text, typeof value.literal === 'string' ? value.literal : undefined);
  });
  const sql = matches.length === 1 ? matches[0] : `(${matches.join(node.quantifier === 'any' ? ' OR ' : ' AND ')})`;
  return { sql: node.negated ? `(NOT ${sql})` : sql, type: BOOLEAN, position: node.position };
}

/** In a LIKE pattern only \\% and \\_ are escapes; any other backslash stands for itself (UDFLike). */
const likePattern = (pattern: string): string => pattern.replace(/\\(?![%_])/g, '\\\\');

export function likeSql(analysis: Analysis, subject: string, pattern: Expr): string {
  const { literal } = pattern;
  const sql =
    typeof literal === 'string'
      ? sqlString(likePattern(literal))
      : `CASE WHEN contains(${pattern.sql}, '\\') THEN ${analysis.udfs.call('like_pattern', [STRING], STRING, [pattern.sql], (p) => likePattern(p as string))} ELSE ${pattern.sql} END`;
  return `(${subject} LIKE ${sql} ESCAPE '\\')`;
}

/** RLIKE: DuckDB's RE2 for constant patterns that mean the same there, else JavaScript's. */
export function regexMatches(analysis: Analysis, subject: string, pattern: Expr, constant: string | undefined): string {
  if (constant !== undefined && /^[\w\s.*+?^$|()[\]\-,:;=/@#%!~<>"']*$/.test(constant) && !constant.includes('(?')) {
    return `regexp_matches(${subject}, ${sqlString(constant)})`;
  }
  return analysis.udfs.call('regexp_matches', [STRING, STRING], BOOLEAN, [subject, pattern.sql], (s, p) =>
    javaRegex(p as string).test(s as string),
  );
}

function caseOf(node: CaseExpression, env: ExpressionEnvironment): Expr {
  const { analysis } = env;
  const operand = node.operand === undefined ? undefined : analyzeExpression(node.operand, env);
  const conditions = node.branches.map(({ when }) => {
    const value = analyzeExpression(when, env);
    if (operand !== undefined) return compare(analysis, '=', operand, value).sql;
    if (value.type.kind !== 'boolean' && value.type.kind !== 'void') {
      throw argumentType(
        analysis.text(value.position),
        `"boolean" is expected after WHEN, but "${typeName(value.type)}" is found`,
        value.position,
      );
    }
    return value.sql;
  });
  const results = node.branches.map(({ result }) => analyzeExpression(result, env));
  const otherwise = node.otherwise === undefined ? undefined : analyzeExpression(node.otherwise, env);
  const all = otherwise === undefined ? results : [...results, otherwise];
  const type = commonOf(
    analysis,
    all,
    (type) => `"${typeName(all[0].type)}" is expected but "${typeName(type)}" is found`,
  );
  const branches = conditions.map((condition, i) => `WHEN ${condition} THEN ${analysis.cast(results[i], type).sql}`);
  const rest = otherwise === undefined ? '' : ` ELSE ${analysis.cast(otherwise, type).sql}`;
  return { sql: `(CASE ${branches.join(' ')}${rest} END)`, type, position: node.position };
}

/** The common type of several values (CASE, COALESCE, array(…)). */
export function commonOf(analysis: Analysis, values: readonly Expr[], why: (type: HiveType) => string): HiveType {
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

function castOf(node: CastExpression, env: ExpressionEnvironment): Expr {
  const value = analyzeExpression(node.operand, env);
  if (node.format !== undefined) throw semantic('CAST … FORMAT is not supported', node.position);
  const type = typeOfNode(node.type);
  const result = env.analysis.cast(value, type);
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

export const isAggregate = (node: FunctionCall): boolean =>
  node.over === undefined && findFunction(node.name)?.kind === 'aggregate';

/** Row counts and positions are BIGINT constants. */
export const bigintLiteral = (value: bigint, position: Position): Expr => ({
  sql: `CAST(${value} AS BIGINT)`,
  type: BIGINT,
  position,
  literal: value,
});
