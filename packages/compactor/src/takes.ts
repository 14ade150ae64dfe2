import { type Compaction, CompactionState } from '@skep/rpc';
import type { WorkerServices } from './worker-services.js';

/**
 * The requests that the Workers of one process have. An answer to FindNextCompact may get lost: the queue then says that a
 * Worker has a request of which the Worker knows nothing. Such are given back before the next is asked for.
 */
export class Takes {
  private readonly ours = new Set<bigint>();
  private isUnsure = false;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly services: WorkerServices,
    readonly workerId: string,
  ) {}

  /** The next request of a pool, ours until `end`. One Worker asks at a time: what another has just got is no lost one. */
  async next(poolName: string): Promise<Compaction | undefined> {
    const turn = this.last.then(() => this.ask(poolName));
    this.last = turn.catch(() => undefined);
    return await turn;
  }

  end(id: bigint): void {
    this.ours.delete(id);
  }

  private async ask(poolName: string): Promise<Compaction | undefined> {
    const { compactions, version } = this.services;
    if (this.isUnsure) await this.giveBack();
    this.isUnsure = true;
    const { job } = await compactions.findNextCompact({ workerId: this.workerId, workerVersion: version, poolName });
    this.isUnsure = false;
    if (job !== undefined) this.ours.add(job.id);
    return job;
  }

  private async giveBack(): Promise<void> {
    const { compactions } = this.services;
    const state = CompactionState.COMPACTION_STATE_WORKING;
    const working = await compactions.showCompactions({ state, limit: 0n });
    for (const { id, workerId, startMs } of working.compactions) {
      if (workerId !== this.workerId || this.ours.has(id)) continue;
      await compactions.finishCompaction({
        id,
        state: CompactionState.COMPACTION_STATE_INITIATED,
        errorMessage: '',
        workerId,
        workerStartMs: startMs,
      });
    }
  }
}
