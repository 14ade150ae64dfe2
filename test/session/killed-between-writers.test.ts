import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { override } from '@skep/core/testing';
import { Session } from '@skep/sql';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";
const merge = `merge into t using s on t.id = s.id
  when matched then update set a = s.a when not matched then insert values (s.id, s.a, 1)`;
const update = 'update t set a = a + 1';

let home: Home;
beforeEach(async () => {
  home = await freshHome({ backgroundCompaction: false });
});
afterEach(async () => {
  await home.close();
});

/** A session whose process is killed when it is about to say something of its transaction for the `nth` time. */
function mortal(nth: number): Session {
  const { txns, fs } = home.services;
  let left = nth;
  const say = <Q, A>(act: (request: Q) => Promise<A>) => {
    return async (request: Q): Promise<A> => {
      if (--left <= 0) throw new Error('killed');
      return await act(request);
    };
  };
  const killed = override(txns, {
    addWriteComponents: say((request) => txns.addWriteComponents(request)),
    addDynamicPartitions: say((request) => txns.addDynamicPartitions(request)),
    commitTxn: say((request) => txns.commitTxn(request)),
    abortTxns: say((request) => txns.abortTxns(request)),
  });
  const files = override(fs, {
    delete: async (path, options) => (left <= 0 ? false : await fs.delete(path, options)),
  });
  return new Session({ ...home.services, txns: killed, fs: files }, home.conf.fork());
}

/** The partitions of t with folders of a write id. */
function writtenIn(writeId: string): string[] {
  const table = join(home.warehouse.replace(/^file:(\/\/)?/, ''), 't');
  const partitions = readdirSync(table).filter((name) => name.startsWith('k=') && existsSync(join(table, name)));
  return partitions.filter((name) => readdirSync(join(table, name)).some((folder) => folder.includes(writeId))).sort();
}

it.each([
  [1, merge],
  [2, merge],
  [3, merge],
  [1, update],
  [2, update],
])('whoever is killed at step %i leaves nothing that nobody knows of: %s', async (step, statement) => {
  const before = home.newSession();
  await run(
    before,
    `create table t (id int, a int) partitioned by (k int) ${acid}`,
    `create table s (id int, a int) ${acid}`,
    'insert into t values (1, 1, 1), (2, 2, 2)',
    'insert into s values (2, 20), (3, 30)',
  );
  const dying = mortal(step);
  await expect(run(dying, statement)).rejects.toThrow('killed');
  const { txns } = await home.services.txns.showTxns({});
  const txnId = txns.at(-1)?.txnId ?? 0n;
  await home.services.txns.abortTxns({ txnIds: [txnId], reasonCode: 50001, abortedBy: 'test' });
  expect(writtenIn('_0000002')).toEqual(['k=1', 'k=2']);
  expect(await home.compactor.runCleanerOnce()).toBe(0);
  const all = { abortedThreshold: 0, abortedTimeThresholdMs: 0n, sinceMs: 0n };
  const { candidates } = await home.services.txns.findCompactionCandidates(all);
  const known = candidates.filter(({ hasOldAbort }) => hasOldAbort).map(({ resource }) => resource?.partition);
  if (!known.includes(undefined)) expect(known.sort()).toEqual(['k=1', 'k=2']);
  expect(await rows(before, 'select id, a, k from t order by id')).toEqual(['1\t1\t1', '2\t2\t2']);
});
