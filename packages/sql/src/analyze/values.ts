import { semantic } from '../expressions/errors.js';
import type { Expression, Position } from '../parse/ast-expression.js';
import { duckTypeName } from '../types/duck-type.js';
import { type HiveType, VOID } from '../types/hive-type.js';
import { commonType } from '../types/type-rules.js';
import type { Block } from './block.js';
import { analyzeExpression } from './expression.js';
import type { ExpressionEnvironment } from './expression-environment.js';

/** Rows of VALUES, each column of the rows' common type; columns are named col1, col2, …. */
export function valuesBlock(
  rows: readonly (readonly Expression[])[],
  env: ExpressionEnvironment,
  position: Position,
): Block {
  const width = rows[0]?.length ?? 0;
  const analyzed = rows.map((row) => {
    if (row.length !== width) throw semantic('Values clause with rows of different lengths', position);
    return row.map((value) => analyzeExpression(value, env));
  });
  const types = Array.from({ length: width }, (_, i) =>
    analyzed.reduce((type: HiveType, row) => {
      const common = commonType(type, row[i].type);
      if (common === undefined) throw semantic(`VALUES of different types in column ${i + 1}`, row[i].position);
      return common;
    }, VOID),
  );
  const columns = types.map((type, i) => ({ name: `col${i + 1}`, type, label: `col${i + 1}` }));
  const sqlRows = analyzed.map(
    (row) => `(${row.map((value, i) => env.analysis.cast(value, types[i]).sql).join(', ')})`,
  );
  const names = types.map((_, i) => `c${i}`).join(', ');
  const casts = types.map((type, i) => `CAST(c${i} AS ${duckTypeName(type)}) AS c${i}`).join(', ');
  return {
    sql: `SELECT ${casts} FROM (VALUES ${sqlRows.join(', ')}) AS ${env.analysis.alias('v')}(${names})`,
    columns,
  };
}
