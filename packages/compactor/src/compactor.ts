import { setMaxListeners } from 'node:events';
import { idle } from '@skep/core';
import { Cleaner } from './cleaner.js';
import { Initiator } from './initiator.js';
import { restUntilAsked } from './rest-until-asked.js';
import type { CompactorServices } from './services.js';
import { Takes } from './takes.js';
import { Worker } from './worker.js';
import type { WorkerServices } from './worker-services.js';

export interface WorkerOptions {
  /** Worker threads of the default pool, 1 when absent; 0: none here. */
  readonly workers?: number;
  /** Workers of named pools (hive.compactor.worker.POOL.threads). */
  readonly pools?: Readonly<Record<string, number>>;
}

export interface CompactorOptions extends WorkerOptions {
  /** hive.compactor.initiator.on and hive.compactor.cleaner.on: false leaves the loop out. */
  readonly initiator?: boolean;
  readonly cleaner?: boolean;
  /** Asked before each round of Initiator and Cleaner in the background: of several processes one is to run them. */
  readonly mayRun?: (role: 'Initiator' | 'Cleaner') => Promise<boolean>;
  /** Loops run in the background until `stop`. False: only the `run…Once` methods do anything. */
  readonly background: boolean;
}

/** Workers that take one request after the other. */
export interface Workers {
  /** Ends them; a compaction that is running is given up and its request waits again. */
  stop(): Promise<void>;
}

/** Initiator, Workers and Cleaner in one process. Idle loops cost nothing but their timers, which keep no process alive. */
export interface Compactor extends Workers {
  /** There may be work: Workers and Cleaner look at once. */
  wake(): void;
  /** Carries out the next request of the default pool, if one waits. These four go on working after `stop`. */
  runWorkerOnce(): Promise<boolean>;
  runInitiatorOnce(): Promise<bigint[]>;
  /** One round: one request of each table or partition. */
  runCleanerOnce(): Promise<number>;
  /** All requests that can be cleaned now. */
  cleanAll(): Promise<number>;
}

/** Starts the Workers of a process that has nothing else of the compactor. */
export function startWorkers(services: WorkerServices, options: WorkerOptions): Workers {
  const controller = new AbortController();
  const takes = takesOf(services);
  const loops = workerLoops(services, options, { takes, waker: newWaker(), signal: controller.signal });
  return {
    async stop() {
      controller.abort();
      await Promise.all(loops);
    },
  };
}

/** Starts the compactor of this process. */
export function startCompactor(services: CompactorServices, options: CompactorOptions): Compactor {
  const controller = new AbortController();
  const { signal } = controller;
  const { conf } = services;
  const initiator = new Initiator(services);
  const cleaner = new Cleaner(services);
  const takes = takesOf(services);
  const waker = newWaker();
  const loops: Promise<void>[] = [];
  if (options.background) {
    loops.push(...workerLoops(services, options, { takes, waker, signal }));
    const mayRun = options.mayRun ?? (async () => true);
    const clean = async () => {
      if (await mayRun('Cleaner')) await cleaner.runAll(signal);
      return false;
    };
    if (options.cleaner ?? true)
      loops.push(loop(services, { name: 'Cleaner', everyMs: conf.cleanerRunIntervalMs, waker, signal, round: clean }));
    const initiate = async () => {
      if ((await mayRun('Initiator')) && (await initiator.runOnce(signal)).length > 0) waker.wake();
      return false;
    };
    if (options.initiator ?? true)
      loops.push(loop(services, { name: 'Initiator', everyMs: conf.checkIntervalMs, signal, round: initiate }));
  }
  const byHand = new Worker(services, takes.workerId, '', takes);
  return {
    wake: () => waker.wake(),
    runWorkerOnce: async () => await byHand.runOnce(),
    runInitiatorOnce: async () => await initiator.runOnce(),
    runCleanerOnce: async () => await cleaner.runOnce(),
    cleanAll: async () => await cleaner.runAll(),
    async stop() {
      controller.abort();
      await Promise.all(loops);
    },
  };
}

/** `host-thread` as Hive has it; the process stands for all of its threads, which live and die together. */
const takesOf = (services: WorkerServices): Takes => new Takes(services, `${services.host}-${process.pid}`);

function workerLoops(
  services: WorkerServices,
  options: WorkerOptions,
  shared: { readonly takes: Takes; readonly waker: Waker; readonly signal: AbortSignal },
): Promise<void>[] {
  const { takes, waker, signal } = shared;
  // Each loop listens to it while it rests.
  setMaxListeners(0, signal);
  const everyMs = services.conf.workerSleepMs;
  const pools = Object.entries({ ...options.pools, '': options.workers ?? 1 });
  return pools.flatMap(([pool, count]) =>
    Array.from({ length: count }, () => {
      const worker = new Worker(services, takes.workerId, pool, takes);
      const round = async () => {
        const worked = await worker.runOnce(signal);
        if (worked) waker.wake();
        return worked;
      };
      const rest: Rest = (ms, wakers) => restUntilAsked(services, pool, ms, { signal, wakers });
      return loop(services, { name: 'Worker', everyMs, waker, signal, round, rest });
    }),
  );
}

interface Waker {
  /** Whoever was in a round at a call looks again. */
  calls: number;
  readonly resting: Set<() => void>;
  wake(): void;
}

function newWaker(): Waker {
  const resting = new Set<() => void>();
  return {
    calls: 0,
    resting,
    wake() {
      this.calls++;
      for (const end of [...resting]) end();
    },
  };
}

interface Loop {
  readonly name: string;
  readonly everyMs: number;
  readonly waker?: Waker;
  readonly signal: AbortSignal;
  /** Whether there is more to do at once. */
  readonly round: () => Promise<boolean>;
  /** How it rests after a round that found nothing; default: `idle`. */
  readonly rest?: Rest;
}

type Rest = (ms: number, wakers: Set<() => void>) => Promise<void>;

/** The rest after so many failed rounds in a row: it doubles up to hive.compactor.worker.max.sleep.time. Pure. */
export function restMs(everyMs: number, errors: number, mostMs: number): number {
  if (errors <= 1) return everyMs;
  return Math.max(everyMs, Math.min(mostMs, everyMs * 2 ** Math.min(errors - 1, 30)));
}

/** No error ends a loop, and none makes it spin. */
async function loop(services: WorkerServices, { name, everyMs, waker, signal, round, ...own }: Loop): Promise<void> {
  const rest: Rest = own.rest ?? ((ms, wakers) => idle(ms, signal, wakers));
  let errors = 0;
  while (!signal.aborted) {
    let busy = false;
    const calls = waker?.calls;
    try {
      busy = await round();
      errors = 0;
    } catch (error) {
      if (signal.aborted) return;
      errors++;
      services.log.warn({ error, errors }, `${name}: ${String(error)}`);
    }
    // Whoever failed is not woken before its rest is over: another loop's success may be what wakes it.
    if (errors > 0) await idle(restMs(everyMs, errors, services.conf.workerMaxSleepMs), signal);
    else if (!busy && calls === waker?.calls) await rest(everyMs, waker?.resting ?? new Set());
  }
}
