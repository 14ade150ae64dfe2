import { readdirSync } from 'node:fs';
import { Configuration } from '@skep/config';
import { type Clock, systemClock } from '@skep/core';
import { override } from '@skep/core/testing';
import { type CompactFolderRequest, CompactionType, DataOperation, TxnType, UnreachableError } from '@skep/rpc';
import { type FileSystem, StorageError } from '@skep/storage';
import { createLogger } from '@skep/telemetry/log';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Act, compactionActions, remoteCompactionFiles } from '../../../../packages/compactor/src/index.js';
import { MAJOR, World } from '../../../../packages/compactor/test/world.js';
import { ServedCompactions } from './served-compactions.js';

let w: World;
let lines: string[];
const owner = () => w.fs.ownerOf?.(w.location()).then((found) => found?.user ?? '') ?? Promise.resolve('');
beforeEach(async () => {
  lines = [];
  w = await World.open();
  await w.createTable();
  for (const a of [1, 2, 3]) await w.insert([[a, 'x']]);
  await w.compact(MAJOR);
});
afterEach(() => w.close());

/** A data service without its network. */
function serving(options: { fs?: FileSystem; atOnce?: number; user?: string; clock?: Clock } = {}) {
  const { catalog, compactions, txns } = w;
  const { fs = w.fs, atOnce = 2, user = '', clock = systemClock } = options;
  const services = { catalog, compactions, txns, fs };
  const log = createLogger({ level: 'info', now: () => 0, write: (line) => lines.push(line) });
  const served = new ServedCompactions({ services, conf: new Configuration(), clock, log, atOnce });
  const actions = compactionActions((caller) => served.filesFor(caller), clock);
  const act: Act = (type, body, { signal = new AbortController().signal } = {}) => {
    const action = actions.find((one) => one.type === type);
    if (action === undefined) throw new TypeError(type);
    return action.run(body, { user, signal });
  };
  return { served, act, files: remoteCompactionFiles(act, 'there', clock) };
}

/** What a Worker has done when it comes to the files. */
async function begin(txnId?: bigint): Promise<CompactFolderRequest> {
  const { job } = await w.compactions.findNextCompact({ workerId: 'here-1', workerVersion: '', poolName: '' });
  if (job === undefined) return expect.unreachable('no request');
  const id = txnId ?? (await w.open(TxnType.TXN_TYPE_COMPACTION));
  await w.compactions.updateCompactorState({ id: job.id, txnId: id, highestWriteId: 3n });
  const resource = { database: 'default', table: job.table };
  const operation = DataOperation.DATA_OPERATION_COMPACT;
  const components = [{ resource, operation, isDynamicPartitionWrite: false, writeId: 3n }];
  await w.txns.addWriteComponents({ txnId: id, components });
  const { validTxns, writeIds } = await w.snapshot(job.table, id);
  return {
    database: 'default',
    table: job.table,
    location: w.location(job.table),
    compactionId: job.id,
    txnId: id,
    runAs: await owner(),
    type: MAJOR,
    validTxns: String(validTxns),
    writeIds: String(writeIds),
    columns: [
      { name: 'a', type: 'int' },
      { name: 'b', type: 'string' },
    ],
    insertOnly: false,
    isOrc: true,
    orcProperties: {},
    maxDeltas: 500,
    majorInstead: false,
    orderBy: [],
    resume: false,
  };
}

const how = () => ({ signal: new AbortController().signal });
const bases = (table = 't') =>
  readdirSync(w.location(table).slice('file:'.length)).filter((n) => n.startsWith('base_'));

/** Files that cannot be made before `go`. */
function held() {
  let go: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  let arrived: () => void = () => undefined;
  const atFile = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const fs = override(w.fs, {
    create: async (path) => {
      const sink = await w.fs.create(path);
      arrived();
      await gone;
      return sink;
    },
  });
  return { fs, go, atFile };
}

describe('an answer that gets lost', () => {
  /** The connection breaks once the service has done it. */
  function losing(act: Act, whenLost: () => void = () => undefined): { readonly act: Act; readonly calls: string[] } {
    const calls: string[] = [];
    let isFirst = true;
    return {
      calls,
      act: (type, body, options) => {
        calls.push(type);
        if (type !== 'compact-folder' || !isFirst) return act(type, body, options);
        isFirst = false;
        return (async function* lost() {
          for await (const _ of act(type, body, options)) if (_.length === 0) yield _;
          whenLost();
          throw new UnreachableError('there', 'connection reset');
        })();
      },
    };
  }

  it('after the work was done does not lose the result', async () => {
    const { act, calls } = losing(serving().act);
    await w.worker(w.with({ files: remoteCompactionFiles(act, 'there', systemClock) }));
    expect(calls.filter((type) => type === 'compact-folder')).toHaveLength(2);
    expect(await w.states()).toEqual(['1 ready for cleaning']);
    expect(bases()).toHaveLength(1);
    expect(await w.rows()).toEqual(['1|x', '2|x', '3|x']);
  });

  it('of a service that was started again: the request waits, nothing stays', async () => {
    let current = serving();
    const { act } = losing(
      (...args) => current.act(...args),
      () => {
        current = serving();
      },
    );
    const files = remoteCompactionFiles(act, 'there', systemClock);
    await expect(w.worker(w.with({ files }))).rejects.toThrow(/connection reset/);
    expect(await w.states()).toEqual(['1 initiated']);
    expect(bases()).toEqual([]);
    expect(await w.worker(w.with({ files: current.files }))).toBe(true);
    expect(await w.states()).toEqual(['1 ready for cleaning']);
    expect(await w.rows()).toEqual(['1|x', '2|x', '3|x']);
  });
});

describe('a compaction', () => {
  it('is written once in a transaction, and what became of it is told to its user alone', async () => {
    const { files, served } = serving();
    const request = await begin();
    const result = await files.compact(request, how());
    await expect(files.compact(request, how())).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await files.compact({ ...request, resume: true }, how())).toEqual(result);
    const mallory = served.filesFor({ user: 'mallory', signal: how().signal });
    await expect(mallory.compact({ ...request, resume: true }, how())).rejects.toMatchObject({
      code: 'NO_SUCH_COMPACTION',
    });
    expect(bases()).toHaveLength(1);
  });

  it('that is given up stops, and leaves nothing', async () => {
    const { fs, go, atFile } = held();
    const { files } = serving({ fs });
    const stop = new AbortController();
    const work = files.compact(await begin(), { signal: stop.signal });
    await atFile;
    expect(bases()).toHaveLength(1);
    stop.abort('enough');
    await expect(work).rejects.toBe('enough');
    go();
    for (let i = 0; i < 100 && bases().length > 0; i++) await systemClock.sleep(10);
    expect(bases()).toEqual([]);
    expect(lines.join()).toContain('stopped, its files go');
  });

  it('ends with the service', async () => {
    const { fs, go, atFile } = held();
    const { files, served } = serving({ fs });
    const work = files.compact(await begin(), how());
    work.catch(() => undefined);
    await atFile;
    const closed = served.close();
    go();
    await closed;
    expect(bases()).toEqual([]);
    await expect(work).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  it('makes no file once its transaction has ended, whoever may still wait for it', async () => {
    const { fs, go, atFile } = held();
    const made: string[] = [];
    const counted = override(fs, {
      create: async (path) => {
        made.push(path);
        return await fs.create(path);
      },
    });
    const { files } = serving({ fs: counted });
    const request = await begin();
    const work = files.compact(request, how());
    work.catch(() => undefined);
    await atFile;
    await w.end(request.txnId, 'abort');
    go();
    await expect(work).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    // The bucket's file was begun before; the folder's version file comes after.
    expect(made).toEqual([expect.stringMatching(/bucket_00000$/)]);
    expect(bases()).toEqual([]);
  });

  it('is stopped by who discards it, once its transaction is aborted', async () => {
    const { fs, go, atFile } = held();
    const { files } = serving({ fs });
    const request = await begin();
    const work = files.compact(request, how());
    work.catch(() => undefined);
    await atFile;
    const folder = { database: 'default', table: 't', location: request.location };
    const { txnId, runAs } = request;
    await expect(files.discard({ ...folder, txnId, runAs })).rejects.toThrow(/not known to be aborted/);
    await w.end(txnId, 'abort');
    const discarded = files.discard({ ...folder, txnId, runAs });
    go();
    await discarded;
    await expect(work).rejects.toMatchObject({ code: expect.stringMatching(/^(TXN_ABORTED|CANCELLED)$/) });
    expect(bases()).toEqual([]);
    const late = serving();
    await expect(late.files.compact(request, how())).rejects.toMatchObject({ code: 'TXN_ABORTED' });
  });

  it('that no file can be made for fails as it does here', async () => {
    const full = override(w.fs, {
      create: async () => {
        throw new StorageError('NO_SPACE', 'unavailable', 'create', '/t', 'full');
      },
    });
    const { files } = serving({ fs: full });
    await expect(files.compact(await begin(), how())).rejects.toMatchObject({ code: 'NO_SPACE' });
  });

  it('waits for its turn', async () => {
    await w.createTable('u');
    for (const a of [1, 2]) await w.insert([[a, 'y']], { table: 'u' });
    await w.compact(MAJOR, { table: 'u' });
    const { fs, go, atFile } = held();
    const { files } = serving({ fs, atOnce: 1 });
    const first = files.compact(await begin(), how());
    await atFile;
    const second = files.compact(await begin(), how());
    await systemClock.sleep(50);
    expect(bases('u')).toEqual([]);
    go();
    await Promise.all([first, second]);
    expect([bases(), bases('u')]).toEqual([[expect.any(String)], [expect.any(String)]]);
  });
});

describe('what a caller says', () => {
  it.each<[string, Partial<CompactFolderRequest>, string]>([
    ['another folder', { location: 'file:/etc' }, 'INVALID_REQUEST'],
    ['no folder', { location: '' }, 'INVALID_REQUEST'],
    ['a table that is gone', { table: 'nope' }, 'NO_SUCH_OBJECT'],
    ['a partition that is gone', { partition: 'p=1' }, 'INVALID_REQUEST'],
    ['another transaction', { txnId: 1n }, 'NO_SUCH_COMPACTION'],
    ['another request', { compactionId: 99n }, 'NO_SUCH_COMPACTION'],
    ['another type', { type: CompactionType.COMPACTION_TYPE_MINOR }, 'NO_SUCH_COMPACTION'],
    ['a type that is none', { type: CompactionType.COMPACTION_TYPE_ABORT_TXN_CLEANUP }, 'INVALID_REQUEST'],
    ['another user', { runAs: 'mallory' }, 'ACCESS_DENIED'],
    ['parts of one delta', { maxDeltas: 1 }, 'INVALID_REQUEST'],
    ['no buckets', { numberOfBuckets: 0 }, 'INVALID_REQUEST'],
    [
      'a column that is not there',
      { orderBy: [{ column: 2, isDescending: false, nullsFirst: false }] },
      'INVALID_REQUEST',
    ],
  ])('is not believed: %s', async (_, fields, code) => {
    const { files } = serving();
    await expect(files.compact({ ...(await begin()), ...fields }, how())).rejects.toMatchObject({ code });
    expect(bases()).toEqual([]);
  });

  it('must be for whom the call is made', async () => {
    const { files } = serving({ user: 'mallory' });
    const request = await begin();
    await expect(files.compact(request, how())).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    await w.end(request.txnId, 'abort');
    await expect(files.discard(request)).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    await expect(files.ownerOf({ ...request, location: 'file:/etc' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });

  it('is a message', async () => {
    const { act } = serving();
    const send = async () => {
      for await (const _ of act('compact-folder', Uint8Array.of(255, 255, 255))) expect.unreachable(String(_));
    };
    await expect(send()).rejects.toThrow(/the body of action compact-folder is not its message/);
  });

  it('never removes what is committed', async () => {
    const { files } = serving();
    const request = await begin();
    await files.compact(request, how());
    await w.end(request.txnId);
    await expect(files.discard(request)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(bases()).toHaveLength(1);
  });
});
