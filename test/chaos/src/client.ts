import { systemClock } from '@skep/core';
import type { Session } from '@skep/sql';
import { Random } from '../../sim/src/random.js';
import { ACCOUNTS, branchOf, isExpected, openPatiently, say, TABLE } from './bank.js';

const TURN_MS = 4000;

interface Transfer {
  readonly from: number;
  readonly to: number;
  readonly amount: number;
  readonly isPartitioned: boolean;
}

/** Moves money until it is killed. A line says how each transfer ended. */
export async function moveMoney(metastore: string, seed: number, isPartitioned: boolean): Promise<void> {
  const random = new Random(seed);
  const home = await openPatiently(metastore);
  const session = home.newSession();
  // Whoever waits in front sleeps up to 15 s at last, and all others with it: here one gives up after some seconds and asks again.
  await session.execute('set hive.lock.numretries=5');
  await session.execute('set hive.exec.dynamic.partition.mode=nonstrict');
  say('ready');
  for (;;) {
    const from = random.below(ACCOUNTS);
    const to = (from + 1 + random.below(ACCOUNTS - 1)) % ACCOUNTS;
    const [name, move] = random.pick(WAYS);
    try {
      await session.execute(`set hive.txn.xlock.write=${isTimeOfExclusiveLocks()}`);
      await move(session, { from, to, amount: 1 + random.below(50), isPartitioned });
      say(`moved ${name}`);
    } catch (error) {
      if (!isExpected(error))
        say(`UNEXPECTED ${name}: ${error instanceof Error ? error.stack?.replaceAll('\n', ' ') : String(error)}`);
      else say(`failed ${name}: ${String(error).split('\n')[0]}`);
      if (session.openTransaction !== undefined) await session.execute('rollback').catch(() => undefined);
    }
  }
}

/**
 * Where locks are shared the first committer wins; where they are exclusive the others wait, those with shared ones too. So all
 * have the same, in turns, but for what is under way when it changes.
 */
const isTimeOfExclusiveLocks = (): boolean => Math.floor(systemClock.now() / TURN_MS) % 3 === 0;

type Move = (session: Session, transfer: Transfer) => Promise<void>;

const byUpdate: Move = async (session, { from, to, amount }) => {
  await session.execute(
    `update ${TABLE} set balance = balance + case when id = ${from} then -${amount} else ${amount} end where id in (${from}, ${to})`,
  );
};

const byMerge: Move = async (session, { from, to, amount, isPartitioned }) => {
  const row = ({ id, by }: { id: number; by: number }) => `${id} as id, ${by} as d, ${branchOf(id)} as branch`;
  await session.execute(
    `merge into ${TABLE} a
      using (select ${row({ id: from, by: -amount })} union all select ${row({ id: to, by: amount })}) s on a.id = s.id
      when matched then update set balance = a.balance + s.d
      when not matched then insert values (s.id, s.d${isPartitioned ? ', s.branch' : ''})`,
  );
};

const byTransaction: Move = async (session, { from, to, amount }) => {
  await session.execute('start transaction');
  await session.execute(`update ${TABLE} set balance = balance - ${amount} where id = ${from}`);
  await session.execute(`update ${TABLE} set balance = balance + ${amount} where id = ${to}`);
  await session.execute('commit');
};

const WAYS: readonly (readonly [string, Move])[] = [
  ['update', byUpdate],
  ['merge', byMerge],
  ['update', byUpdate],
  ['merge', byMerge],
  ['transaction', byTransaction],
];
