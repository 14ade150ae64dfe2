import type { Table, TxnType } from '@skep/rpc';
import { lockSettings, type SessionContext } from '../context.js';
import { ExecutionError } from '../errors.js';
import type { StatementResult } from '../result.js';
import { areReadsCurrent, areTablesCurrent } from './current-reads.js';
import { isTransactional } from './lock-plan.js';
import type { Plan, PlannedStatement } from './planned-statement.js';
import {
  allLocks,
  isOutdated,
  lockWait,
  nextQueryId,
  recordAgain,
  refuseWithoutAcid,
  signature,
} from './statement-locks.js';
import { StatementTransaction } from './statement-transaction.js';

/**
 * Runs one statement in the session's open transaction, or else in one of its own: plan, lock, re-validate, snapshot, run,
 * commit. If another transaction with a higher id committed an update of the same rows while this one waited for its locks,
 * it starts over with a new transaction, at most hive.txn.retrysnapshot.max.count times (org.apache.hadoop.hive.ql.Driver).
 */
export async function runStatement(
  context: SessionContext,
  plan: Plan,
  options: { signal?: AbortSignal | undefined; type?: TxnType } = {},
): Promise<StatementResult> {
  const { conf, services, transaction: open, onlyLocks } = context;
  if (onlyLocks !== undefined) return await plannedOnly(context, plan, onlyLocks);
  if (open !== undefined) return await open.run(plan, options.signal);
  const rounds = conf.getInt('hive.txn.retrysnapshot.max.count');
  const { xlockWrite } = lockSettings(conf);
  const queryId = nextQueryId(context);
  for (let round = 0; round <= rounds; round++) {
    options.signal?.throwIfAborted();
    const transaction = await StatementTransaction.open(services, {
      timeoutMs: conf.getServedTimeMs('hive.txn.timeout'),
      ...(options.type === undefined ? {} : { type: options.type }),
    });
    try {
      let planned = await plan(transaction);
      refuseWithoutAcid(context, planned);
      const components = allLocks(context, planned);
      const waited = await transaction.lock(components, lockWait(context, planned), queryId, options.signal);
      if (await isOutdated(context, transaction, components)) {
        await transaction.abort('another transaction committed the same rows meanwhile: started over');
        continue;
      }
      if (waited) {
        planned = await plan(transaction);
        if (signature(allLocks(context, planned)) !== signature(components)) {
          await transaction.abort('what it needs locks on changed while it waited: started over');
          continue;
        }
        await recordAgain(context, transaction, components);
      }
      const [isCurrent] = await Promise.all([waited || areTablesCurrent(context, planned), transaction.takeSnapshot()]);
      if (!isCurrent || !(await areReadsCurrent(context, transaction, planned))) {
        await transaction.abort(
          'what it needs was dropped or renamed before it had its locks or its snapshot: started over',
        );
        continue;
      }
      if (conf.getBoolean('hive.txn.use.minhistorywriteid')) await transaction.readsOnly(tablesOf(planned));
      const result = await planned.run(transaction);
      if (result.batches !== undefined) {
        return { ...result, batches: committing(result.batches, transaction, xlockWrite) };
      }
      await transaction.endStatement();
      await transaction.commit(xlockWrite);
      return result;
    } catch (error) {
      await abortAfter(error, transaction);
      throw error;
    }
  }
  throw new ExecutionError(
    `Operation could not be executed, snapshot was outdated when locks were acquired: ${rounds} times it was started over, and each time another transaction had changed the same rows (hive.txn.retrysnapshot.max.count)`,
  );
}

/** In a transaction of its own, because what is planned may be named by it. */
async function plannedOnly(
  context: SessionContext,
  plan: Plan,
  answer: NonNullable<SessionContext['onlyLocks']>,
): Promise<StatementResult> {
  const timeoutMs = context.conf.getServedTimeMs('hive.txn.timeout');
  const transaction = await StatementTransaction.open(context.services, { timeoutMs });
  try {
    return answer(allLocks(context, await plan(transaction)));
  } finally {
    await transaction.abort();
  }
}

const tablesOf = ({ reads, writes }: PlannedStatement): Table[] =>
  [...reads, ...writes].flatMap(({ table }) => (table !== undefined && isTransactional(table) ? [table] : []));

/** A reader's transaction lasts until its rows are read, or the reader gives up. */
async function* committing<T>(
  batches: AsyncIterable<T>,
  transaction: StatementTransaction,
  exclWriteEnabled: boolean,
): AsyncGenerator<T> {
  try {
    yield* batches;
  } catch (error) {
    await abortAfter(error, transaction);
    throw error;
  } finally {
    if (!transaction.hasEnded) await transaction.commit(exclWriteEnabled);
  }
}

/** Rolls back because of `error`; should that fail too, the first error still tells what happened. */
async function abortAfter(error: unknown, transaction: StatementTransaction): Promise<void> {
  try {
    await transaction.abort(error);
  } catch (second) {
    if (error instanceof Error && error.cause === undefined) error.cause = second;
  }
}
