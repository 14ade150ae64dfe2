import { SkepError } from '@skep/core';
import type { Position } from '../parse/ast.js';

/** A statement that cannot be meant: Hive's SemanticException, with ErrorMsg's number and, where it helps, the place. */
export class SemanticError extends SkepError {
  readonly position?: Position;

  constructor(
    hiveCode: number,
    message: string,
    options: { sqlState?: string; position?: Position; cause?: unknown } = {},
  ) {
    super('SEMANTIC_ERROR', 'invalid', message, {
      hiveCode,
      sqlState: options.sqlState ?? '42000',
      cause: options.cause,
    });
    if (options.position !== undefined) this.position = options.position;
  }
}

/** The metastore's rules forbid it: what Hive's DDLTask reports as MetaException, mostly without a number of its own (code 40000). */
export class MetaError extends SkepError {
  constructor(message: string, options: { cause?: unknown; hiveCode?: number } = {}) {
    super('META_ERROR', 'invalid', message, { sqlState: '08S01', ...options });
  }
}

/** HiveQL that skep knows and does not do: named, never half done. */
export class UnsupportedError extends SkepError {
  constructor(what: string) {
    super('UNSUPPORTED', 'invalid', `${what} is not supported by skep`, { sqlState: '0A000' });
  }
}

/** A statement that failed while it ran (Hive: "return code 2"): the table is as before. */
export class ExecutionError extends SkepError {
  constructor(message: string, options: { cause?: unknown; hiveCode?: number } = {}) {
    super('EXECUTION_ERROR', 'invalid', message, { sqlState: '08S01', ...options });
  }
}

export const tableNotFound = (name: string, position?: Position): SemanticError =>
  new SemanticError(10001, `Table not found ${name}`, { sqlState: '42S02', ...(position ? { position } : {}) });

/** What the metastore refuses when it is told of a changed table (Hive.alterTable): 40013. */
export const alterRefused = (why: string, cause?: unknown): MetaError =>
  new MetaError(`Unable to alter table. ${why}`, { hiveCode: 40013, cause });

/** LOCK and UNLOCK: DbTxnManager takes and releases the locks itself. */
export const noExplicitLocks = (): SemanticError =>
  new SemanticError(
    10271,
    'Current transaction manager does not support explicit lock requests.  Transaction manager:   org.apache.hadoop.hive.ql.lockmgr.DbTxnManager',
  );
