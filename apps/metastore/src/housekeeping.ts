import { type CompactorServices, recoverAbandoned } from '@skep/compactor';
import type { Configuration } from '@skep/config';
import { idle } from '@skep/core';
import { CompactionState, HousekeepingTask } from '@skep/rpc';
import { isHolderAlive } from '@skep/txn-manager';

export interface HousekeepingOptions {
  readonly services: CompactorServices;
  readonly conf: Configuration;
  /** Whether this process is the one to do it. */
  readonly mayRun: () => Promise<boolean>;
}

interface Keeper {
  readonly name: string;
  readonly everyMs: number;
  round(): Promise<unknown>;
}

/** All of it once: what processes left that died. */
export async function keepHouse(services: CompactorServices): Promise<void> {
  await services.txns.runHousekeeping({ abortDeadHolders: true });
  await clearUp(services);
  await services.compactions.purgeHistory({});
}

/** Hive's housekeepers at their intervals, until the returned function is called. */
export function startHousekeeping(options: HousekeepingOptions): () => Promise<void> {
  const stop = new AbortController();
  const loops = keepersOf(options).map((keeper) => keep(keeper, options, stop.signal));
  return async () => {
    stop.abort();
    await Promise.all(loops);
  };
}

function keepersOf({ services, conf }: HousekeepingOptions): Keeper[] {
  const { txns, compactions } = services;
  return [
    {
      name: 'AcidHouseKeeper',
      everyMs: conf.getTimeMs('metastore.acid.housekeeper.interval'),
      async round() {
        await txns.runHousekeeping({ abortDeadHolders: true, task: HousekeepingTask.HOUSEKEEPING_TASK_EXPIRE });
        await clearUp(services);
      },
    },
    {
      name: 'AcidTxnCleaner',
      everyMs: conf.getTimeMs('metastore.acid.txn.cleaner.interval'),
      round: () =>
        txns.runHousekeeping({ abortDeadHolders: false, task: HousekeepingTask.HOUSEKEEPING_TASK_FORGET_TXNS }),
    },
    {
      name: 'CompactionHouseKeeper',
      everyMs: conf.getTimeMs('metastore.compaction.housekeeper.interval'),
      async round() {
        const task = HousekeepingTask.HOUSEKEEPING_TASK_MERGE_COMPLETED;
        await txns.runHousekeeping({ abortDeadHolders: false, task });
        await compactions.purgeHistory({});
      },
    },
  ];
}

async function keep(keeper: Keeper, { services, mayRun }: HousekeepingOptions, signal: AbortSignal): Promise<void> {
  for (;;) {
    await idle(keeper.everyMs, signal);
    if (signal.aborted) return;
    try {
      if (!(await mayRun())) continue;
      const startedMs = services.clock.now();
      await keeper.round();
      services.log.debug({ keeper: keeper.name, durationMs: services.clock.now() - startedMs }, 'housekeeping');
    } catch (error) {
      services.log.warn({ keeper: keeper.name, error }, `${keeper.name}: ${String(error)}`);
    }
  }
}

/** What hangs on transactions that have ended: locks, and requests whose Workers are gone. */
async function clearUp(services: CompactorServices): Promise<void> {
  await services.locks.removeExpiredLocks({});
  await revokeDeadWorkers(services);
  await recoverAbandoned(services);
}

/** Requests that Workers of dead processes on this host were at wait again. */
async function revokeDeadWorkers({ compactions, host }: CompactorServices): Promise<void> {
  const { compactions: working } = await compactions.showCompactions({
    state: CompactionState.COMPACTION_STATE_WORKING,
    limit: 0n,
  });
  if (working.length === 0) return;
  const isAlive = (workerId: string) => isHolderAlive(`skep:${workerId.slice(host.length + 1).split('-')[0]}:0`);
  const alive = working.map((c) => c.workerId).filter((id) => id.startsWith(`${host}-`) && isAlive(id));
  await compactions.revokeWorkers({ host, aliveWorkerIds: alive, olderThanMs: 0n });
}
