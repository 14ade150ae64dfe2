import type { Session } from '@skep/sql';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";
const drop = 'alter table t drop partition (k = 1)';

let home: Home;
let holder: Session;
let dropper: Session;
let writer: Session;
beforeEach(async () => {
  home = await freshHome({ backgroundCompaction: false });
  [holder, dropper, writer] = [home.newSession(), home.newSession(), home.newSession()];
  await run(holder, `create table t (a int) partitioned by (k int) ${acid}`, 'insert into t values (1, 1), (2, 2)');
});
afterEach(async () => {
  await home.close();
});

const waits = async (count: number): Promise<void> => {
  await expect
    .poll(async () => (await home.services.locks.showLocks({})).locks.filter(({ state }) => state === 2).length, {
      timeout: 20_000,
    })
    .toBe(count);
};

/** `statement` waits for a drop of the partition that it writes to, which waits for others. */
async function afterDrop(statement: string): Promise<void> {
  await run(holder, 'start transaction', 'insert into t partition (k = 1) values (3)');
  const dropped = run(dropper, drop);
  await waits(1);
  const written = run(writer, statement);
  await waits(2);
  await run(holder, 'commit');
  await Promise.all([dropped, written]);
}

/** The partitions that were written to, as far as that is on record. */
async function candidates(): Promise<(string | undefined)[]> {
  const all = { abortedThreshold: 0, abortedTimeThresholdMs: 0n, sinceMs: 0n };
  const { candidates: found } = await home.services.txns.findCompactionCandidates(all);
  return found.map(({ resource }) => resource?.partition);
}

it('an abort of who waited for a drop is on record', { timeout: 60_000 }, async () => {
  await run(writer, 'start transaction');
  await afterDrop('insert overwrite table t partition (k = 1) values (4)');
  expect(await rows(writer, 'select * from t order by a')).toEqual(['2\t2', '4\t1']);
  // As when it is killed: nobody removes its files.
  const txnId = writer.openTransaction?.txnId ?? 0n;
  await home.services.txns.abortTxns({ txnIds: [txnId], reasonCode: 50001, abortedBy: 'test' });
  expect(await candidates()).toContain('k=1');
  expect(await rows(holder, 'select * from t')).toEqual(['2\t2']);
});

it('a commit of who waited for a drop is on record', { timeout: 60_000 }, async () => {
  await afterDrop('insert into t partition (k = 1) values (4)');
  expect(await candidates()).toContain('k=1');
  expect(await rows(holder, 'select * from t order by a')).toEqual(['2\t2', '4\t1']);
});
