import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { systemClock } from '@skep/core';
import { afterAll, describe, expect, it } from 'vitest';
import { ANSWER, serving } from '../test/serving.js';
import { wireCalls } from '../test/wire-calls.js';
import {
  CheckLockRequest,
  currentCall,
  LockRequest,
  LockResponse,
  NoSuchLockError,
  type ServeOptions,
} from './index.js';

const PATIENT = { timeout: 10_000 };
const sleep = (ms: number) => systemClock.sleep(ms);
const CHECK = 'skep.v1.LockService/CheckLock';
const LOCK = 'skep.v1.LockService/Lock';

const checkOf = (lockId: bigint) => CheckLockRequest.encode({ lockId }).finish();
const check = (number: number, more: object = {}) => ({
  number,
  method: CHECK,
  request: checkOf(BigInt(number)),
  ...more,
});
const lockIdOf = (response: Uint8Array) => LockResponse.decode(response).lockId;

/** Answers calls in the order of `release`. */
function held() {
  const waiting = new Map<bigint, () => void>();
  const ended: [bigint, string][] = [];
  return {
    waiting,
    ended,
    release: (lockId: bigint) => waiting.get(lockId)?.(),
    async checkLock({ lockId }: CheckLockRequest) {
      const signal = currentCall()?.signal;
      await new Promise<void>((resolve) => {
        waiting.set(lockId, resolve);
        signal?.addEventListener('abort', () => {
          ended.push([lockId, (signal.reason as { code: string }).code]);
          resolve();
        });
      });
      return { ...ANSWER, lockId };
    },
  };
}

describe('calls on one stream', () => {
  it('are answered as they become ready', async () => {
    const { checkLock, waiting, release } = held();
    const { server } = await serving({ checkLock });
    const { send, replies, stream, ended } = wireCalls(server.address);
    send(check(1), check(2), check(3));
    await expect.poll(() => waiting.size, PATIENT).toBe(3);
    for (const [i, lockId] of [2n, 3n, 1n].entries()) {
      release(lockId);
      await expect.poll(() => replies.length, PATIENT).toBe(i + 1);
    }
    expect(replies.map(({ number, response }) => [number, lockIdOf(response)])).toEqual([
      [2, 2n],
      [3, 3n],
      [1, 1n],
    ]);
    stream.end();
    expect((await ended).code).toBe(grpc.status.OK);
  });

  it('are answered before the stream ends behind its client', async () => {
    const { checkLock, waiting, release } = held();
    const { server } = await serving({ checkLock });
    const { send, replies, stream, ended } = wireCalls(server.address);
    send(check(1));
    stream.end();
    await expect.poll(() => waiting.size, PATIENT).toBe(1);
    release(1n);
    expect((await ended).code).toBe(grpc.status.OK);
    expect(replies).toHaveLength(1);
  });

  it('fail with the typed error, or with gRPC’s own status', async () => {
    const { server } = await serving({
      checkLock: async () => {
        throw new NoSuchLockError(7n);
      },
    });
    const { send, replies } = wireCalls(server.address);
    const request = new Uint8Array(0);
    send(
      check(1, { requestId: 'r-1' }),
      { number: 2, method: 'skep.v1.LockService/Nothing', request },
      { number: 3, method: 'skep.v1.CallService/Calls', request },
      { number: 4, method: 'grpc.health.v1.Health/Check', request },
      { number: 5, method: CHECK, request: Uint8Array.of(255) },
      check(6, { depth: 9 }),
    );
    await expect.poll(() => replies.length, PATIENT).toBe(6);
    const byNumber = replies.sort((a, b) => a.number - b.number);
    expect(byNumber[0]).toMatchObject({
      code: grpc.status.NOT_FOUND,
      error: { code: 'NO_SUCH_LOCK', lockId: 7n, requestId: 'r-1', notBegun: false },
    });
    for (const { code, error } of byNumber.slice(1, 4))
      expect([code, error]).toEqual([grpc.status.UNIMPLEMENTED, undefined]);
    expect(byNumber[4]).toMatchObject({ code: grpc.status.INTERNAL, message: 'Error deserializing request' });
    expect(byNumber[5]).toMatchObject({
      code: grpc.status.INVALID_ARGUMENT,
      message: 'x-skep-depth must be a whole number from 0 to 3',
    });
  });

  it('end at their deadline, and when they are given up', async () => {
    const { checkLock, waiting, ended, release } = held();
    const { server } = await serving({ checkLock });
    const { send, cancel, replies } = wireCalls(server.address);
    send(check(1, { timeoutMs: 100 }), check(2), check(3, { timeoutMs: 60_000 }));
    await expect.poll(() => replies.length, PATIENT).toBe(1);
    expect(replies[0]).toMatchObject({ number: 1, code: grpc.status.DEADLINE_EXCEEDED, error: { code: 'DEADLINE' } });
    cancel(2, 99);
    await expect
      .poll(() => ended, PATIENT)
      .toEqual([
        [1n, 'DEADLINE'],
        [2n, 'CANCELLED'],
      ]);
    expect(waiting.size).toBe(3);
    release(3n);
    await expect.poll(() => replies.at(-1)?.number, PATIENT).toBe(3);
  });

  it('end with a stream whose client is gone', async () => {
    const { checkLock, waiting, ended } = held();
    const { server } = await serving({ checkLock });
    const { send, stream } = wireCalls(server.address);
    send(check(1), check(2));
    await expect.poll(() => waiting.size, PATIENT).toBe(2);
    stream.cancel();
    await expect.poll(() => ended.map(([, code]) => code), PATIENT).toEqual(['CANCELLED', 'CANCELLED']);
  });

  it('are not read beyond what the server lets wait', async () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    let running = 0;
    const { server } = await serving(
      {
        async checkLock() {
          running++;
          await opened;
          return ANSWER;
        },
      },
      { maxConcurrentCalls: 100, maxQueuedCalls: 900, maxConcurrentStreams: 1, maxQueuedStreams: 1 },
    );
    const { send, replies } = wireCalls(server.address);
    // Each depth has room for 1,000: what is more than 4,000 would be refused, but no more than 2,002 (and a message) are read.
    const depths = (first: number) => Array.from({ length: 100 }, (_, i) => check(first + i, { depth: i % 4 }));
    for (let first = 1; first < 8000; first += 100) send(...depths(first));
    await expect.poll(() => running, PATIENT).toBe(400);
    await sleep(500);
    expect(replies).toEqual([]);
    open();
    await expect.poll(() => replies.length, PATIENT).toBe(8000);
    expect(new Set(replies.map(({ code }) => code))).toEqual(new Set([grpc.status.OK]));
  }, 30_000);

  it('do not pile up answers that nobody takes', async () => {
    let calls = 0;
    const size = 100_000;
    const { server } = await serving(
      {
        checkLock: async ({ lockId }) => {
          calls++;
          return { ...ANSWER, lockId, errorMessage: 'x'.repeat(size) };
        },
      },
      { maxStreamIdleMs: 1500 },
    );
    const { send, stream, replies, ended } = wireCalls(server.address);
    stream.pause();
    for (let i = 1; i <= 1000; i++) send(check(i));
    await sleep(800);
    // A megabyte that waits, and what was read ahead.
    expect(calls).toBeLessThan(200);
    stream.resume();
    await expect.poll(() => replies.filter(({ isPartial }) => !isPartial).length, PATIENT).toBe(1000);
    stream.pause();
    for (let i = 1; i <= 200; i++) send(check(i));
    await sleep(2500);
    stream.resume();
    expect((await ended).code).toBe(grpc.status.DEADLINE_EXCEEDED);
  }, 30_000);

  it('have large responses in parts, between which others come', async () => {
    const { server } = await serving({
      checkLock: async ({ lockId }) => ({ ...ANSWER, lockId, errorMessage: 'x'.repeat(lockId === 1n ? 300_000 : 1) }),
    });
    const { send, replies } = wireCalls(server.address);
    send(check(1), check(2));
    await expect.poll(() => replies.filter(({ isPartial }) => !isPartial).length, PATIENT).toBe(2);
    const parts = replies.filter(({ number }) => number === 1);
    expect(parts.map(({ isPartial }) => isPartial)).toEqual([...parts.slice(1).map(() => true), false]);
    expect(LockResponse.decode(Buffer.concat(parts.map(({ response }) => response))).errorMessage).toHaveLength(
      300_000,
    );
  });

  it.each([
    ['a number of 0', [{ number: 0, method: CHECK }], grpc.status.INVALID_ARGUMENT],
    ['a number twice', [check(1), check(1)], grpc.status.INVALID_ARGUMENT],
    ['a message that is too large', [check(1, { request: Buffer.alloc(70_000) })], grpc.status.RESOURCE_EXHAUSTED],
  ])('are refused as a whole with %s', async (_, calls, code) => {
    const { checkLock, ended } = held();
    const { server } = await serving({ checkLock });
    const client = wireCalls(server.address);
    client.send(check(50));
    client.send(...calls);
    expect((await client.ended).code).toBe(code);
    expect(ended).toContainEqual([50n, 'CANCELLED']);
  });

  it('that come while the server ends are not begun, and the stream says so', async () => {
    const { checkLock, waiting, release } = held();
    const { server } = await serving({ checkLock });
    const { send, replies, ended } = wireCalls(server.address);
    send(check(1));
    await expect.poll(() => waiting.size, PATIENT).toBe(1);
    const closed = server.close(5000);
    send(check(2));
    await expect
      .poll(() => replies, PATIENT)
      .toMatchObject([{ number: 2, code: grpc.status.UNAVAILABLE, error: { code: 'SHUTTING_DOWN', notBegun: true } }]);
    release(1n);
    await closed;
    expect((await ended).code).toBe(grpc.status.OK);
    expect(replies.map(({ number }) => number)).toEqual([2, 1]);
  });

  it('do not keep a server from its end when there are none', async () => {
    const { server } = await serving({});
    const { send, replies, ended } = wireCalls(server.address);
    send(check(1));
    await expect.poll(() => replies.length, PATIENT).toBe(1);
    const beganMs = systemClock.now();
    await server.close(60_000);
    expect(systemClock.now() - beganMs).toBeLessThan(5000);
    expect((await ended).code).toBe(grpc.status.OK);
  });
});

describe('who calls on a stream', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'skep-calls-'));
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));
  const tokensFile = join(scratch, 'tokens');
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  writeFileSync(tokensFile, `alice ${hash('a')}\ngate ${hash('g')}\n`);
  const proxyUsers = { 'hadoop.proxyuser.gate.hosts': '*', 'hadoop.proxyuser.gate.users': 'bob,carol' };
  const options: ServeOptions = { identity: { tokensFile, proxyUsers } };

  async function seen(headers: Record<string, string>, calls: object[]) {
    const users: string[] = [];
    const note = async () => {
      const call = currentCall();
      users.push(`${call?.caller}:${call?.user}:${call?.requestId.length}`);
      return ANSWER;
    };
    const { server } = await serving({ checkLock: note, lock: note }, options);
    const { send, replies } = wireCalls(server.address, headers);
    send(...calls);
    await expect.poll(() => replies.length, PATIENT).toBe(calls.length);
    return {
      users: users.sort(),
      codes: replies.map(({ number, error }) => `${number}:${error?.code ?? 'OK'}`).sort(),
    };
  }
  const as = (token: string, more: Record<string, string> = {}) => ({ authorization: `Bearer ${token}`, ...more });
  const lock = (number: number, user: string) => ({
    number,
    method: LOCK,
    request: LockRequest.encode(LockRequest.fromPartial({ user })).finish(),
  });

  it('is the stream’s caller, for the user of each call by the proxy-user rules', async () => {
    const calls = [check(1), check(2, { user: 'bob' }), check(3, { user: 'eve' }), lock(4, 'carol'), lock(5, 'eve')];
    expect(await seen(as('g'), calls)).toEqual({
      users: ['gate:bob:36', 'gate:carol:36', 'gate:gate:36'],
      codes: ['1:OK', '2:OK', '3:ACCESS_DENIED', '4:OK', '5:ACCESS_DENIED'],
    });
    expect(await seen(as('a'), [check(1), check(2, { user: 'bob' })])).toEqual({
      users: ['alice:alice:36'],
      codes: ['1:OK', '2:ACCESS_DENIED'],
    });
  });

  it('is nobody without a token, or with a wrong one', async () => {
    const refused = { users: [], codes: ['1:UNAUTHENTICATED', '2:UNAUTHENTICATED'] };
    expect(await seen({}, [check(1), check(2, { user: 'alice' })])).toEqual(refused);
    expect(await seen(as('x'), [check(1), check(2, { user: 'alice' })])).toEqual(refused);
  });

  it('acts for whom the stream’s metadata name, whatever a call says', async () => {
    const calls = [check(1), check(2, { user: 'bob' }), check(3, { user: 'carol' })];
    expect(await seen(as('g', { 'x-skep-user': 'bob' }), calls)).toEqual({
      users: ['gate:bob:36', 'gate:bob:36'],
      codes: ['1:OK', '2:OK', '3:ACCESS_DENIED'],
    });
    expect(await seen(as('g', { 'x-skep-user': 'eve' }), [check(1)])).toEqual({
      users: [],
      codes: ['1:ACCESS_DENIED'],
    });
  });
});
