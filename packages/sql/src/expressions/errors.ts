import { SkepError } from '@skep/core';
import type { Position } from '../parse/ast-expression.js';

/**
 * A query that cannot be meant: Hive's SemanticException. `hiveCode` is the number in `[Error N]`
 * (org.apache.hadoop.hive.ql.ErrorMsg), absent where Hive gives none.
 */
export class QueryError extends SkepError {
  readonly position: Position | undefined;

  constructor(hiveCode: number | undefined, message: string, position?: Position) {
    super('SEMANTIC_ERROR', 'invalid', message, {
      sqlState: hiveCode === 10001 ? '42S02' : '42000',
      ...(hiveCode === undefined ? {} : { hiveCode }),
    });
    this.position = position;
  }
}

const at = (position: Position): string => `Line ${position.line}:${position.column}`;

export const tableNotFound = (name: string, position: Position): QueryError =>
  new QueryError(10001, `${at(position)} Table not found '${name}'`, position);

export const invalidColumn = (name: string, position: Position): QueryError =>
  new QueryError(10002, `${at(position)} Invalid column reference '${name}'`, position);

export const invalidTableOrColumn = (name: string, possible: readonly string[], position: Position): QueryError =>
  new QueryError(
    10004,
    `${at(position)} Invalid table alias or column reference '${name}': (possible column names are: ${possible.join(', ')})`,
    position,
  );

export const invalidTableAlias = (name: string, position: Position): QueryError =>
  new QueryError(10009, `${at(position)} Invalid table alias '${name}'`, position);

export const ambiguousTable = (name: string, position: Position): QueryError =>
  new QueryError(10008, `${at(position)} Ambiguous table alias '${name}'`, position);

export const ambiguousColumn = (name: string, table: string, position?: Position): QueryError =>
  new QueryError(10007, `Ambiguous column reference ${name} in ${table}`, position);

export const invalidFunction = (name: string, position?: Position): QueryError =>
  new QueryError(10011, `Invalid function ${name}`, position);

export const missingOver = (name: string, position?: Position): QueryError =>
  new QueryError(10247, `Missing over clause for function : ${name}`, position);

export const nestedTableFunction = (position?: Position): QueryError =>
  new QueryError(10081, "UDTF's are not supported outside the SELECT clause, nor nested in expressions", position);

export const wrongArguments = (what: string, why: string, position: Position): QueryError =>
  new QueryError(10014, `${at(position)} Wrong arguments '${what}': ${why}`, position);

export const argumentsLength = (what: string, why: string, position: Position): QueryError =>
  new QueryError(10015, `${at(position)} Arguments length mismatch '${what}': ${why}`, position);

export const argumentType = (what: string, why: string, position: Position): QueryError =>
  new QueryError(10016, `${at(position)} Argument type mismatch '${what}': ${why}`, position);

export const notInGroupBy = (what: string, position: Position): QueryError =>
  new QueryError(10025, `${at(position)} Expression not in GROUP BY key '${what}'`, position);

export const aggregateNotAllowed = (name: string, position: Position): QueryError =>
  new QueryError(10128, `${at(position)} Not yet supported place for UDAF '${name}'`, position);

export const semantic = (message: string, position?: Position, hiveCode?: number): QueryError =>
  new QueryError(hiveCode, message, position);
