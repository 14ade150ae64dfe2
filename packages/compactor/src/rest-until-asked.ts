import { idle, linkedAbort } from '@skep/core';
import { withCallOptions } from '@skep/rpc';
import type { WorkerServices } from './worker-services.js';

/** A call waits no longer: connections that are silent for too long are closed by what is between. */
const MOST_CALL_MS = 30_000;

export interface RestEnds {
  readonly signal: AbortSignal;
  /** What ends rests in this process. */
  readonly wakers: Set<() => void>;
}

/**
 * The rest of an idle Worker: ends after `ms`, when it is woken, or as soon as the queue, wherever it is, has a request for its
 * pool. Where the queue cannot tell (an older one, one that ends or that nobody reaches) the Worker rests all the same.
 */
export async function restUntilAsked(
  services: WorkerServices,
  poolName: string,
  ms: number,
  { signal, wakers }: RestEnds,
): Promise<void> {
  const end = linkedAbort(signal);
  const giveUp = () => end.abort();
  const rested = idle(ms, end.signal, wakers).then(giveUp);
  const asked = isAsked(services, poolName, ms, end.signal).then(async (isSo) => (isSo ? undefined : await rested));
  await Promise.race([rested, asked]);
  giveUp();
  end.release();
}

async function isAsked(
  { compactions, clock, log }: WorkerServices,
  poolName: string,
  ms: number,
  signal: AbortSignal,
): Promise<boolean> {
  const untilMs = clock.now() + ms;
  try {
    for (let now = clock.now(); now < untilMs && !signal.aborted; now = clock.now()) {
      const waitMs = Math.min(untilMs - now, MOST_CALL_MS);
      const call = () => compactions.waitForCompact({ poolName, waitMs: BigInt(waitMs) });
      const { found } = await withCallOptions({ signal, deadlineMs: waitMs + MOST_CALL_MS }, call);
      if (found) return true;
      // It says no before its time: it cannot wait.
      if (clock.now() - now < waitMs / 2) return false;
    }
  } catch (error) {
    if (!signal.aborted)
      log.debug({ pool: poolName, error }, 'the queue wakes no Workers: they ask when they have rested');
  }
  return false;
}
