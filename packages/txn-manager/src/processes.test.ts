import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@skep/core';
import { hasMariadb, TestDatabase } from '@skep/metadb/testing';
import { LockState, LockType, TxnState } from '@skep/rpc';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { component, count, inProcess, lockRequest, open } from '../test/services.js';
import { isHolderAlive } from './index.js';

/** Several processes on one database. They run a bundle of the sources, as plain Node cannot run TypeScript. */

const here = dirname(fileURLToPath(import.meta.url));
// Inside the repository, so that the native module is found.
const bundle = join(here, `../../../node_modules/.cache/skep-txn-manager/race-worker-${process.pid}.mjs`);

let folder: string;
let url: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  await build({
    entryPoints: [join(here, '../test/race-worker.ts')],
    outfile: bundle,
    bundle: true,
    format: 'esm',
    platform: 'node',
    conditions: ['source'],
    external: ['better-sqlite3', 'mysql2', '@grpc/grpc-js'],
  });
});
afterAll(() => rmSync(bundle, { force: true }));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skep-race-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

interface Worker {
  readonly child: ChildProcess;
  readonly lines: Record<string, unknown>[];
  readonly done: Promise<number | null>;
  stderr: string;
}

function start(...args: string[]): Worker {
  const child = spawn(process.execPath, [bundle, url, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let rest = '';
  const worker: Worker = {
    child,
    lines: [],
    stderr: '',
    done: new Promise((resolve) => child.on('close', resolve)),
  };
  child.stdout?.on('data', (chunk) => {
    const parts = (rest + String(chunk)).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) worker.lines.push(JSON.parse(part));
  });
  child.stderr?.on('data', (chunk) => {
    worker.stderr += String(chunk);
  });
  return worker;
}

async function finish(workers: readonly Worker[]): Promise<Record<string, unknown>[]> {
  for (const worker of workers) expect([await worker.done, worker.stderr]).toEqual([0, '']);
  return workers.flatMap((worker) => worker.lines);
}

async function until(what: () => boolean): Promise<void> {
  for (let i = 0; i < 3000 && !what(); i++) await systemClock.sleep(10);
  expect(what()).toBe(true);
}

const DATABASES: readonly (readonly [string, () => Promise<string>])[] = [
  ['SQLite file', async () => `sqlite:${join(folder, 'm.db')}`],
  // Empty: the processes make its tables.
  ...(hasMariadb ? [['MariaDB', async () => (await TestDatabase.create()).url] as const] : []),
];

describe.each(DATABASES)('processes on one %s', (kind, makeUrl) => {
  beforeEach(async () => {
    url = await makeUrl();
  });

  it('create it together, and of overlapping updates exactly the first committer wins', async () => {
    const lines = await finish([start('conflict', '60'), start('conflict', '60'), start('conflict', '60')]);
    expect(lines).toHaveLength(180);
    const txnIds = lines.map((line) => Number(line.txnId)).sort((a, b) => a - b);
    // A transaction of MariaDB that starts over leaves a gap in the ids it numbers; in write ids there is none.
    expect(new Set(txnIds).size).toBe(180);
    const numbers = Array.from({ length: 180 }, (_, i) => i + 1);
    if (kind !== 'MariaDB') expect(txnIds).toEqual(numbers);
    expect(lines.map((line) => Number(line.writeId)).sort((a, b) => a - b)).toEqual(numbers);
    const committed = lines.filter((line) => line.error === undefined).map((line) => [line.txnId, line.commitId]);
    for (const line of lines) expect([undefined, 'TXN_CONFLICT']).toContain(line.error);
    // Committed intervals [txnId, commitId] never overlap.
    committed.sort((a, b) => Number(a[0]) - Number(b[0]));
    for (let i = 1; i < committed.length; i++)
      expect(Number(committed[i - 1][1])).toBeLessThan(Number(committed[i][0]));
    expect(committed.length).toBeGreaterThan(0);
  });

  it('hold an exclusive lock one at a time, in the order of requests, and leave none', async () => {
    const lines = await finish([start('lock', '25'), start('lock', '25')]);
    expect(lines).toHaveLength(50);
    lines.sort((a, b) => Number(a.lockId) - Number(b.lockId));
    for (let i = 1; i < lines.length; i++) {
      expect(BigInt(String(lines[i - 1].toNs))).toBeLessThan(BigInt(String(lines[i].fromNs)));
    }
    const s = await inProcess({ url, clock: systemClock });
    expect(await count(s.db, 'HIVE_LOCKS')).toBe(0);
    expect(await count(s.db, 'TXN_COMPONENTS')).toBe(0);
    await s.close();
  });

  it('killed with a lock in hand: the next to ask has it at once', async () => {
    const holder = start('hold');
    await until(() => holder.lines.length > 0);
    const s = await inProcess({ url, clock: systemClock, isAlive: isHolderAlive });
    const txn = await open(s.txns);
    const request = lockRequest(txn, [component(LockType.LOCK_TYPE_SHARED_READ)]);
    const first = await s.locks.lock(request);
    expect(first.state).toBe(LockState.LOCK_STATE_WAITING);
    holder.child.kill('SIGKILL');
    await holder.done;
    expect((await s.locks.checkLock({ lockId: first.lockId })).state).toBe(LockState.LOCK_STATE_ACQUIRED);
    const { states } = await s.txns.getTxnStates({ txnIds: [BigInt(Number(holder.lines[0].txnId))] });
    expect(states).toEqual([TxnState.TXN_STATE_ABORTED]);
    await s.close();
  });

  it('killed at any moment leave a database in which all goes on', async () => {
    for (let round = 0; round < 6; round++) {
      const worker = start('conflict', '100000');
      await until(() => worker.lines.length > 5 * round);
      worker.child.kill('SIGKILL');
      await worker.done;
    }
    const s = await inProcess({ url, clock: systemClock, isAlive: () => false });
    const before = await s.db.read((tx) => tx.column<bigint>("SELECT TXN_ID FROM TXNS WHERE TXN_STATE = 'o'"));
    expect(before.length).toBeLessThanOrEqual(6);
    // What was committed is recorded as a whole: every committed update has its row of WRITE_SET and its component.
    const torn = await s.db.read((tx) =>
      tx.all(
        `SELECT TXN_ID FROM TXNS WHERE TXN_STATE = 'c' AND TXN_ID > 0 AND (
          NOT EXISTS (SELECT 1 FROM WRITE_SET WHERE WS_TXNID = TXN_ID)
          OR NOT EXISTS (SELECT 1 FROM COMPLETED_TXN_COMPONENTS WHERE CTC_TXNID = TXN_ID)
          OR EXISTS (SELECT 1 FROM TXN_COMPONENTS WHERE TC_TXNID = TXN_ID))`,
      ),
    );
    expect(torn).toEqual([]);
    if (kind !== 'MariaDB') {
      expect(await s.db.read((tx) => tx.all('PRAGMA integrity_check'))).toEqual([{ integrity_check: 'ok' }]);
    }
    await s.close();
  });
});
