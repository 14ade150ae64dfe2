import { createConnection, createServer, type Socket } from 'node:net';
import * as grpc from '@grpc/grpc-js';
import { systemClock } from '@skep/core';
import { describe, expect, it } from 'vitest';
import { ANSWER, closeAfterTest, serving } from '../test/serving.js';
import {
  bindService,
  type CallContext,
  type CallRecord,
  connect,
  currentCall,
  detached,
  LockResponse,
  type LockService,
  LockServiceService,
  NoSuchLockError,
  NoSuchTxnError,
  RemoteError,
  type Server,
  serve,
  withCallOptions,
} from './index.js';

const check = { lockId: 1n };
/** A machine may be busy with other things. */
const PATIENT = { timeout: 10_000 };
const sleep = (delayMs: number) => systemClock.sleep(delayMs);

/** Resolves once, with a hold on it from outside. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** Says in `reasons` that it has begun, waits until the call's signal is aborted, and tells why. */
async function untilAborted(reasons: unknown[]): Promise<LockResponse> {
  const signal = currentCall()?.signal;
  reasons.push('begun');
  await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
  reasons.push(signal?.reason);
  throw signal?.reason;
}

describe('a deadline', () => {
  it('ends the call here and the work there', async () => {
    const reasons: unknown[] = [];
    const { locks } = await serving({ checkLock: () => untilAborted(reasons) });
    const service = locks();
    await service.unlock(check);
    const start = systemClock.now();
    await expect(service.checkLock(check, { deadlineMs: 400 })).rejects.toMatchObject({ code: 'DEADLINE' });
    expect(systemClock.now() - start).toBeLessThan(5000);
    // The client may be quicker to give up than the request was to arrive.
    const code = expect.stringMatching(/^(DEADLINE|CANCELLED)$/);
    await expect.poll(() => reasons, PATIENT).toMatchObject(['begun', { code }]);
  });

  it('of the server ends a call whose client would wait longer', async () => {
    const reasons: unknown[] = [];
    const records: CallRecord[] = [];
    const { locks } = await serving(
      { checkLock: () => untilAborted(reasons) },
      { maxCallMs: 300, onCall: (record) => records.push(record) },
    );
    await expect(locks().checkLock(check)).rejects.toMatchObject({
      code: 'DEADLINE',
      message: 'skep.v1.LockService/CheckLock: took longer than the 300 ms that calls may',
    });
    await expect.poll(() => reasons, PATIENT).toMatchObject(['begun', { code: 'DEADLINE' }]);
    expect(records).toMatchObject([{ method: 'skep.v1.LockService/CheckLock', code: 'DEADLINE' }]);
  });

  it('goes along to the services that are called for it', async () => {
    const seen: CallContext[] = [];
    const inner = await serving({
      getTxnStates: async () => {
        const call = currentCall();
        if (call !== undefined) seen.push(call);
        return { states: [] };
      },
    });
    const txns = inner.txns();
    const outer = await serving({
      checkLock: async () => {
        await txns.getTxnStates({ txnIds: [] });
        await detached(() => txns.getTxnStates({ txnIds: [] }));
        return ANSWER;
      },
    });
    const before = systemClock.now();
    await outer.locks().checkLock(check, { deadlineMs: 5000 });
    expect(seen.map(({ depth }) => depth)).toEqual([1, 1]);
    expect(seen[0].requestId).toBe(seen[1].requestId);
    expect(seen[0].deadline - before).toBeLessThan(5500);
    expect(seen[1].deadline - before).toBeGreaterThan(50_000);
  });
});

describe('cancelling', () => {
  it('reaches the implementation, and what it called in turn', async () => {
    const reasons: unknown[] = [];
    const inner = await serving({ getTxnStates: async () => (await untilAborted(reasons)) as never });
    const txns = inner.txns();
    const outer = await serving({
      checkLock: async () => {
        await txns.getTxnStates({ txnIds: [] });
        return ANSWER;
      },
    });
    const control = new AbortController();
    const call = outer.locks().checkLock(check, { signal: control.signal });
    await expect.poll(() => reasons, PATIENT).toEqual(['begun']);
    control.abort(new NoSuchTxnError(1n, 'enough'));
    await expect(call).rejects.toThrow('enough');
    await expect.poll(() => reasons, PATIENT).toMatchObject(['begun', { code: 'CANCELLED' }]);
  });

  it('before the call sends nothing', async () => {
    let calls = 0;
    const { locks } = await serving({
      checkLock: async () => {
        calls++;
        return ANSWER;
      },
    });
    await expect(locks().checkLock(check, { signal: AbortSignal.abort(new NoSuchTxnError(1n, 'no')) })).rejects.toThrow(
      'no',
    );
    expect(calls).toBe(0);
  });

  it('works around the plain interface of a service', async () => {
    const reasons: unknown[] = [];
    const { locks } = await serving({ checkLock: () => untilAborted(reasons) });
    const control = new AbortController();
    const service = locks();
    const call = withCallOptions({ signal: control.signal }, () => service.checkLock(check));
    await expect.poll(() => reasons, PATIENT).toEqual(['begun']);
    control.abort(new NoSuchTxnError(1n, 'enough'));
    await expect(call).rejects.toThrow('enough');
  });

  it('of a call that waits for its turn gives the place up', async () => {
    const held = gate();
    let calls = 0;
    const { locks } = await serving(
      {
        checkLock: async () => {
          calls++;
          await held.opened;
          return ANSWER;
        },
      },
      { maxConcurrentCalls: 1, maxQueuedCalls: 1 },
    );
    const service = locks({ retry: { maxAttempts: 1 } });
    const first = service.checkLock(check);
    await expect.poll(() => calls, PATIENT).toBe(1);
    const control = new AbortController();
    const second = service.checkLock(check, { signal: control.signal });
    await sleep(30);
    await expect(service.checkLock(check)).rejects.toMatchObject({ code: 'OVERLOADED', kind: 'unavailable' });
    control.abort(new NoSuchTxnError(1n, 'enough'));
    await expect(second).rejects.toThrow('enough');
    await sleep(30);
    const third = service.checkLock(check);
    held.open();
    await Promise.all([first, third]);
    expect(calls).toBe(2);
  });
});

describe('many calls at once', () => {
  it('are worked on a few at a time, and all answered', async () => {
    let running = 0;
    let most = 0;
    const { locks } = await serving(
      {
        checkLock: async ({ lockId }) => {
          most = Math.max(most, ++running);
          await sleep(1);
          running--;
          return { ...ANSWER, lockId };
        },
      },
      { maxConcurrentCalls: 16, maxQueuedCalls: 1000 },
    );
    const service = locks();
    const answers = await Promise.all(Array.from({ length: 1000 }, (_, i) => service.checkLock({ lockId: BigInt(i) })));
    expect(answers.map(({ lockId }) => Number(lockId))).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    expect(most).toBe(16);
  });

  it('beyond what may wait are tried again by the client', async () => {
    const { locks } = await serving(
      {
        lock: async () => {
          await sleep(20);
          return ANSWER;
        },
      },
      { maxConcurrentCalls: 2, maxQueuedCalls: 2 },
    );
    const service = locks({ retry: { maxAttempts: 30, initialDelayMs: 10, maxDelayMs: 40 } });
    const request = {
      components: [],
      txnId: 0n,
      user: '',
      host: '',
      agentInfo: '',
      zeroWaitRead: false,
      exclusiveCtas: false,
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.lock(request)));
    expect(answers.length).toBe(20);
  });

  it('of services that call each other do not wait for each other', async () => {
    const clients: { txns?: ReturnType<Awaited<ReturnType<typeof serving>>['txns']> } = {};
    const both = await serving(
      {
        // As in life: a lock asks the transactions, a commit the locks.
        checkLock: async () => {
          await clients.txns?.getTxnStates({ txnIds: [] });
          return ANSWER;
        },
        getTxnStates: async () => ({ states: [] }),
        commitTxn: async () => {
          await locks.releaseTxnLocks({ txnIds: [] });
          return { commitId: 1n, commitTimeMs: 1n };
        },
      },
      { maxConcurrentCalls: 1, maxQueuedCalls: 100 },
    );
    const locks = both.locks();
    const txns = both.txns();
    clients.txns = txns;
    await Promise.all(
      Array.from({ length: 50 }, () => [
        locks.checkLock(check, { deadlineMs: 5000 }),
        txns.commitTxn({ txnId: 1n }),
      ]).flat(),
    );
  });
});

describe('shutting down', () => {
  it('lets running calls end, refuses new ones, and says NOT_SERVING', async () => {
    const held = gate();
    let begun = 0;
    const { locks, server } = await serving({
      checkLock: async () => {
        begun++;
        await held.opened;
        return ANSWER;
      },
    });
    const service = locks({ retry: { maxAttempts: 1 } });
    const running = service.checkLock(check);
    await expect.poll(() => begun, PATIENT).toBe(1);
    expect(await healthOf(server)).toBe('SERVING');
    const closed = server.close(5000);
    expect(await healthOf(server)).toBe('NOT_SERVING');
    expect(await healthOf(server, 'skep.v1.LockService')).toBe('NOT_SERVING');
    await expect(service.checkLock(check)).rejects.toMatchObject({ code: 'SHUTTING_DOWN', kind: 'unavailable' });
    held.open();
    expect(await running).toEqual(ANSWER);
    await closed;
    await expect(service.checkLock(check)).rejects.toMatchObject({ code: 'UNREACHABLE' });
    expect(begun).toBe(1);
  });

  it('aborts what still runs when the time is up', async () => {
    const reasons: unknown[] = [];
    const { locks, server } = await serving({ checkLock: () => untilAborted(reasons) });
    const call = locks({ retry: { maxAttempts: 1 } }).checkLock(check);
    await expect.poll(() => reasons, PATIENT).toEqual(['begun']);
    await Promise.all([expect(call).rejects.toMatchObject({ kind: 'unavailable' }), server.close(50)]);
    expect(reasons).toMatchObject(['begun', { code: 'SHUTTING_DOWN' }]);
  });
});

describe('calls that mostly wait', () => {
  it('take no places of others, are told at once that the server ends, and are known as such', async () => {
    const records: CallRecord[] = [];
    let waiting = 0;
    const locks = {
      ...(Object.fromEntries(Object.keys(LockServiceService).map((name) => [name, async () => ANSWER])) as object),
      checkLock: async () => {
        const signal = currentCall()?.signal;
        waiting++;
        await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
        return ANSWER;
      },
    } as unknown as LockService;
    const server = await serve([bindService(LockServiceService, locks, { waiting: ['checkLock'] })], {
      maxConcurrentCalls: 1,
      maxQueuedCalls: 0,
      onCall: (record) => records.push(record),
    });
    closeAfterTest(() => server.close(50));
    const { service, close } = connect(LockServiceService, server.address, { retry: { maxAttempts: 1 } });
    closeAfterTest(close);
    const waits = Array.from({ length: 20 }, () => service.checkLock(check));
    await expect.poll(() => waiting, PATIENT).toBe(20);
    await service.unlock(check);
    expect(records).toMatchObject([{ method: 'skep.v1.LockService/Unlock', isWait: false }]);
    const beganMs = systemClock.now();
    await Promise.all([server.close(20_000), ...waits]);
    expect(systemClock.now() - beganMs).toBeLessThan(5000);
    expect(records.filter(({ isWait, code }) => isWait && code === 'OK')).toHaveLength(20);
  });
});

/** As grpc-health-probe would ask. */
async function healthOf(server: Server, service = ''): Promise<string> {
  const { service: definition } = await import('grpc-health-check');
  const client = new (grpc.makeGenericClientConstructor(definition, 'Health'))(
    server.address,
    grpc.credentials.createInsecure(),
  );
  closeAfterTest(() => client.close());
  return new Promise((resolve) => {
    client.check({ service }, (error: grpc.ServiceError | null, answer: { status: string }) => {
      resolve(error === null ? answer.status : grpc.status[error.code]);
    });
  });
}

describe('health', () => {
  it('is of the whole and of each service, and can be turned', async () => {
    const { server } = await serving({});
    const LOCKS = 'skep.v1.LockService';
    const TXNS = 'skep.v1.TransactionService';
    const all = () => Promise.all(['', LOCKS, TXNS, 'skep.v1.Other'].map((name) => healthOf(server, name)));
    expect(await all()).toEqual(['SERVING', 'SERVING', 'SERVING', 'NOT_FOUND']);
    server.setServing(false, LOCKS);
    expect(await all()).toEqual(['SERVING', 'NOT_SERVING', 'SERVING', 'NOT_FOUND']);
    const { check: checkHealth, close } = connect(LockServiceService, server.address);
    closeAfterTest(close);
    await expect(checkHealth()).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: `${server.address}: skep.v1.LockService is there but not serving`,
    });
    server.setServing(true);
    await checkHealth();
    expect(() => server.setServing(false, 'x')).toThrow('x is not served here: skep.v1.LockService');
  });
});

/** One question to grpc.reflection.v1; the answer's bytes as text, in which names can be found. */
function reflect(server: Server, field: number, value: string): Promise<string> {
  const client = new grpc.Client(server.address, grpc.credentials.createInsecure());
  closeAfterTest(() => client.close());
  const raw = (bytes: Buffer) => bytes;
  const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
  return new Promise((resolve, reject) => {
    const call = client.makeBidiStreamRequest(path, raw, raw);
    call.on('error', reject);
    call.on('data', (answer: Buffer) => {
      call.end();
      resolve(answer.toString('latin1'));
    });
    call.write(Buffer.concat([Buffer.from([(field << 3) | 2, value.length]), Buffer.from(value)]));
  });
}

describe('reflection', () => {
  const LIST_SERVICES = 7;
  const FILE_CONTAINING_SYMBOL = 4;

  it('lists what is served there, and gives its description', async () => {
    const { server } = await serving({});
    const services = await reflect(server, LIST_SERVICES, '*');
    expect(services).toContain('skep.v1.LockService');
    expect(services).not.toContain('skep.v1.CatalogService');
    const file = await reflect(server, FILE_CONTAINING_SYMBOL, 'skep.v1.LockService');
    for (const name of ['skep/v1/lock.proto', 'CheckLockRequest', 'blocked_by']) expect(file).toContain(name);
  });

  it('can be left out', async () => {
    const { server } = await serving({}, { reflection: false });
    await expect(reflect(server, LIST_SERVICES, '*')).rejects.toMatchObject({ code: grpc.status.UNIMPLEMENTED });
  });
});

describe('a message that is too large', () => {
  const longer = (length: number) => ({ ...ANSWER, errorMessage: 'x'.repeat(length) });

  it('is no limit of messages that are put together', async () => {
    const maxMessageBytes = 1000;
    const { locks } = await serving({});
    await expect(serving({}, { maxMessageBytes })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(locks({ maxMessageBytes }).checkLock(check)).rejects.toMatchObject({
      message: 'maxMessageBytes is 1000: it must be at least 65536',
    });
  });

  it('is an error of the call, whoever refuses it', async () => {
    const { locks } = await serving(
      { checkLock: async () => longer(200_000), showLocks: async () => ({ locks: [] }) },
      { maxMessageBytes: 100_000 },
    );
    const tooLarge = { code: 'MESSAGE_TOO_LARGE', kind: 'invalid' };
    const service = locks();
    await expect(service.showLocks({ database: 'x'.repeat(200_000) })).rejects.toMatchObject(tooLarge);
    await expect(service.checkLock(check)).rejects.toMatchObject(tooLarge);
    const modest = await serving({ checkLock: async () => longer(200_000) });
    await expect(modest.locks({ maxMessageBytes: 100_000 }).checkLock(check)).rejects.toMatchObject(tooLarge);
    await expect(modest.locks({ maxMessageBytes: 900_000 }).checkLock(check)).resolves.toEqual(longer(200_000));
  });
});

describe('what a server tells', () => {
  it('of each call: method, outcome, user, times, id', async () => {
    const records: CallRecord[] = [];
    const { locks } = await serving(
      {
        checkLock: async ({ lockId }) => {
          if (lockId === 2n) throw new NoSuchLockError(2n);
          return ANSWER;
        },
      },
      { onCall: (record) => records.push(record) },
    );
    const service = locks({ user: 'alice' });
    await service.checkLock(check);
    await service.checkLock({ lockId: 2n }).catch(() => undefined);
    const method = 'skep.v1.LockService/CheckLock';
    expect(records).toMatchObject([
      { method, code: 'OK', user: 'alice', peer: expect.stringContaining('127.0.0.1:') },
      { method, code: 'NO_SUCH_LOCK', user: 'alice', error: { lockId: 2n } },
    ]);
    expect(records[0].requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(records[0].durationMs).toBeGreaterThanOrEqual(0);
  });

  it('of a lock that is in the way: whose, on what, since when', async () => {
    const { blockedBy } = LockResponse.fromPartial({
      blockedBy: { lockId: 7n, txnId: 3n, user: 'bob', database: 'd', table: 't', acquiredAtMs: 1000n },
    });
    const { locks } = await serving({
      checkLock: async () => {
        throw new RemoteError('LOCK_TIMEOUT', 'conflict', 'waited too long', { lockId: 9n, blockedBy });
      },
    });
    const failure = await locks()
      .checkLock(check)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'LOCK_TIMEOUT', kind: 'conflict', lockId: 9n, blockedBy });
  });
});

describe('keepalive', () => {
  it('finds out that the other side is gone without a word', async () => {
    let begun = 0;
    const { server } = await serving({
      checkLock: () => {
        begun++;
        return new Promise(() => undefined);
      },
    });
    const silent = await silentProxy(server.address);
    const keepalive = { timeMs: 500, timeoutMs: 500 };
    const { service, close } = connect(LockServiceService, silent.address, { keepalive, retry: { maxAttempts: 1 } });
    closeAfterTest(close);
    await service.unlock(check);
    const call = service.checkLock(check, { deadlineMs: 30_000 });
    await expect.poll(() => begun, PATIENT).toBe(1);
    silent.fallSilent();
    const start = systemClock.now();
    await expect(call).rejects.toMatchObject({ code: 'UNREACHABLE' });
    expect(systemClock.now() - start).toBeLessThan(15_000);
  });
});

/** Passes bytes on until it is told to fall silent, as when a machine loses its power: the connections stay open. */
async function silentProxy(address: string): Promise<{ readonly address: string; fallSilent(): void }> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const proxy = createServer((near) => {
    const far = createConnection(Number(address.split(':')[1]), '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ]) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('data', (bytes) => {
        if (!isSilent) to.write(bytes);
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  closeAfterTest(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const bound = proxy.address();
  return {
    address: `127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}`,
    fallSilent() {
      isSilent = true;
    },
  };
}

describe('a client', () => {
  /** A client of an address where nobody listens any more. */
  async function left(failures: number) {
    const { server } = await serving({});
    const address = server.address;
    await server.close(10);
    const options = { retry: { maxAttempts: failures + 1, initialDelayMs: 60 } };
    const { service, close } = connect(LockServiceService, address, options);
    closeAfterTest(close);
    return { address, service };
  }

  it('waits for a server that comes back, for any method', async () => {
    const { address, service } = await left(6);
    const request = {
      components: [],
      txnId: 0n,
      user: '',
      host: '',
      agentInfo: '',
      zeroWaitRead: false,
      exclusiveCtas: false,
    };
    const waiting = service.lock(request);
    await sleep(150);
    await serving({ lock: async () => ANSWER }, { address });
    expect(await waiting).toEqual(ANSWER);
  });

  it('says in the end why it cannot connect', async () => {
    const { service } = await left(1);
    await expect(service.checkLock(check)).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('of a service that is not served there says so, without trying again', async () => {
    const { server } = await serving({});
    const { CatalogServiceService } = await import('./index.js');
    const { service, close } = connect(CatalogServiceService, server.address);
    closeAfterTest(close);
    await expect(service.listDatabases({})).rejects.toMatchObject({ code: 'UNIMPLEMENTED', kind: 'invalid' });
  });

  it('repeats a call that was lost only where that changes nothing', async () => {
    const count = { lock: 0, checkLock: 0 };
    let current: Server | undefined;
    let lost = 0;
    const lose = (name: keyof typeof count) => async () => {
      count[name]++;
      // The connection breaks under the call.
      if (count[name] === 1) {
        await current?.close(0);
        lost++;
      }
      return ANSWER;
    };
    const methods = { lock: lose('lock'), checkLock: lose('checkLock') };
    const first = await serving(methods);
    const { address } = first.server;
    current = first.server;
    const { service, close } = connect(LockServiceService, address, { retry: { maxAttempts: 12, initialDelayMs: 50 } });
    closeAfterTest(close);
    const again = service.checkLock(check);
    await expect.poll(() => lost, PATIENT).toBe(1);
    current = (await serving(methods, { address })).server;
    expect(await again).toEqual(ANSWER);
    const request = {
      components: [],
      txnId: 1n,
      user: '',
      host: '',
      agentInfo: '',
      zeroWaitRead: false,
      exclusiveCtas: false,
    };
    await expect(service.lock(request)).rejects.toMatchObject({ code: 'UNREACHABLE', kind: 'unavailable' });
    expect(count).toEqual({ lock: 1, checkLock: 2 });
  });
});
