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
export type { IncomingColumn } from './session/dml/incoming-rows.js';
export type { ResultColumn, StatementResult, WriteCounts } from './session/result.js';
export { type SplitScanOptions, scanTableSplit, type TableSplit } from './session/scan/split-scan.js';
export { readableFormat, tableSchema } from './session/scan/table-scan.js';
export type { ProgressFigures } from './session/scan-progress.js';
export type { Identity, Services } from './session/services.js';
export { Session, type Variables } from './session/session.js';
export {
  hasRowIds,
  type RowChanges,
  TableSession,
  type TableSnapshot,
  type WriteOutcome,
  type WriteTarget,
} from './session/table-session.js';
export { isTransactional } from './session/transaction/lock-plan.js';
