import { setTimeout as sleep } from 'node:timers/promises';
import { openOrc } from '@skep/orc';
import type { Session } from '@skep/sql';
import { afterEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

/** Parameters of the compactor that a table can be seen to heed, given as users give them. */
const acid = "stored as orc tblproperties ('transactional'='true')";

let home: Home;
let session: Session;
afterEach(() => home.close());

async function start(hiveconf: Record<string, string>, backgroundCompaction = false): Promise<void> {
  home = await freshHome({ hiveconf, backgroundCompaction });
  session = home.newSession();
  await run(session, `create table t (a int, b string) ${acid}`);
}

const states = async (): Promise<string[]> =>
  (await rows(session, 'show compactions'))
    .slice(1)
    .map((row) => row.split('\t'))
    .map((cells) => `${cells[2]} ${cells[4]} ${cells[5]}`);

const folders = async (table = 't'): Promise<string[]> => {
  const { table: found } = await home.services.catalog.getTable({ database: 'default', name: table });
  return (await home.services.fs.list(found?.sd?.location ?? '')).map(({ name }) => name);
};

/** A write that is aborted from outside, as that of a client that died: its files are there. */
async function abortedInsert(): Promise<void> {
  const other = home.newSession();
  await run(other, 'start transaction', "insert into t values (0, 'aborted')");
  const txnId = other.openTransaction?.txnId;
  await run(session, `abort transactions ${txnId}`);
  const before = await folders();
  await run(other, 'rollback').catch(() => {});
  // What its session removed is as a dead one would have left it.
  for (const name of before)
    if (!(await folders()).includes(name)) await home.services.fs.mkdirs(`${await root()}/${name}`);
}
const root = async (): Promise<string> =>
  (await home.services.catalog.getTable({ database: 'default', name: 't' })).table?.sd?.location ?? '';

describe('aborted writes', () => {
  it('hive.compactor.abortedtxn.threshold: more of them than that are cleaned without a compaction', async () => {
    await start({ 'hive.compactor.abortedtxn.threshold': '1' });
    await run(session, "insert into t values (1, 'x')");
    await abortedInsert();
    await home.compactor.runCleanerOnce();
    expect(await folders()).toHaveLength(2);
    await abortedInsert();
    await home.compactor.runCleanerOnce();
    expect(await folders()).toHaveLength(1);
    expect(await states()).toEqual([]);
  });

  it('hive.compactor.aborted.txn.time.threshold: one that is older is; below 0 age does not matter', async () => {
    await start({ 'hive.compactor.aborted.txn.time.threshold': '1ms' });
    await abortedInsert();
    await sleep(5);
    await home.compactor.runCleanerOnce();
    expect(await folders()).toEqual([]);
    await home.close();
    await start({ 'hive.compactor.aborted.txn.time.threshold': '-1ms' });
    await abortedInsert();
    await sleep(5);
    await home.compactor.runCleanerOnce();
    expect(await folders()).toHaveLength(1);
  });

  it('hive.compactor.clean.aborts.using.cleaner=false: they make a major compaction due', async () => {
    await start({
      'hive.compactor.abortedtxn.threshold': '1',
      'metastore.compactor.clean.aborts.using.cleaner': 'false',
    });
    await run(session, "insert into t values (1, 'x')");
    await abortedInsert();
    await abortedInsert();
    await home.compactor.runCleanerOnce();
    expect(await folders()).toHaveLength(3);
    await home.compactor.runInitiatorOnce();
    expect(await states()).toEqual(['t MAJOR initiated']);
  });
});

it('hive.compactor.delta.pct.threshold: a major compaction is due when the deltas are that part of the base', async () => {
  for (const [threshold, due] of [
    ['1000', []],
    ['0.0001', ['t MAJOR initiated']],
  ] as const) {
    await start({ 'hive.compactor.delta.pct.threshold': threshold, 'hive.compactor.delta.num.threshold': '100' });
    await run(
      session,
      "insert overwrite table t select pos, 'x' from (select posexplode(split(space(500), ' ')) as (pos, v)) s",
    );
    await run(session, "insert into t values (1, 'x')");
    await home.compactor.runInitiatorOnce();
    expect(await states(), threshold).toEqual(due);
    if (due.length === 0) await home.close();
  }
});

it('hive.exec.orc.base.delta.ratio: buffers of deltas are smaller by it than those of bases', async () => {
  await start({});
  const blockOf = async (folder: string): Promise<number> => {
    const files = await home.services.fs.list(`${await root()}/${folder}`);
    const path = files.find(({ name }) => name.startsWith('bucket_'))?.path ?? '';
    const source = await home.services.fs.open(path);
    const { compressionBlockSize } = await openOrc(source);
    await source.close?.();
    return compressionBlockSize;
  };
  const sizes: number[] = [];
  for (const [i, ratio] of [8, 4, 1].entries()) {
    await run(session, `set hive.exec.orc.base.delta.ratio=${ratio}`, "insert into t values (1, 'x')");
    sizes.push(await blockOf(`delta_000000${i + 1}_000000${i + 1}_0000`));
  }
  await run(session, 'set hive.exec.orc.base.delta.ratio=8', "insert overwrite table t values (1, 'x')");
  sizes.push(await blockOf('base_0000004'));
  expect(sizes).toEqual([262144 / 8, 262144 / 4, 262144, 262144]);
});

describe('files that a reader opens in spite of', () => {
  const write = () =>
    run(
      session,
      "insert into t values (1, 'x'), (2, 'y')",
      "update t set b = 'z' where a = 1",
      'delete from t where a = 2',
    );
  const compact = async (type: string) => {
    await run(session, `alter table t compact '${type}'`);
    await home.compactor.runWorkerOnce();
    await sleep(1100);
    await home.compactor.runCleanerOnce();
  };
  const filesOf = async (folder: string) => await home.services.fs.list(`${await root()}/${folder}`);

  it('hive.txn.write.acid.version.file=false: no folder has one, those of compactions neither', async () => {
    await start({ 'hive.txn.write.acid.version.file': 'false' });
    await write();
    const withVersion = async () => {
      const found: string[] = [];
      for (const folder of await folders()) {
        if ((await filesOf(folder)).some(({ name }) => name === '_orc_acid_version')) found.push(folder);
      }
      return found;
    };
    for (const type of ['minor', 'major']) {
      expect(await withVersion(), type).toEqual([]);
      expect(await rows(session, 'select * from t'), type).toEqual(['1\tz']);
      await compact(type);
    }
    expect(await folders()).toEqual([expect.stringMatching(/^base_/)]);
    expect(await withVersion()).toEqual([]);
    expect(await rows(session, 'select * from t')).toEqual(['1\tz']);
    await run(session, 'set hive.txn.write.acid.version.file=true', "insert into t values (3, 'x')");
    expect(await withVersion()).toEqual([expect.stringMatching(/^delta_/)]);
  });

  it('metastore.compactor.enable.stats.compression=false: what minor compactions write is bare', async () => {
    await start({ 'metastore.compactor.enable.stats.compression': 'false' });
    await write();
    const layouts = async () => {
      const found: string[] = [];
      for (const folder of (await folders()).sort()) {
        const path = (await filesOf(folder)).find(({ name }) => name.startsWith('bucket_'))?.path ?? '';
        const source = await home.services.fs.open(path);
        const { tail, rowIndexStride } = await openOrc(source);
        found.push(`${folder.replace(/_.*/, '')} ${tail.compression} ${rowIndexStride}`);
        await source.close?.();
      }
      return [...new Set(found)];
    };
    expect(await layouts()).toEqual(['delete zlib 10000', 'delta zlib 10000']);
    await compact('minor');
    expect(await states()).toEqual(['t MINOR succeeded']);
    expect(await layouts()).toEqual(['delete none 0', 'delta none 0']);
    expect(await rows(session, 'select * from t')).toEqual(['1\tz']);
    await compact('major');
    expect(await layouts()).toEqual(['base zlib 10000']);
    expect(await rows(session, 'select * from t')).toEqual(['1\tz']);
  });
});

describe('the threads of a metastore', () => {
  const quick = {
    'hive.compactor.check.interval': '100ms',
    'hive.compactor.cleaner.run.interval': '50ms',
    'hive.compactor.worker.sleep.time': '50ms',
    'hive.compactor.delta.num.threshold': '2',
  };
  const fill = () => run(session, ...[1, 2, 3].map((a) => `insert into t values (${a}, 'x')`));
  const until = async (expected: string[]): Promise<string[]> => {
    let seen = await states();
    for (let i = 0; i < 200 && seen.join() !== expected.join(); i++) {
      await sleep(50);
      seen = await states();
    }
    return seen;
  };

  it('compact a table by themselves', async () => {
    await start(quick, true);
    await fill();
    expect((await until(['t MAJOR succeeded']))[0]).toBe('t MAJOR succeeded');
  });

  it.each([
    ['metastore.compactor.initiator.on', 'false', []],
    ['hive.compactor.initiator.on', 'false', []],
    ['metastore.compactor.worker.threads', '0', ['t MAJOR initiated']],
    ['metastore.compactor.cleaner.on', 'false', ['t MAJOR ready for cleaning']],
  ])('%s=%s: that one does not run', async (name, value, end) => {
    await start({ ...quick, [name]: value }, true);
    await fill();
    expect(await until(end)).toEqual(end);
    await sleep(500);
    expect(await states()).toEqual(end);
  });
});
