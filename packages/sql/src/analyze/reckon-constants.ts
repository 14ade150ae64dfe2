import { SkepError } from '@skep/core';
import type { DecimalValue, SargLiteral, TimestampValue, VectorValue } from '@skep/orc';
import { duckTypeName } from '../types/duck-type.js';
import type { HiveType } from '../types/hive-type.js';
import { isInteger } from '../types/type-rules.js';
import type { Analysis } from './analysis.js';
import type { AnalyzedQuery } from './query.js';

/** Reckons the constants that conditions on tables wait for, all by one query. */
export async function reckonConstants(analysis: Analysis): Promise<void> {
  const { evaluate } = analysis.context;
  const constants = [...new Set(analysis.uses.flatMap((use) => use.constants))];
  if (constants.length === 0 || evaluate === undefined) return;
  const query: AnalyzedQuery = {
    columns: constants.map(({ expr: { type } }, i) => ({ name: `c${i}`, bareName: `c${i}`, type })),
    tables: [],
    sql: `SELECT ${constants.map(({ expr }, i) => `CAST(${expr.sql} AS ${duckTypeName(expr.type)}) AS c${i}`).join(', ')}`,
    udfs: analysis.udfs.all,
    ordered: false,
  };
  let values: readonly VectorValue[];
  try {
    values = await evaluate(query);
  } catch (error) {
    // The statement fails in the same way if it comes to the expression, and tells why.
    if (error instanceof SkepError) return;
    throw error;
  }
  constants.forEach((constant, i) => {
    constant.value = literalOf(constant.expr.type, values[i]);
  });
}

/** A value as a literal of its type has it. */
function literalOf(type: HiveType, value: VectorValue | undefined): SargLiteral | undefined {
  if (value === undefined || value === null) return undefined;
  if (isInteger(type)) return typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : undefined;
  switch (type.kind) {
    case 'double':
    case 'date':
    case 'string':
    case 'varchar':
      return typeof value === 'number' || typeof value === 'string' ? value : undefined;
    case 'decimal':
      return typeof value === 'object' && 'unscaled' in value ? (value as DecimalValue) : undefined;
    case 'timestamp':
      return typeof value === 'object' && 'seconds' in value ? (value as TimestampValue) : undefined;
    default:
      return undefined;
  }
}
