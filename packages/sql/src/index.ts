/** @module HiveQL: parse, analyse, translate, execute; sessions over the services. */
export {
  type Expression,
  ParseError,
  parseStatement,
  printType,
  type Query,
  RESERVED_WORDS,
  type Script,
  type ScriptStatement,
  type Statement,
  splitScript,
  splitStatements,
  substitute,
} from './parse/index.js';
export * from './query.js';
export type { ResultColumn, StatementResult, WriteCounts } from './session/result.js';
export type { ProgressFigures } from './session/scan-progress.js';
export type { Identity, Services } from './session/services.js';
export { Session, type Variables } from './session/session.js';
