import { detached, withCallOptions } from '@skep/rpc';
import type { Services } from '@skep/sql';

/**
 * Runs what is done for a user: transactions and locks are its own, and a metastore elsewhere is told so (its proxy-user rules
 * must allow it). Nothing of it ends with the call that asked for it: what must be given up, is by its own signal.
 */
export function actFor<T>(services: Services, user: string, run: () => Promise<T>): Promise<T> {
  return detached(() => (user === services.identity.user ? run() : withCallOptions({ user }, run)));
}

/** The services with that user, at this place, as whoever holds transactions and locks. */
export const servicesOf = (services: Services, user: string, agentInfo: string): Services => ({
  ...services,
  identity: { ...services.identity, user, agentInfo },
});
