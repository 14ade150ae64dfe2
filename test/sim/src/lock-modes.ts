import type { Configuration } from '@skep/config';
import { lockSettings } from '../../../packages/sql/src/session/context.js';
import type { Random } from './random.js';

/** The settings of a run's sessions: who keeps out whom. */
export function chooseSettings(random: Random): Record<string, string> {
  const often = (probability: number) => String(random.chance(probability));
  return {
    'hive.txn.xlock.write': often(0.6),
    'hive.txn.xlock.iow': often(0.8),
    'hive.txn.xlock.mergeinsert': often(0.2),
    'hive.acid.lockless.reads.enabled': often(0.2),
    // Without it a TRUNCATE removes files at once, whoever may still need them.
    'hive.acid.truncate.usebase': 'true',
    'hive.txn.use.minhistorywriteid': often(0.4),
    'hive.lock.numretries': '12',
  };
}

/** Whether an INSERT may run beside the other statement: then it may hide what is inserted under a smaller write id (lock-plan.ts). */
export function letsInsertsPass(conf: Configuration, statement: 'overwrite' | 'truncate'): boolean {
  const { xlockWrite, xlockIow, locklessReads, truncateUseBase } = lockSettings(conf);
  const isSharedWithReads = statement === 'overwrite' ? !xlockIow : truncateUseBase;
  return xlockWrite && !locklessReads && isSharedWithReads;
}
