import { Random } from '../../sim/src/random.js';
import { isExpected, openPatiently, rowsOf, SUM, say } from './bank.js';

/** Looks at the sum of every snapshot it can get until it is killed. */
export async function watchSum(metastore: string, seed: number, expected: string): Promise<void> {
  const random = new Random(seed);
  const home = await openPatiently(metastore);
  const session = home.newSession();
  say('ready');
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
      if (!isExpected(error))
        say(`UNEXPECTED reader: ${error instanceof Error ? error.stack?.replaceAll('\n', ' ') : String(error)}`);
      if (session.openTransaction !== undefined) await session.execute('rollback').catch(() => undefined);
    }
  }
}
