import { chownSync, statSync } from 'node:fs';
import { CompactionState } from '@skep/rpc';
import { afterEach, describe, expect, it } from 'vitest';
import { MAJOR, World } from '../test/world.js';
import { Worker } from './worker.js';

/** Ids of a user of the machine that every Debian has: `nobody` (65534), with a group of its own choice. */
const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;
let w: World;
afterEach(() => w.close());

async function table(conf = {}): Promise<void> {
  w = await World.open({ conf });
  await w.createTable();
  await w.insert([[1, 'a']]);
  await w.insert([[2, 'b']]);
}

const path = (name: string) => `${w.location().slice('file:'.length)}/${name}`;
const newest = () => w.ls().filter((name) => name.startsWith('base_'))[0];

describe.skipIf(!isRoot)('as root, a compaction is done for', () => {
  it('the owner of the folder, to whom its files belong', async () => {
    await table();
    chownSync(w.location().slice('file:'.length), NOBODY, 1234);
    await w.compact(MAJOR);
    await w.worker();
    expect(await w.states()).toEqual(['1 ready for cleaning']);
    for (const name of [newest(), `${newest()}/bucket_00000`]) {
      expect(statSync(path(name))).toMatchObject({ uid: NOBODY, gid: 1234 });
    }
  });

  it('hive.compactor.run.as.user', async () => {
    await table({ runAsUser: 'nobody' });
    await w.compact(MAJOR);
    await w.worker();
    expect(statSync(path(newest())).uid).toBe(NOBODY);
  });

  it('nobody that the machine does not know: it fails, and says so', async () => {
    await table({ runAsUser: 'no-such-user' });
    await w.compact(MAJOR);
    await w.worker();
    const [job] = (await w.compactions.showCompactions({ limit: 0n })).compactions;
    expect(job).toMatchObject({
      state: CompactionState.COMPACTION_STATE_FAILED,
      errorMessage: "this machine knows no user 'no-such-user'",
    });
    expect(newest()).toBeUndefined();
  });
});

it('names whom it is done for in transaction and lock', async () => {
  await table({ runAsUser: 'nobody' });
  await w.compact(MAJOR);
  const users: string[] = [];
  const txns = Object.create(w.txns, {
    openTxns: {
      value: (request: Parameters<typeof w.txns.openTxns>[0]) => {
        users.push(request.user);
        return w.txns.openTxns(request);
      },
    },
  });
  const locks = Object.create(w.locks, {
    lock: {
      value: (request: Parameters<typeof w.locks.lock>[0]) => {
        users.push(request.user);
        return w.locks.lock(request);
      },
    },
  });
  await new Worker(w.with({ txns, locks }), 'here-1').runOnce();
  expect(users).toEqual(['nobody', 'nobody']);
});
