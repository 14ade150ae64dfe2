import type { LockComponent } from '@skep/rpc';
import type { StatementResult } from '../result.js';
import type { ReadEntity, WriteEntity } from './lock-plan.js';
import type { StatementTransaction } from './statement-transaction.js';

/** A statement made ready: what it reads and writes, and how it runs once its locks are held and its snapshot is taken. */
export interface PlannedStatement {
  readonly reads: readonly ReadEntity[];
  readonly writes: readonly WriteEntity[];
  /** Locks beside those of tables: databases. */
  readonly otherLocks?: readonly LockComponent[];
  run(transaction: StatementTransaction): Promise<StatementResult>;
}

/** Makes a statement ready; again, where what it was made from may have changed. */
export type Plan = (transaction: StatementTransaction) => Promise<PlannedStatement>;

/** A transaction over several statements (explicit-transaction.ts), from START TRANSACTION until COMMIT or ROLLBACK. */
export interface OpenTransaction {
  readonly txnId: bigint;
  /** It was aborted, and nothing but ROLLBACK is left to do. */
  readonly isLost: boolean;
  run(plan: Plan, signal?: AbortSignal): Promise<StatementResult>;
  /** Says that it is still wanted; fails if it was aborted from outside. */
  requireAlive(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}
