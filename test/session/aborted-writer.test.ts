import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { override } from '@skep/core/testing';
import { Session } from '@skep/sql';
import { expect, it } from 'vitest';
import { freshHome, rows, run } from './harness.js';

it('whoever hears at its commit that it was aborted long ago leaves no files', async () => {
  const home = await freshHome({ backgroundCompaction: false });
  const session = home.newSession();
  await run(
    session,
    "create table t (a int) stored as orc tblproperties ('transactional'='true')",
    'insert into t values (1)',
  );
  const { txns } = home.services;
  const late = new Session(
    {
      ...home.services,
      txns: override(txns, {
        commitTxn: async (request) => {
          // As by a time-out before it wrote: the Cleaner found nothing, and the abort is forgotten.
          await txns.abortTxns({ txnIds: [request.txnId], reasonCode: 50004, abortedBy: 'test' });
          return await txns.commitTxn(request);
        },
      }),
    },
    home.conf.fork(),
  );
  await expect(run(late, 'insert into t values (2)')).rejects.toMatchObject({ code: 'TXN_ABORTED' });
  expect(readdirSync(join(home.warehouse, 't'))).toHaveLength(1);
  expect(await rows(session, 'select * from t')).toEqual(['1']);
  await late.close();
  await home.close();
});
