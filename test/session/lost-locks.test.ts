import { SkepError } from '@skep/core';
import { override } from '@skep/core/testing';
import { LockComponent, LockLevel, LockType } from '@skep/rpc';
import { type Services, Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";
class BrokenWireError extends SkepError {}
const broken = () => Promise.reject(new BrokenWireError('UNREACHABLE', 'unavailable', 'the wire is cut'));

/** What services and holders of locks do when one of them is not heard of (shared/reference/bug-reports.md). */
describe('bug reports: locks and heartbeats', () => {
  let home: Home;
  let other: Session;
  beforeEach(async () => {
    home = await freshHome({ hiveconf: { 'hive.txn.timeout': '2s' } });
    other = home.newSession();
    await run(other, `create table t (a int) ${acid}`, 'insert into t values (1)');
  });
  afterEach(async () => {
    await home.close();
  });
  const sessionWith = (changes: Partial<Services>) => new Session({ ...home.services, ...changes }, home.conf.fork());
  const housekeeping = () => home.services.txns.runHousekeeping({ abortDeadHolders: false });

  /** Services of a holder whose write ids take `ms` to come, and whose heartbeats go through `heartbeat`. */
  const slowHolder = (ms: number, heartbeatTxns: Services['txns']['heartbeatTxns']) => ({
    txns: override(home.services.txns, {
      heartbeatTxns,
      allocateTableWriteIds: async (request) => {
        await home.services.clock.sleep(ms);
        return await home.services.txns.allocateTableWriteIds(request);
      },
    }),
  });

  it('B74 one failed heartbeat is tried again, and the holder keeps its lock', async () => {
    let beats = 0;
    const session = sessionWith(
      slowHolder(3400, async (request) => {
        if (beats++ === 0) return await broken();
        return await home.services.txns.heartbeatTxns(request);
      }),
    );
    const updating = run(session, 'update t set a = a + 10');
    await home.services.clock.sleep(2600);
    await housekeeping();
    await updating;
    expect(beats).toBeGreaterThan(1);
    expect(await rows(other, 'select a from t')).toEqual(['11']);
    await session.close();
  });

  it('B74 a holder that was given up does not overwrite who came after it', async () => {
    const session = sessionWith(slowHolder(3400, broken));
    const updating = run(session, 'update t set a = a + 10').catch((error: unknown) => error);
    await home.services.clock.sleep(2600);
    await housekeeping();
    await run(other, 'update t set a = a + 100');
    const error = await updating;
    expect(error).toBeInstanceOf(SkepError);
    expect(String(error)).toMatch(/txnid:\d+|transaction \d+/i);
    expect(await rows(other, 'select a from t')).toEqual(['101']);
    expect(await rows(other, 'show locks')).toHaveLength(1);
    await session.close();
  });

  it('B76 an error while waiting for a lock takes the request back', async () => {
    const holder = await home.services.txns.openTxns({ count: 1, ...home.services.identity, type: 0 });
    await home.services.locks.lock({
      components: [
        LockComponent.fromPartial({
          type: LockType.LOCK_TYPE_EXCLUSIVE,
          level: LockLevel.LOCK_LEVEL_TABLE,
          database: 'default',
          table: 't',
        }),
      ],
      txnId: holder.txnIds[0],
      user: 'u',
      host: 'h',
      agentInfo: '',
      zeroWaitRead: false,
      exclusiveCtas: false,
    });
    const session = sessionWith({ locks: override(home.services.locks, { checkLock: broken }) });
    await expect(run(session, 'update t set a = 2')).rejects.toThrow('the wire is cut');
    expect(await rows(other, 'show locks')).toHaveLength(2);
    await home.services.txns.abortTxns({ txnIds: [holder.txnIds[0]], reasonCode: 50005 });
    await run(other, 'update t set a = 3');
    expect(await rows(other, 'select a from t')).toEqual(['3']);
    await session.close();
  });
});
