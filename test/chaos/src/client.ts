import type { Session } from '@skep/sql';
import { Random } from '../../sim/src/random.js';
import { ACCOUNTS, isExpected, openPatiently, say } from './bank.js';

interface Transfer {
  readonly from: number;
  readonly to: number;
  readonly amount: number;
}

/** Moves money until it is killed. A line says how each transfer ended. */
export async function moveMoney(metastore: string, seed: number): Promise<void> {
  const random = new Random(seed);
  const home = await openPatiently(metastore);
  const session = home.newSession();
  // Where locks are shared the first committer wins; where they are exclusive the others wait.
  if (random.chance(0.4)) await session.execute('set hive.txn.xlock.write=false');
  say('ready');
  for (;;) {
    const from = random.below(ACCOUNTS);
    const to = (from + 1 + random.below(ACCOUNTS - 1)) % ACCOUNTS;
    const [name, move] = random.pick(WAYS);
    try {
      await move(session, { from, to, amount: 1 + random.below(50) });
      say(`moved ${name}`);
    } catch (error) {
      if (!isExpected(error))
        say(`UNEXPECTED ${name}: ${error instanceof Error ? error.stack?.replaceAll('\n', ' ') : String(error)}`);
      else say(`failed ${name}: ${String(error).split('\n')[0]}`);
      if (session.openTransaction !== undefined) await session.execute('rollback').catch(() => undefined);
    }
  }
}

type Move = (session: Session, transfer: Transfer) => Promise<void>;

const byUpdate: Move = async (session, { from, to, amount }) => {
  await session.execute(
    `update accounts set balance = balance + case when id = ${from} then -${amount} else ${amount} end where id in (${from}, ${to})`,
  );
};

const byMerge: Move = async (session, { from, to, amount }) => {
  await session.execute(
    `merge into accounts a using (select ${from} as id, -${amount} as d union all select ${to}, ${amount}) s on a.id = s.id
      when matched then update set balance = a.balance + s.d when not matched then insert values (s.id, s.d)`,
  );
};

const byTransaction: Move = async (session, { from, to, amount }) => {
  await session.execute('start transaction');
  await session.execute(`update accounts set balance = balance - ${amount} where id = ${from}`);
  await session.execute(`update accounts set balance = balance + ${amount} where id = ${to}`);
  await session.execute('commit');
};

const WAYS: readonly (readonly [string, Move])[] = [
  ['update', byUpdate],
  ['merge', byMerge],
  ['update', byUpdate],
  ['merge', byMerge],
  ['transaction', byTransaction],
];
