import type { Statement } from '../../parse/ast.js';
import type { SessionContext } from '../context.js';
import { SemanticError } from '../errors.js';
import type { StatementResult } from '../result.js';
import { done } from '../text-result.js';
import { ExplicitTransaction } from './explicit-transaction.js';

export type TransactionStatement = Extract<
  Statement,
  { kind: 'start-transaction' | 'commit' | 'rollback' | 'set-autocommit' }
>;

/** Hive's names of operations (org.apache.hadoop.hive.ql.plan.HiveOperation), where our kinds are called otherwise. */
const operationNames: Record<string, string> = {
  'start-transaction': 'START TRANSACTION',
  'set-autocommit': 'SET AUTOCOMMIT',
  'create-table': 'CREATETABLE',
  'drop-table': 'DROPTABLE',
  'create-view': 'CREATEVIEW',
  'drop-view': 'DROPVIEW',
  'alter-view': 'ALTERVIEW',
  'alter-table': 'ALTERTABLE',
  'create-database': 'CREATEDATABASE',
  'drop-database': 'DROPDATABASE',
  'alter-database': 'ALTERDATABASE',
  truncate: 'TRUNCATETABLE',
  analyze: 'ANALYZE_TABLE',
};
const operationName = (kind: string): string => operationNames[kind] ?? kind.replaceAll('-', ' ').toUpperCase();

/** Statements that begin a transaction where AUTOCOMMIT is FALSE. */
const dataKinds: ReadonlySet<string> = new Set([
  'query',
  'insert',
  'multi-insert',
  'update',
  'delete',
  'merge',
  'load',
]);

/** What changes nothing that a ROLLBACK should take back. */
const otherAllowedKinds: ReadonlySet<string> = new Set([
  'explain',
  'show',
  'describe-table',
  'describe-database',
  'describe-function',
  'use',
  'set',
  'reset',
  'dfs',
  'abort-transactions',
  'abort-compactions',
  'lock-table',
  'unlock-table',
  'lock-database',
  'unlock-database',
  'source',
  'quit',
  'shell',
  'commit',
  'rollback',
  'set-autocommit',
  'unsupported',
]);

const notAllowed = (kind: string, txnId: bigint): SemanticError =>
  new SemanticError(20007, `Operation ${operationName(kind)} is not allowed in a transaction (txnid:${txnId}).`, {
    sqlState: '25000',
  });

/**
 * Before a statement: refuses what a transaction cannot hold (Hive's 20007: DDL, TRUNCATE among it, and a second START
 * TRANSACTION), and begins one where the session does not commit by itself.
 */
export async function enterTransaction(context: SessionContext, statement: Statement): Promise<void> {
  const { transaction } = context;
  if (transaction !== undefined) {
    if (!dataKinds.has(statement.kind) && !otherAllowedKinds.has(statement.kind)) {
      throw notAllowed(statement.kind, transaction.txnId);
    }
    return;
  }
  if (!context.autocommit && dataKinds.has(statement.kind)) {
    context.transaction = await ExplicitTransaction.start(context, false);
  }
}

/**
 * START TRANSACTION, COMMIT, ROLLBACK, SET AUTOCOMMIT. COMMIT and ROLLBACK without a transaction are Hive's 20008; SET
 * AUTOCOMMIT TRUE commits the open one, as JDBC's setAutoCommit does (and Hive's Driver did).
 */
export async function transactionStatement(
  context: SessionContext,
  statement: TransactionStatement,
): Promise<StatementResult> {
  switch (statement.kind) {
    case 'start-transaction':
      context.transaction = await ExplicitTransaction.start(context, statement.readOnly);
      return done;
    case 'commit':
      await end(context, 'commit');
      return done;
    case 'rollback':
      await end(context, 'rollback');
      return done;
    case 'set-autocommit':
      context.autocommit = statement.value;
      if (statement.value && context.transaction !== undefined) await end(context, 'commit');
      return done;
  }
}

async function end(context: SessionContext, how: 'commit' | 'rollback'): Promise<void> {
  const { transaction } = context;
  if (transaction === undefined) {
    throw new SemanticError(20008, `Operation ${how.toUpperCase()} is not allowed without an active transaction`, {
      sqlState: '25P01',
    });
  }
  try {
    await (how === 'commit' ? transaction.commit() : transaction.rollback());
  } finally {
    context.transaction = undefined;
  }
}
