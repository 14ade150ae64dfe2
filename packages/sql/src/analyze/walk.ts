import type { Expression } from '../parse/ast-expression.js';

/** Whether `test` holds for the expression or a part of it; subqueries are not entered. */
export function someNode(node: Expression, test: (node: Expression) => boolean): boolean {
  if (test(node)) return true;
  for (const [key, value] of Object.entries(node)) {
    if (key !== 'position' && key !== 'type' && someChild(value, test)) return true;
  }
  return false;
}

function someChild(value: unknown, test: (node: Expression) => boolean): boolean {
  if (Array.isArray(value)) return value.some((item) => someChild(item, test));
  if (typeof value !== 'object' || value === null) return false;
  const { kind } = value as { kind?: unknown };
  if (kind === 'query') return false;
  if (typeof kind === 'string' && 'position' in value) return someNode(value as Expression, test);
  return Object.entries(value).some(([key, item]) => key !== 'position' && someChild(item, test));
}

export const hasSubquery = (node: Expression): boolean =>
  someNode(
    node,
    ({ kind }) =>
      kind === 'subquery' || kind === 'exists' || kind === 'in-subquery' || kind === 'quantified-comparison',
  );
