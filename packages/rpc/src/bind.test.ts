import { BugError, CorruptFileError, type SkepError, systemClock } from '@skep/core';
import { afterEach, describe, expect, it } from 'vitest';
import {
  bindService,
  connect,
  InvalidRequestError,
  type LockService,
  LockServiceService,
  NoSuchLockError,
  NoSuchTxnError,
  serve,
  TooManyOpenTxnsError,
  TxnAbortedError,
  TxnConflictError,
  TxnOpenError,
} from './index.js';
import { fromStatus, readDetail, statusDetails, toStatus } from './status.js';

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A lock service of which only `checkLock` does something. */
async function serving(checkLock: LockService['checkLock'], deadlineMs?: number): Promise<LockService> {
  const methods = Object.keys(LockServiceService).map((name) => [name, async () => ({})]);
  const implementation = { ...Object.fromEntries(methods), checkLock } as LockService;
  const server = await serve([bindService(LockServiceService, implementation)]);
  const { service, close } = connect(LockServiceService, server.address, { deadlineMs });
  closing.push(close, () => server.close(50));
  return service;
}

const errors: SkepError[] = [
  new InvalidRequestError('no'),
  new NoSuchTxnError(2n ** 60n),
  new TxnAbortedError(7n),
  new TxnConflictError(7n, 8n, 'conflict'),
  new TooManyOpenTxnsError('many'),
  new NoSuchLockError(9n),
  new TxnOpenError(9n, 7n),
];

describe('a service over gRPC', () => {
  it('answers what it answers in process', async () => {
    const response = { lockId: 2n ** 62n, state: 2, errorMessage: 'wäits' };
    const service = await serving(async ({ lockId }) => ({ ...response, lockId }));
    expect(await service.checkLock({ lockId: 2n ** 62n })).toEqual(response);
  });

  it.each(errors)('fails with the same error: $code', async (error) => {
    const service = await serving(async () => {
      throw error;
    });
    const failure = await service.checkLock({ lockId: 1n }).catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(error.constructor);
    expect({ ...(failure as object) }).toEqual({ ...error });
    expect((failure as Error).message).toBe(error.message);
  });

  it('fails with a SkepError for what has no class here, and for defects', async () => {
    const service = await serving(async ({ lockId }) => {
      if (lockId === 1n) throw new CorruptFileError('/a/b', 5, 'bad');
      throw new RangeError('oops');
    });
    await expect(service.checkLock({ lockId: 1n })).rejects.toMatchObject({
      code: 'CORRUPT_FILE',
      kind: 'corrupt',
      path: '/a/b',
    });
    await expect(service.checkLock({ lockId: 2n })).rejects.toMatchObject({ code: 'BUG', kind: 'bug' });
  });

  it('gives up at the deadline', async () => {
    const service = await serving(async () => {
      await systemClock.sleep(300);
      return { lockId: 1n, state: 1, errorMessage: '' };
    }, 30);
    await expect(service.checkLock({ lockId: 1n })).rejects.toMatchObject({ code: 'DEADLINE', kind: 'unavailable' });
  });

  it('that nobody serves is unreachable', async () => {
    const { service, close } = connect(LockServiceService, '127.0.0.1:1', { deadlineMs: 2000 });
    closing.push(close);
    await expect(service.checkLock({ lockId: 1n })).rejects.toMatchObject({
      code: 'UNREACHABLE',
      kind: 'unavailable',
      address: '127.0.0.1:1',
    });
  });

  it('cannot listen twice on one port', async () => {
    const server = await serve([]);
    closing.push(() => server.close(10));
    await expect(serve([], { address: server.address })).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });
});

describe('the status on the wire', () => {
  it.each([
    [new NoSuchTxnError(1n), 5],
    [new InvalidRequestError(''), 3],
    [new TxnOpenError(1n, 1n), 9],
    [new TxnConflictError(1n, 2n, ''), 10],
    [new TooManyOpenTxnsError(''), 8],
    [new BugError(''), 13],
    ['text', 13],
  ])('of %s is %i', (error, code) => expect(toStatus(error).code).toBe(code));

  it('is a google.rpc.Status with one typed detail', () => {
    const details = statusDetails(toStatus(new TxnConflictError(7n, 8n, 'lost')));
    expect(readDetail(details)).toMatchObject({
      code: 'TXN_CONFLICT',
      kind: 'conflict',
      txnId: 7n,
      winnerTxnId: 8n,
    });
    // Field 1 is the code, field 2 the message: what gRPC's status libraries look for.
    expect([...details.subarray(0, 8)]).toEqual([8, 10, 18, 4, ...Buffer.from('lost')]);
  });

  it('without a detail says that the other side cannot be had', () => {
    expect(fromStatus('h:1', { code: 14, message: 'gone' })).toMatchObject({
      error: { code: 'UNREACHABLE', message: 'h:1: gone' },
      notBegun: false,
      isLost: true,
    });
  });
});

describe('grpc-js', () => {
  it('is not loaded before it is needed', async () => {
    const { execFileSync } = await import('node:child_process');
    const { build } = await import('esbuild');
    const built = await build({
      stdin: { contents: "export * from './index.js'", resolveDir: import.meta.dirname, loader: 'ts' },
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'node',
      conditions: ['source'],
      external: ['@grpc/grpc-js'],
    });
    const text = built.outputFiles[0].text;
    expect(text).toContain('import("@grpc/grpc-js")');
    expect(text).not.toMatch(/from ?"@grpc\/grpc-js"/);
    execFileSync(process.execPath, ['--input-type=module', '--check'], { input: text });
  });
});
