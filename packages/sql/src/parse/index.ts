export type * from './ast.js';
export { RESERVED as RESERVED_WORDS } from './keywords.js';
export { ParseError } from './parse-error.js';
export { type Script, type ScriptStatement, splitScript, splitStatements } from './script.js';
export { parseExpressionText as parseExpression, parseStatement, parseTypeText } from './statement.js';
export { quoteString, unquoteString } from './string-literal.js';
export { SubstitutionDepthError, substitute } from './substitute.js';
export { printType } from './type.js';
