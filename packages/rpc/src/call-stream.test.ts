import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import * as grpc from '@grpc/grpc-js';
import { systemClock } from '@skep/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleSource } from '../../../scripts/bundle-source.mjs';
import { otherServer, replyTo, type ServedStream } from '../test/other-server.js';
import { ANSWER, closeAfterTest, serving } from '../test/serving.js';
import type { CallsRequest } from './gen/skep/v1/call.js';
import { type ConnectOptions, connect, LockRequest, LockServiceService } from './index.js';

const PATIENT = { timeout: 10_000 };
const sleep = (ms: number) => systemClock.sleep(ms);
const check = { lockId: 1n };
const request = LockRequest.fromPartial({ user: 'u' });
const retry = { initialDelayMs: 10, maxDelayMs: 20 };

function client(address: string, options: ConnectOptions = {}) {
  const { service, close } = connect(LockServiceService, address, { retry, ...options });
  closeAfterTest(close);
  return service;
}

/** Answers every call at once. */
function answering(call: ServedStream): void {
  call.sendMetadata(new grpc.Metadata());
  call.on('data', ({ calls }: CallsRequest) => {
    for (const { number } of calls) call.write(replyTo(number));
  });
  call.on('end', () => call.end());
}

describe('calls that share a stream', () => {
  it('get their own answers, in any order, however many', async () => {
    const { locks } = await serving({
      checkLock: async ({ lockId }) => {
        await sleep(Number(lockId % 7n));
        return { ...ANSWER, lockId };
      },
    });
    const service = locks();
    const lockIds = Array.from({ length: 500 }, (_, i) => BigInt(i));
    const answers = await Promise.all(lockIds.map((lockId) => service.checkLock({ lockId })));
    expect(answers.map(({ lockId }) => lockId)).toEqual(lockIds);
  });

  it('go in one message where they are made in one turn', async () => {
    const messages: number[] = [];
    const { address } = await otherServer((call) => {
      answering(call);
      call.on('data', ({ calls }: CallsRequest) => messages.push(calls.length));
    });
    const service = client(address);
    await service.lock(request);
    await Promise.all(Array.from({ length: 100 }, () => service.lock(request)));
    expect(messages).toEqual([1, 100]);
  });

  it('may be followed by a large one, which goes by itself', async () => {
    const other = await otherServer(answering);
    const service = client(other.address);
    await service.lock(request);
    await service.lock({ ...request, agentInfo: 'x'.repeat(100_000) });
    await service.checkLock(check, { user: 'u'.repeat(70_000) }).catch(() => undefined);
    expect(other.single.lock).toBe(1);
    expect(other.streams).toBe(1);
  });

  it('end with a rest of the client, and take a new stream after it', async () => {
    let ended = 0;
    const other = await otherServer((call) => {
      answering(call);
      call.on('end', () => ended++);
    });
    const service = client(other.address);
    await service.lock(request);
    expect(ended).toBe(0);
    await expect.poll(() => ended, PATIENT).toBe(1);
    await service.lock(request);
    expect(other).toMatchObject({ streams: 2, single: { lock: 0 } });
  });

  it('take a new stream after a while, and are still answered on the old one', async () => {
    let aheadMs = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
    const late: (() => void)[] = [];
    const other = await otherServer((call, nth) => {
      if (nth > 1) return answering(call);
      call.sendMetadata(new grpc.Metadata());
      call.on('data', ({ calls }: CallsRequest) => {
        for (const { number } of calls) late.push(() => call.write(replyTo(number)));
      });
      call.on('end', () => late.push(() => call.end()));
    });
    const service = client(other.address, { clock });
    const first = service.lock(request);
    await expect.poll(() => late.length, PATIENT).toBe(1);
    aheadMs = 11_000;
    await sleep(1500);
    await service.lock(request);
    expect(other.streams).toBe(2);
    for (const answer of late) answer();
    expect(await first).toMatchObject({ lockId: 1n });
    await expect.poll(() => late.length, PATIENT).toBe(2);
  });
});

describe('a server without such streams', () => {
  it('gets its calls by themselves, and is asked once a connection', async () => {
    const other = await otherServer((call) => {
      call.emit('error', { code: grpc.status.UNIMPLEMENTED, details: 'no' });
    });
    const service = client(other.address);
    await Promise.all(Array.from({ length: 10 }, () => service.lock(request)));
    await service.lock(request);
    expect(other).toMatchObject({ streams: 1, single: { lock: 11 } });
  });

  it('may be one that knows nothing of them', async () => {
    const other = await otherServer();
    const service = client(other.address);
    await Promise.all([service.lock(request), service.lock(request), service.checkLock(check)]);
    expect(other.single).toEqual({ lock: 2, checkLock: 1 });
  });
});

describe('a stream that breaks while the connection holds', () => {
  it('may have done its calls; later ones go by themselves', async () => {
    const other = await otherServer((call) => {
      call.sendMetadata(new grpc.Metadata());
      call.on('data', () => call.emit('error', { code: grpc.status.INTERNAL, details: 'cut by a proxy' }));
    });
    const service = client(other.address);
    await expect(service.lock(request)).rejects.toMatchObject({
      code: 'UNREACHABLE',
      kind: 'unavailable',
      message: `${other.address}: cut by a proxy`,
    });
    expect(other.single.lock).toBe(0);
    await service.lock(request);
    expect(other).toMatchObject({ streams: 1, single: { lock: 1 } });
    const next = await otherServer((call) => {
      call.on('data', () => call.emit('error', { code: grpc.status.PERMISSION_DENIED, details: 'no' }));
    });
    // What may be repeated is.
    await client(next.address).checkLock(check);
    expect(next).toMatchObject({ streams: 1, single: { checkLock: 1 } });
  });

  it('has surely not begun what was not written yet', async () => {
    let broken = false;
    const other = await otherServer((call) => {
      call.sendMetadata(new grpc.Metadata());
      // Reads nothing, so that most of it stays at the client.
      void sleep(1000).then(() => {
        broken = true;
        call.emit('error', { code: grpc.status.UNAVAILABLE, details: 'cut' });
      });
    });
    const service = client(other.address);
    const large = { ...request, agentInfo: 'x'.repeat(30_000) };
    const outcomes = await Promise.allSettled(Array.from({ length: 200 }, () => service.lock(large)));
    const failed = outcomes.filter(({ status }) => status === 'rejected');
    expect(broken).toBe(true);
    // A megabyte and more is taken by grpc-js and the connection: those calls may have been done.
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(100);
    expect(other.single.lock).toBe(200 - failed.length);
  });

  it('that ends with OK has not begun what it did not answer', async () => {
    const other = await otherServer((call, nth) => {
      if (nth > 1) return answering(call);
      call.sendMetadata(new grpc.Metadata());
      call.on('data', () => call.end());
    });
    expect(await client(other.address).lock(request)).toMatchObject({ lockId: 1n });
    expect(other).toMatchObject({ streams: 2, single: { lock: 0 } });
  });

  it('is ended where the other side does not speak the protocol', async () => {
    const other = await otherServer((call) => {
      call.sendMetadata(new grpc.Metadata());
      call.on('data', () => call.write(Buffer.from([10, 200, 1])));
    });
    await expect(client(other.address, { deadlineMs: 2000 }).lock(request)).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringContaining('parsing error'),
    });
  });

  it('is cancelled where its end is not answered, which says nothing of streams', async () => {
    let aheadMs = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
    let [ended, cancelled] = [0, 0];
    const other = await otherServer((call) => {
      answering(call);
      call.removeAllListeners('end');
      call.on('end', () => ended++);
      call.on('cancelled', () => cancelled++);
    });
    const service = client(other.address, { clock });
    await service.lock(request);
    await expect.poll(() => ended, PATIENT).toBe(1);
    await sleep(1500);
    expect(cancelled).toBe(0);
    aheadMs = 11_000;
    await expect.poll(() => cancelled, PATIENT).toBe(1);
    await service.lock(request);
    expect(other).toMatchObject({ streams: 2, single: { lock: 0 } });
  });

  it('that was refused for now is tried again', async () => {
    const other = await otherServer((call, nth) => {
      if (nth > 1) return answering(call);
      call.emit('error', { code: grpc.status.UNAVAILABLE, details: 'too many streams' });
    });
    const service = client(other.address);
    await service.checkLock(check);
    expect(other).toMatchObject({ streams: 2, single: { checkLock: 0 } });
  });
});

describe('processes', () => {
  let program = '';
  beforeAll(async () => {
    program = await bundleSource('packages/rpc/test/call-process.ts', 'rpc-call-process');
  });

  /** A process, with a function that waits for its next line. */
  function start(...args: string[]): { child: ChildProcess; line(): Promise<string> } {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    closeAfterTest(() => void child.kill('SIGKILL'));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return { child, line: async () => String((await lines.next()).value) };
  }

  it('that are killed in the middle of a call lose it', async () => {
    const { child, line } = start('serve');
    const service = client(await line(), { retry: { maxAttempts: 2, initialDelayMs: 10 } });
    await service.checkLock(check);
    const call = expect(service.lock(request)).rejects.toMatchObject({ code: 'UNREACHABLE', kind: 'unavailable' });
    expect(await line()).toBe('locking');
    child.kill('SIGKILL');
    await call;
    await expect(service.checkLock(check)).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });

  it('end though they have left a stream open', async () => {
    const serverProcess = start('serve');
    const { child, line } = start('call', await serverProcess.line());
    expect(await line()).toBe('1');
    const beganMs = systemClock.now();
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(systemClock.now() - beganMs).toBeLessThan(8000);
  });
});
