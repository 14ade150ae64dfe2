import type { LockService } from '@skep/rpc';
import { Session } from '@skep/sql';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

/** hive.txn.retrysnapshot.max.count: what happens when others commit between a transaction's begin and its locks. */
let home: Home;
let other: Session;
let slow: Session;
/** So often another session is faster. */
let races = 0;
const acid = "stored as orc tblproperties ('transactional'='true')";

beforeEach(async () => {
  home = await freshHome();
  other = home.newSession();
  await run(other, `create table t (a int, b int) ${acid}`, 'insert into t values (1, 0)');
  const { locks } = home.services;
  const late: LockService = Object.create(locks, {
    lock: {
      value: async (request: Parameters<LockService['lock']>[0]) => {
        if (races-- > 0) await run(other, 'update t set b = b + 1');
        return await locks.lock(request);
      },
    },
  });
  slow = new Session({ ...home.services, locks: late }, home.conf.fork());
});
afterEach(() => home.close());

it('a statement starts over in a new transaction until it sees them', async () => {
  races = 5;
  await run(slow, 'update t set a = 2, b = b * 10');
  expect(await rows(other, 'select a, b from t')).toEqual(['2\t50']);
  const { txns } = await home.services.txns.showTxns({});
  const because = /^rollback at .*: another transaction committed the same rows meanwhile: started over$/;
  expect(txns.filter(({ metaInfo }) => because.test(metaInfo))).toHaveLength(5);
});

it('but not for ever: Hive’s error, and nothing is left of it', async () => {
  races = 3;
  await run(slow, 'set hive.txn.retrysnapshot.max.count=2');
  await expect(run(slow, 'update t set a = 2')).rejects.toThrow(
    /Operation could not be executed, snapshot was outdated when locks were acquired: 2 times/,
  );
  expect(races).toBe(0);
  expect(await rows(other, 'select a, b from t')).toEqual(['1\t3']);
  expect((await home.services.locks.showLocks({})).locks).toEqual([]);
  await run(slow, 'update t set a = 2');
  expect(await rows(other, 'select a, b from t')).toEqual(['2\t3']);
});

it.each([
  'update p set a = a + 10',
  'merge into p using t on t.a = t.a when matched then update set a = p.a + 10',
  'delete from p where a > 0',
])('%s: a partition that came after it was planned is locked too', async (statement) => {
  await run(other, `create table p (a int) partitioned by (k int) ${acid}`, 'insert into p values (1, 1)');
  await run(other, 'start transaction', 'insert into p values (2, 1)');
  const { locks } = home.services;
  const asked: string[][] = [];
  const late: LockService = Object.create(locks, {
    lock: {
      value: async (request: Parameters<LockService['lock']>[0]) => {
        if (asked.length === 0) {
          asked.push([]);
          await run(other, 'insert into p values (3, 2)', 'commit');
        }
        asked.push(request.components.flatMap(({ partition }) => partition ?? []));
        return await locks.lock(request);
      },
    },
  });
  const session = new Session({ ...home.services, locks: late }, home.conf.fork());
  await run(session, statement);
  expect(asked.slice(1)).toEqual([['k=1'], ['k=1', 'k=2']]);
  expect((await rows(other, 'select a from p')).sort()).toEqual(/delete/.test(statement) ? [] : ['11', '12', '13']);
});
