import type { Expression } from '../parse/ast-expression.js';
import type { Predicate } from './comparison.js';

/** Analyses a part of an expression where the whole stands: handed down by analyzeExpression, which alone recurses. */
export type AnalyzePart = (node: Expression) => Predicate;
