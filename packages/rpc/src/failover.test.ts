import { afterEach, expect, it } from 'vitest';
import {
  bindService,
  connect,
  type LockService,
  LockServiceService,
  type Server,
  serve,
  UnreachableError,
} from './index.js';

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A lock service that says which one it is. */
async function serving(lockId: bigint): Promise<Server> {
  const methods = Object.keys(LockServiceService).map((name) => [name, async () => ({})]);
  const checkLock = async () => ({ lockId, state: 2, errorMessage: '' });
  const implementation = { ...Object.fromEntries(methods), checkLock } as LockService;
  const server = await serve([bindService(LockServiceService, implementation)]);
  closing.push(() => server.close(50));
  return server;
}

const retry = { initialDelayMs: 1, maxDelayMs: 5 };

it('uses the first address until it fails, then the next', async () => {
  const [one, two] = [await serving(1n), await serving(2n)];
  const { service, close } = connect(LockServiceService, [one.address, two.address], { retry });
  closing.push(close);
  const answers = async () => (await service.checkLock({ lockId: 0n })).lockId;
  expect([await answers(), await answers()]).toEqual([1n, 1n]);
  await one.close(0);
  expect([await answers(), await answers()]).toEqual([2n, 2n]);
});

it('tries every address once at least', async () => {
  const live = await serving(7n);
  const dead = ['127.0.0.1:1', '127.0.0.1:2', '127.0.0.1:3'] as const;
  const { service, close } = connect(LockServiceService, [...dead, live.address], {
    retry: { ...retry, maxAttempts: 1 },
  });
  closing.push(close);
  expect((await service.checkLock({ lockId: 0n })).lockId).toBe(7n);
});

it('names the address where none answers', async () => {
  const { service, close } = connect(LockServiceService, ['127.0.0.1:1', '127.0.0.1:2'], { retry });
  closing.push(close);
  await expect(service.checkLock({ lockId: 0n })).rejects.toThrow(UnreachableError);
  await expect(service.checkLock({ lockId: 0n })).rejects.toThrow(/127\.0\.0\.1:[12]/);
});
