import { idle } from '@skep/core';
import { Cleaner } from './cleaner.js';
import { Initiator } from './initiator.js';
import type { CompactorServices } from './services.js';
import { Worker } from './worker.js';

export interface CompactorOptions {
  /** Worker threads of the default pool. */
  readonly workers?: number;
  /** Loops run in the background until `stop`. False: only the `run…Once` methods do anything. */
  readonly background: boolean;
}

/** Initiator, Workers and Cleaner in one process. Idle loops cost nothing but their timers, which keep no process alive. */
export interface Compactor {
  /** There may be work: Workers and Cleaner look at once. */
  wake(): void;
  /** Carries out all requests that wait, one after the other. */
  runWorkerOnce(): Promise<boolean>;
  runInitiatorOnce(): Promise<bigint[]>;
  runCleanerOnce(): Promise<number>;
  /** Ends the loops; a compaction that is running is given up and its request waits again. */
  stop(): Promise<void>;
}

/** Starts the compactor of this process; requests left by a process of this host that is gone wait again. */
export function startCompactor(services: CompactorServices, options: CompactorOptions): Compactor {
  const controller = new AbortController();
  const initiator = new Initiator(services);
  const cleaner = new Cleaner(services);
  const workers = Array.from(
    { length: Math.max(1, options.workers ?? 1) },
    (_, i) => new Worker(services, `${services.host}-${process.pid}-${i}`),
  );
  const wakers = new Set<() => void>();
  const loops: Promise<void>[] = [];
  const loop = async (everyMs: number, wakeable: boolean, round: () => Promise<boolean>): Promise<void> => {
    while (!controller.signal.aborted) {
      let busy = false;
      try {
        busy = await round();
      } catch (error) {
        if (!controller.signal.aborted) services.log(`compactor: ${String(error)}`);
      }
      if (!busy) await idle(everyMs, controller.signal, wakeable ? wakers : undefined);
    }
  };
  if (options.background) {
    for (const worker of workers) {
      loops.push(
        loop(services.conf.workerSleepMs, true, async () => {
          const worked = await worker.runOnce(controller.signal);
          if (worked) for (const wake of wakers) wake();
          return worked;
        }),
      );
    }
    loops.push(
      loop(services.conf.cleanerRunIntervalMs, true, async () => (await cleaner.runOnce(controller.signal)) > 0),
    );
    loops.push(
      loop(services.conf.checkIntervalMs, false, async () => {
        const queued = await initiator.runOnce(controller.signal);
        if (queued.length > 0) for (const wake of wakers) wake();
        return false;
      }),
    );
  }
  return {
    wake() {
      for (const wake of wakers) wake();
    },
    runWorkerOnce: async () => await workers[0].runOnce(controller.signal),
    runInitiatorOnce: async () => await initiator.runOnce(controller.signal),
    runCleanerOnce: async () => await cleaner.runOnce(controller.signal),
    async stop() {
      controller.abort();
      await Promise.all(loops);
    },
  };
}
