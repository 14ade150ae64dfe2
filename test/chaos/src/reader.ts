import type { RemoteHome } from '../../../apps/cli/src/remote-home.js';
import { Random } from '../../sim/src/random.js';
import { isExpected, openPatiently, rowsOf, SUM, say } from './bank.js';
import { watchOldList } from './old-lists.js';

/** Old snapshots that are looked at at the same time. */
const OLD_LISTS = 4;

/** Looks at the sum of every snapshot it can get until it is killed. */
export async function watchSum(metastore: string, seed: number, expected: string): Promise<void> {
  const random = new Random(seed);
  const home = await openPatiently(metastore);
  say('ready');
  const olds = Array.from({ length: OLD_LISTS }, () => forEver(home, () => watchOldList(home, random, expected)));
  await Promise.all([watchSnapshots(home, random, expected), ...olds]);
}

async function forEver(home: RemoteHome, look: () => Promise<void>): Promise<never> {
  for (;;) {
    try {
      await look();
    } catch (error) {
      tell(error);
    }
    await home.services.clock.sleep(100);
  }
}

function tell(error: unknown): void {
  if (isExpected(error)) return;
  say(`UNEXPECTED reader: ${error instanceof Error ? error.stack?.replaceAll('\n', ' ') : String(error)}`);
}

/** By queries, alone and several in a transaction. */
async function watchSnapshots(home: RemoteHome, random: Random, expected: string): Promise<never> {
  const session = home.newSession();
  const look = async (where: string) => {
    const [line] = await rowsOf(session, SUM);
    say(line === expected ? 'seen' : `WRONG ${where}: ${line} instead of ${expected}`);
  };
  for (;;) {
    try {
      if (random.chance(0.7)) {
        await look('a query');
        continue;
      }
      await session.execute('start transaction');
      for (let i = 0; i < 3; i++) await look('a transaction');
      await session.execute('commit');
    } catch (error) {
      tell(error);
      if (session.openTransaction !== undefined) await session.execute('rollback').catch(() => undefined);
    }
  }
}
