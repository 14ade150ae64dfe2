import { systemClock } from '@skep/core';
import { override } from '@skep/core/testing';
import {
  CompactionState,
  DataOperation,
  LockComponent,
  LockLevel,
  LockType,
  TxnAbortedError,
  TxnType,
  UnreachableError,
} from '@skep/rpc';
import { StorageError } from '@skep/storage';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A_WHILE_MS, MAJOR, World } from '../test/world.js';
import { recoverAbandoned } from './abandoned.js';
import { Worker } from './worker.js';

/** What goes wrong in the middle: nothing is lost, nothing half done is seen, nothing is left for good. */

let w: World;
let alive = true;
const DEAD = 'skep:4711:1';
beforeEach(async () => {
  alive = true;
  w = await World.open({ isAlive: (agentInfo) => alive || agentInfo !== DEAD });
  await w.createTable();
  for (const a of [1, 2, 3]) await w.insert([[a, 'x']]);
  await w.compact(MAJOR);
});
afterEach(() => w.close());

const deltas = ['delta_0000001_0000001_0000', 'delta_0000002_0000002_0000', 'delta_0000003_0000003_0000'];
const rows = ['1|x', '2|x', '3|x'];

/** The table is whole, and the next Worker and Cleaner make it one base. */
async function expectRecovered(): Promise<void> {
  expect(await w.rows()).toEqual(rows);
  expect(await w.worker()).toBe(true);
  w.advance(A_WHILE_MS);
  await w.cleaner();
  expect(w.ls()).toEqual([expect.stringMatching(/^base_0000003_v/)]);
  expect(await w.rows()).toEqual(rows);
  expect(await w.count('TXN_COMPONENTS')).toBe(0);
  await w.age();
  expect((await w.txns.showTxns({})).txns).toEqual([]);
  expect(await w.rows()).toEqual(rows);
}

/** A file system whose n-th file from now cannot be made, after something was written to others. */
function failingAt(n: number, error: () => Error) {
  let made = 0;
  return override(w.fs, {
    create: async (path) => {
      if (++made === n) throw error();
      return await w.fs.create(path);
    },
  });
}

describe('a compaction that fails', () => {
  it.each([1, 2])('at its file %i leaves nothing behind', async (n) => {
    const fs = failingAt(n, () => new StorageError('NO_SPACE', 'unavailable', 'create', '/t', 'full'));
    expect(await w.worker(w.with({ fs }))).toBe(true);
    expect(w.ls()).toEqual(deltas);
    const [job] = await w.show();
    expect(job).toMatchObject({ state: CompactionState.COMPACTION_STATE_FAILED, workerId: 'here-1' });
    expect(job.errorMessage).toMatch(/full/);
    expect(job.endMs).toBeGreaterThan(0n);
    expect((await w.txns.showTxns({})).txns.map((txn) => txn.metaInfo)).toEqual(['compaction transaction abort']);
    expect((await w.locks.showLocks({ extended: false })).locks).toEqual([]);
    await w.compact(MAJOR);
    await expectRecovered();
  });

  it('and whose kernel cannot clean up either is cleaned up with its transaction', async () => {
    let isBroken = true;
    const fs = override(
      failingAt(2, () => new RangeError('broken')),
      {
        delete: async (path, options) => {
          if (isBroken && !options?.recursive) throw new RangeError('cannot delete');
          return await w.fs.delete(path, options);
        },
      },
    );
    await w.worker(w.with({ fs }));
    isBroken = false;
    expect(w.ls()).toEqual(deltas);
    await w.compact(MAJOR);
    await expectRecovered();
  });

  it('and cannot be undone is undone later', async () => {
    const fs = override(
      failingAt(2, () => new RangeError('broken')),
      {
        delete: async () => {
          throw new RangeError('cannot delete');
        },
      },
    );
    await w.worker(w.with({ fs }));
    expect(w.ls()).toHaveLength(4);
    expect(w.logged.join()).toMatch(/cannot undo compaction 1/);
    await w.compact(MAJOR);
    await expectRecovered();
  });

  it('because a lock is held fails at once', async () => {
    const txnId = await w.open();
    const component = LockComponent.fromPartial({
      type: LockType.LOCK_TYPE_EXCLUSIVE,
      level: LockLevel.LOCK_LEVEL_TABLE,
      database: 'default',
      table: 't',
      operation: DataOperation.DATA_OPERATION_NO_TXN,
    });
    const request = { components: [component], txnId, user: 'u', host: 'here', agentInfo: '' };
    await w.locks.lock({ ...request, zeroWaitRead: false, exclusiveCtas: false });
    await w.worker();
    expect((await w.show())[0].errorMessage).toMatch(/lock on default\.t is not free/);
    expect((await w.locks.showLocks({ extended: false })).locks).toHaveLength(1);
    await w.end(txnId);
    await w.compact(MAJOR);
    await expectRecovered();
  });
});

describe('a lost answer', () => {
  const lost = () => new StorageError('UNREACHABLE', 'unavailable', 'call', 'metastore', 'connection reset');

  it('of a commit that went through keeps the result', async () => {
    let isFirst = true;
    const txns = override(w.txns, {
      commitTxn: async (request) => {
        const answer = await w.txns.commitTxn(request);
        if (!isFirst) return answer;
        isFirst = false;
        throw lost();
      },
    });
    await w.worker(w.with({ txns }));
    expect(await w.states()).toEqual(['1 ready for cleaning']);
    await w.cleaner();
    expect(w.ls()).toEqual([expect.stringMatching(/^base_0000003_v/)]);
    expect(await w.rows()).toEqual(rows);
  });

  it('of a commit that did not go through takes it back', async () => {
    const txns = override(w.txns, {
      commitTxn: async () => {
        throw lost();
      },
    });
    await expect(w.worker(w.with({ txns }))).rejects.toThrow(/connection reset/);
    expect(w.ls()).toEqual(deltas);
    // Not the request's fault: it waits again, and says why.
    expect(await w.states()).toEqual(['1 initiated']);
    expect((await w.show())[0].errorMessage).toMatch(/^given up by here-\d+: .*connection reset/);
    await expectRecovered();
    expect((await w.show())[0].errorMessage).toBe('');
  });

  it('of a table that cannot be looked up waits for the metastore, but not for ever for what is broken', async () => {
    const catalog = (error: Error) =>
      w.with({
        catalog: override(w.services.catalog, {
          getTable: async () => {
            throw error;
          },
        }),
      });
    const gone = new UnreachableError('there:1', 'there:1 cannot be reached');
    await expect(w.worker(catalog(gone))).rejects.toThrow(/cannot be reached/);
    expect(await w.states()).toEqual(['1 initiated']);
    await w.worker(catalog(new RangeError('no such field')));
    expect(await w.states()).toEqual(['1 failed']);
    expect((await w.show())[0].errorMessage).toBe('no such field');
  });

  it('about everything touches nothing', async () => {
    const fail = async () => {
      throw lost();
    };
    const txns = override(w.txns, {
      commitTxn: async (request) => {
        await w.txns.commitTxn(request);
        throw lost();
      },
      abortTxns: fail,
      getTxnStates: fail,
    });
    await expect(w.worker(w.with({ txns }))).rejects.toThrow(/connection reset/);
    expect(w.ls()).toHaveLength(4);
    await expectRecovered();
  });

  it('of the queue after the commit never costs the result', async () => {
    let isDown = true;
    const compactions = override(w.compactions, {
      markCompacted: async (request) => {
        if (isDown) throw lost();
        return await w.compactions.markCompacted(request);
      },
    });
    const worker = new Worker(w.with({ compactions }), 'here-1');
    await expect(worker.runOnce()).rejects.toThrow(/connection reset/);
    await expect(worker.runOnce()).rejects.toThrow(/connection reset/);
    expect(await w.states()).toEqual(['1 working']);
    expect(w.ls()).toHaveLength(4);
    isDown = false;
    expect(await worker.runOnce()).toBe(false);
    expect(await w.states()).toEqual(['1 ready for cleaning']);
    await w.cleaner();
    expect(await w.rows()).toEqual(rows);
    expect(w.ls()).toEqual([expect.stringMatching(/^base_0000003_v/)]);
  });

  it('of the first call gives the request back', async () => {
    const txns = override(w.txns, {
      openTxns: async () => {
        throw lost();
      },
    });
    await expect(w.worker(w.with({ txns }))).rejects.toThrow(/connection reset/);
    expect(await w.states()).toEqual(['1 initiated']);
    await expectRecovered();
  });
});

describe('a transaction aborted under the Worker', () => {
  it('fails the compaction and takes its folder away', async () => {
    const txns = override(w.txns, {
      commitTxn: async ({ txnId }) => {
        await w.end(txnId, 'abort');
        throw new TxnAbortedError(txnId);
      },
    });
    await w.worker(w.with({ txns }));
    expect(await w.states()).toEqual(['1 failed']);
    expect(w.ls()).toEqual(deltas);
    await w.compact(MAJOR);
    await expectRecovered();
  });

  it('whose request another Worker has by now leaves that one alone', async () => {
    const txns = override(w.txns, {
      commitTxn: async ({ txnId }) => {
        await w.end(txnId, 'abort');
        expect(await recoverAbandoned(w.services)).toEqual([1n]);
        w.advance(10);
        const taken = await w.compactions.findNextCompact({ workerId: 'there-1', workerVersion: '', poolName: '' });
        expect(taken.job?.id).toBe(1n);
        throw new TxnAbortedError(txnId);
      },
    });
    await w.worker(w.with({ txns }));
    expect(w.ls()).toEqual(deltas);
    expect((await w.show())[0]).toMatchObject({
      state: CompactionState.COMPACTION_STATE_WORKING,
      workerId: 'there-1',
    });
    expect(w.logged.join()).toMatch(/no longer with here-1/);
  });
});

describe('a Worker that is killed', () => {
  /** It has taken the request, written half a base, and is gone. */
  async function die(): Promise<void> {
    await w.compactions.findNextCompact({ workerId: 'here-4711', workerVersion: '', poolName: '' });
    const txnId = await w.open(TxnType.TXN_TYPE_COMPACTION, DEAD);
    await w.compactions.updateCompactorState({ id: 1n, txnId, highestWriteId: 3n });
    const resource = { database: 'default', table: 't' };
    const operation = DataOperation.DATA_OPERATION_COMPACT;
    const components = [{ resource, operation, isDynamicPartitionWrite: false, writeId: 3n }];
    await w.txns.addWriteComponents({ txnId, components });
    const sink = await w.fs.create(`${w.location()}/base_0000003_v000000${txnId}/bucket_00000`);
    await sink.write(new Uint8Array([79, 82, 67]));
    await sink.close();
    alive = false;
  }

  it('on this host is noticed at once', async () => {
    await die();
    expect(await w.rows()).toEqual(rows);
    expect(await w.worker()).toBe(false);
    expect((await w.txns.runHousekeeping({ abortDeadHolders: true })).deadHolderTxnIds).toHaveLength(1);
    const revoked = await w.compactions.revokeWorkers({ host: 'here', aliveWorkerIds: [], olderThanMs: 0n });
    expect(revoked.ids).toEqual([1n]);
    await expectRecovered();
  });

  it('on another host is noticed when its transaction times out', async () => {
    await die();
    // Nobody here can tell.
    alive = true;
    expect(await recoverAbandoned(w.services)).toEqual([]);
    w.advance(300_001);
    await w.txns.runHousekeeping({ abortDeadHolders: false });
    await w.initiator();
    expect(await w.states()).toEqual(['1 initiated']);
    await expectRecovered();
  });

  it('after its commit is only missed by the queue', async () => {
    const compactions = override(w.compactions, {
      markCompacted: () => new Promise(() => {}),
    });
    void w.worker(w.with({ compactions }));
    for (let i = 0; i < 500 && (w.ls().length === 3 || (await w.txns.showTxns({})).txns.length > 0); i++) {
      await systemClock.sleep(10);
    }
    expect(await w.rows()).toEqual(rows);
    await w.compactions.revokeWorkers({ host: 'here', aliveWorkerIds: [], olderThanMs: 0n });
    await expectRecovered();
  });
});

describe('stop', () => {
  it('gives a running compaction up: the folder goes, the request waits', async () => {
    const stop = new AbortController();
    const fs = override(w.fs, {
      create: async (path) => {
        stop.abort();
        return await w.fs.create(path);
      },
    });
    const { writeId } = await w.insert(Array.from({ length: 20_000 }, (_, a) => [a + 10, 'y'] as const));
    await new Worker(w.with({ fs }), 'here-1').runOnce(stop.signal);
    expect(w.ls().filter((name) => name.startsWith('base'))).toEqual([]);
    expect(await w.states()).toEqual(['1 initiated']);
    expect(w.logged).toEqual([]);
    expect(await w.worker()).toBe(true);
    await w.cleaner();
    expect(w.ls()).toEqual([expect.stringMatching(new RegExp(`^base_000000${writeId}_v`))]);
    expect(await w.rows()).toHaveLength(20_003);
    expect(await w.count('TXN_COMPONENTS')).toBe(0);
  });

  it('takes no new request', async () => {
    expect(await new Worker(w.services, 'here-1').runOnce(AbortSignal.abort())).toBe(false);
    expect(await w.states()).toEqual(['1 initiated']);
  });
});
