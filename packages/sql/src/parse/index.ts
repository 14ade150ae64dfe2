export type * from './ast.js';
export { ParseError } from './parse-error.js';
