import { HousekeepingTask, NoSuchTxnError } from '@skep/rpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BINDINGS, commit, count, open, type Services, writeIdOf } from '../test/services.js';

const forget = (s: Services) =>
  s.txns.runHousekeeping({ abortDeadHolders: false, task: HousekeepingTask.HOUSEKEEPING_TASK_FORGET_TXNS });

for (const [name, start] of BINDINGS) {
  describe(`A commit whose answer got lost, ${name}`, () => {
    let s: Services;
    beforeEach(async () => {
      s = await start();
    });
    afterEach(() => s.close());

    it('answers again after the housekeeper came by, and is forgotten when nobody asks any more (test/sim, seed 28)', async () => {
      const txnId = await open(s.txns);
      await writeIdOf(s.txns, txnId);
      const first = await commit(s.txns, txnId);
      await open(s.txns);
      s.clock.advance(60_000);
      await open(s.txns);
      await forget(s);
      expect((await commit(s.txns, txnId)).commitId).toBeGreaterThanOrEqual(first.commitId);
      s.clock.advance(121_000);
      await open(s.txns);
      const before = await count(s.db, 'TXNS');
      s.clock.advance(2000);
      await forget(s);
      expect(await count(s.db, 'TXNS')).toBeLessThan(before);
      await expect(commit(s.txns, txnId)).rejects.toThrow(NoSuchTxnError);
    });
  });
}
