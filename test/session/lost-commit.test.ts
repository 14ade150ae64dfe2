import { NoSuchTxnError } from '@skep/rpc';
import { Session } from '@skep/sql';
import { expect, it } from 'vitest';
import { freshHome, rows, run } from './harness.js';

it('a transaction of which the metastore knows nothing any more after a lost answer keeps its files (test/sim, seed 28)', async () => {
  const home = await freshHome();
  try {
    const { txns } = home.services;
    const forgetful = new Proxy(txns, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name !== 'commitTxn') return typeof value === 'function' ? value.bind(target) : value;
        return async (request: Parameters<typeof txns.commitTxn>[0]) => {
          await txns.commitTxn(request);
          throw new NoSuchTxnError(request.txnId);
        };
      },
    });
    const session = home.newSession();
    await run(session, "create table t (a int) stored as orc tblproperties ('transactional'='true')");
    const unlucky = new Session({ ...home.services, txns: forgetful }, home.conf.fork());
    await run(unlucky, 'start transaction', 'insert into t values (1)', 'insert into t values (2)');
    await expect(run(unlucky, 'commit')).rejects.toThrow(NoSuchTxnError);
    await unlucky.close();
    expect(await rows(session, 'select a from t order by a')).toEqual(['1', '2']);
  } finally {
    await home.close();
  }
});
