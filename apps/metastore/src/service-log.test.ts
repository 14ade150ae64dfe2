import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Configuration } from '@skep/config';
import { ManualClock } from '@skep/core';
import { CompactionState, CompactionType, LockComponent, LockLevel, LockState, LockType, TxnType } from '@skep/rpc';
import { createLogger } from '@skep/telemetry/log';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepHouse } from './housekeeping.js';
import { type OpenedServices, openServices } from './open-services.js';

/** What the services that live here say of what is done with them. */
let folder: string;
let clock: ManualClock;
let services: OpenedServices;
let lines: Record<string, unknown>[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'skep-log-'));
  clock = new ManualClock(Date.UTC(2030, 0, 1));
  lines = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  services = await openServices({
    dbUrl: `sqlite:${folder}/m.db`,
    conf: new Configuration(),
    newWarehouse: `file://${folder}/warehouse`,
    user: 'u',
    version: 'test',
    clock,
    log: createLogger({ level: 'debug', now: () => clock.now(), write }),
  });
});
afterEach(async () => {
  await services.close();
  rmSync(folder, { recursive: true, force: true });
});

const said = (message: string) => lines.filter((line) => line.message === message);

async function open(agentInfo = '', user = 'ann'): Promise<bigint> {
  const host = services.compactorServices.host;
  const type = TxnType.TXN_TYPE_DEFAULT;
  return (await services.txns.openTxns({ count: 1, user, host, agentInfo, type })).txnIds[0];
}

const lock = (txnId: bigint, user = 'ann') =>
  services.locks.lock({
    components: [
      LockComponent.fromPartial({
        type: LockType.LOCK_TYPE_EXCLUSIVE,
        level: LockLevel.LOCK_LEVEL_TABLE,
        database: 'default',
        table: 't',
      }),
    ],
    txnId,
    user,
    host: 'h',
    agentInfo: 'query-1',
    zeroWaitRead: false,
    exclusiveCtas: false,
  });

it('a lock that waits: for whom, since when, and how long it took', async () => {
  const [a, b] = [await open(), await open('', 'bob')];
  const held = await lock(a);
  clock.advance(4000);
  const waits = await lock(b, 'bob');
  expect(waits.state).toBe(LockState.LOCK_STATE_WAITING);
  expect(said('lock waits')).toEqual([
    expect.objectContaining({
      level: 'info',
      lockId: String(waits.lockId),
      txnId: String(b),
      user: 'bob',
      table: 'default.t',
      blockedBy: expect.objectContaining({
        lockId: String(held.lockId),
        txnId: String(a),
        user: 'ann',
        since: '2030-01-01T00:00:00.000Z',
      }),
    }),
  ]);
  await services.locks.checkLock({ lockId: waits.lockId });
  expect(said('lock still waits')).toHaveLength(1);
  clock.advance(2500);
  await services.txns.abortTxns({ txnIds: [a], reasonCode: 50001, abortedBy: 'the boss' });
  await services.locks.checkLock({ lockId: waits.lockId });
  expect(said('transaction aborted')).toEqual([
    expect.objectContaining({ txnId: String(a), reason: 'abort by query command', by: 'the boss' }),
  ]);
  expect(said('lock granted after a wait')).toEqual([
    expect.objectContaining({ lockId: String(waits.lockId), txnId: String(b), waitedMs: 2500 }),
  ]);
});

it('transactions that time out, or whose process is gone, and locks that nobody keeps alive', async () => {
  const silent = await open();
  const loose = await lock(0n);
  clock.advance(301_000);
  const orphan = await open('skep:999999999:1');
  await keepHouse(services.compactorServices);
  expect(said('transaction aborted: no heartbeat')).toEqual([
    expect.objectContaining({ level: 'warn', txnId: String(silent) }),
  ]);
  expect(said('transaction aborted: its process is gone')).toEqual([
    expect.objectContaining({ level: 'warn', txnId: String(orphan) }),
  ]);
  expect(said('lock removed: nobody keeps it alive')).toEqual([
    expect.objectContaining({ lockId: String(loose.lockId) }),
  ]);
});

it('compactions: requested, refused, taken, given back, failed', async () => {
  const request = {
    database: 'default',
    table: 't',
    type: CompactionType.COMPACTION_TYPE_MAJOR,
    runAs: '',
    properties: {},
    initiatorId: 'here-1',
    initiatorVersion: '',
    poolName: '',
    orderBy: '',
  };
  const { id } = await services.compactions.compact(request);
  await services.compactions.compact(request);
  await services.compactions.findNextCompact({ workerId: 'h-1', workerVersion: '', poolName: '' });
  await services.compactions.revokeWorkers({ host: 'h', aliveWorkerIds: [], olderThanMs: 0n });
  const state = CompactionState.COMPACTION_STATE_FAILED;
  await services.compactions.finishCompaction({ id, state, errorMessage: 'no disk' });
  const compactionId = String(id);
  expect(said('compaction requested')).toEqual([expect.objectContaining({ compactionId, table: 'default.t' })]);
  expect(said('compaction request refused')).toEqual([
    expect.objectContaining({ errorMessage: expect.stringContaining('already scheduled') }),
  ]);
  expect(said('compaction given to a Worker')).toEqual([expect.objectContaining({ compactionId, worker: 'h-1' })]);
  expect(said('compaction taken from its Worker: it waits again')).toEqual([expect.objectContaining({ compactionId })]);
  expect(said('compaction failed')).toEqual([expect.objectContaining({ compactionId, reason: 'no disk' })]);
});
