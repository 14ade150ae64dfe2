import { type Clock, SkepError } from '@skep/core';
import type { Logger } from '@skep/telemetry';

/** A call that finds nobody goes on for ten seconds by itself; with these it is a minute in all. */
const MOST_WAIT_MS = 60_000;
const LONGEST_REST_MS = 10_000;

/** The first call of a process that serves: a metastore that is being started together with it is waited for, up to a minute. */
export async function whenThere<T>(
  ask: () => Promise<T>,
  { clock, log }: { readonly clock: Clock; readonly log: Pick<Logger, 'warn'> },
): Promise<T> {
  const untilMs = clock.now() + MOST_WAIT_MS;
  for (let restMs = 1000; ; restMs = Math.min(restMs * 2, LONGEST_REST_MS)) {
    try {
      return await ask();
    } catch (error) {
      const isAway = error instanceof SkepError && (error.code === 'UNREACHABLE' || error.code === 'SHUTTING_DOWN');
      if (!isAway || clock.now() + restMs > untilMs) throw error;
      log.warn({ error, restMs }, 'the metastore does not answer yet');
      await clock.sleep(restMs);
    }
  }
}
