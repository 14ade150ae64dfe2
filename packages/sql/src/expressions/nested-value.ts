import type { Position } from '../parse/ast-expression.js';
import { structOf, typeName } from '../types/hive-type.js';
import { isInteger } from '../types/type-rules.js';
import { argumentType, semantic } from './errors.js';
import type { Expr } from './expr.js';
import type { ExpressionAnalysis } from './expression-analysis.js';

/** `list[i]` and `map[key]` (GenericUDFIndex). */
export function element(base: Expr, index: Expr, env: { analysis: ExpressionAnalysis }, position: Position): Expr {
  const { analysis } = env;
  if (base.type.kind === 'array') {
    if ((!isInteger(index.type) || index.type.kind === 'bigint') && index.type.kind !== 'void') {
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

/** `(a, b)`: a struct of col1, col2, …. */
export function rowOf(items: readonly Expr[], position: Position): Expr {
  const type = structOf(items.map((item, i) => ({ name: `col${i + 1}`, type: item.type })));
  return { sql: `{${items.map((item, i) => `'col${i + 1}': ${item.sql}`).join(', ')}}`, type, position };
}
