import type {
  CaseExpression,
  Expression,
  ExpressionItem,
  Identifier,
  Position,
  Query,
  Select,
  TableReference,
  TypeNode,
} from '../parse/ast.js';

/**
 * Small makers of syntax for the queries behind DML: an UPDATE is a SELECT of ROW__ID and the new values. What they make
 * stands at `position`, so that an error points at the user's own text.
 */
export const identifier = (name: string, position: Position): Identifier => ({ name, quoted: true, position });

export const columnRef = (path: readonly string[], position: Position): Expression => ({
  kind: 'column',
  path: path.map((name) => identifier(name, position)),
  position,
});

export const castTo = (operand: Expression, type: TypeNode): Expression => ({
  kind: 'cast',
  operand,
  type,
  position: operand.position,
});

export const numberLiteral = (value: number, position: Position): Expression => ({
  kind: 'number',
  text: String(value),
  suffix: '',
  position,
});

export const isNull = (operand: Expression, negated: boolean): Expression => ({
  kind: 'is',
  operand,
  test: 'null',
  negated,
  position: operand.position,
});

export const allOf = (operands: readonly Expression[], position: Position): Expression =>
  operands.length === 1 ? operands[0] : { kind: 'logical', operator: 'and', operands, position };

export const not = (operand: Expression): Expression => ({
  kind: 'unary',
  operator: 'not',
  operand,
  position: operand.position,
});

export const caseOf = (
  branches: CaseExpression['branches'],
  otherwise: Expression | undefined,
  position: Position,
): Expression => ({ kind: 'case', branches, ...(otherwise === undefined ? {} : { otherwise }), position });

export const item = (expression: Expression, alias: string): ExpressionItem => ({
  kind: 'expression',
  expression,
  alias: identifier(alias, expression.position),
  position: expression.position,
});

/** A SELECT as a whole query. */
export function selectQuery(
  items: readonly ExpressionItem[],
  from: TableReference | undefined,
  where: Expression | undefined,
  position: Position,
): Query {
  const body: Select = {
    kind: 'select',
    distinct: false,
    items,
    ...(from === undefined ? {} : { from }),
    ...(where === undefined ? {} : { where }),
    windows: [],
    position,
  };
  return { kind: 'query', with: [], body, orderBy: [], distributeBy: [], sortBy: [], clusterBy: [], position };
}

/** `(query) alias (columns)` in a FROM clause. */
export const subquery = (query: Query, alias: string, columns?: readonly string[]): TableReference => ({
  kind: 'subquery',
  query,
  alias: identifier(alias, query.position),
  ...(columns === undefined ? {} : { columns: columns.map((name) => identifier(name, query.position)) }),
  position: query.position,
});
