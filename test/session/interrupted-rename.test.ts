import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { override } from '@skep/core/testing';
import { type Services, Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";

let home: Home;
let session: Session;
beforeEach(async () => {
  home = await freshHome({ backgroundCompaction: false });
  session = home.newSession();
});
afterEach(async () => {
  await home.close();
});

const sessionWith = (services: Partial<Services>): Session =>
  new Session({ ...home.services, ...services }, home.conf.fork());

/** Runs a statement whose process is killed before or after it moves the folder; its transaction times out. */
async function killedAt(statement: string, when: 'before' | 'after'): Promise<void> {
  const { fs, txns } = home.services;
  let tellReached = () => {};
  const reached = new Promise<void>((resolve) => {
    tellReached = resolve;
  });
  const victim = sessionWith({
    fs: {
      ...fs,
      rename: async (from, to) => {
        if (when === 'after') await fs.rename(from, to);
        tellReached();
        await new Promise(() => {});
      },
    },
  });
  const running = run(victim, statement);
  await Promise.race([reached, running]);
  const open = (await txns.showTxns({})).txns.filter(({ state }) => state === 1);
  expect(open).toHaveLength(1);
  await txns.abortTxns({ txnIds: [open[0].txnId], reasonCode: 50004, abortedBy: 'test' });
}

/** The locations of what is in the catalog: nothing is on its way any more. */
async function settled(table: string): Promise<void> {
  const { table: found } = await home.services.catalog.getTable({ database: 'default', name: table });
  const { partitions } = await home.services.catalog.getPartitions({ database: 'default', table, names: [] });
  for (const { parameters } of [found, ...partitions].flatMap((one) => one ?? [])) {
    expect(Object.keys(parameters)).not.toContain('skep.moving');
  }
}

describe.each(['before', 'after'] as const)('kill -9 %s the folder is moved', (when) => {
  it('by a RENAME of a table: the new name, with its rows, write ids and aborted writes', async () => {
    await run(session, `create table t (a int) partitioned by (k int) ${acid}`, 'insert into t values (1, 1), (2, 2)');
    await run(session, 'start transaction', 'insert into t partition (k = 1) values (9)', 'rollback');
    await run(session, "alter table t partition (k = 1) compact 'minor'");
    await killedAt('alter table t rename to u', when);
    expect(await rows(session, 'show tables')).toEqual(['u']);
    // Whoever has the old name has nothing of it.
    await run(session, `create table t (a int) ${acid}`, 'insert into t values (7)');
    expect(await rows(session, 'select * from u order by a')).toEqual(['1\t1', '2\t2']);
    expect(await rows(session, 'select * from t')).toEqual(['7']);
    await run(session, 'update u set a = 3 where a = 2');
    expect(await rows(home.newSession(), 'select a from u order by a')).toEqual(['1', '3']);
    expect(await rows(session, 'select a from t')).toEqual(['7']);
    expect(existsSync(join(home.warehouse, 'u/k=1'))).toBe(true);
    expect((await rows(session, 'show compactions')).join()).toMatch(/default\tu\tk=1/);
    await settled('u');
  });

  it('by a RENAME of an empty table whose name is taken again', async () => {
    await run(session, `create table t (a int) ${acid}`);
    await killedAt('alter table t rename to u', when);
    await run(session, `create table t (a int) ${acid}`, 'insert into t values (7)', 'insert into u values (8)');
    expect([await rows(session, 'select * from t'), await rows(session, 'select * from u')]).toEqual([['7'], ['8']]);
    await settled('u');
  });

  it('by a RENAME of a partition', async () => {
    await run(session, `create table t (a int) partitioned by (k int) ${acid}`, 'insert into t values (1, 1), (2, 2)');
    await killedAt('alter table t partition (k = 1) rename to partition (k = 5)', when);
    expect(await rows(session, 'select * from t order by a')).toEqual(['1\t5', '2\t2']);
    expect(await rows(session, 'show partitions t')).toEqual(['k=2', 'k=5']);
    await run(session, 'delete from t where k = 5');
    expect(await rows(session, 'select * from t')).toEqual(['2\t2']);
    await settled('t');
  });
});

it('a folder that cannot be moved leaves everything under its old name', async () => {
  await run(session, `create table t (a int) partitioned by (k int) ${acid}`, 'insert into t values (1, 1)');
  const failing = sessionWith({
    fs: {
      ...home.services.fs,
      rename: async () => {
        throw new RangeError('the disk is gone');
      },
    },
  });
  await expect(run(failing, 'alter table t rename to u')).rejects.toThrow('the disk is gone');
  await expect(run(failing, 'alter table t partition (k=1) rename to partition (k=2)')).rejects.toThrow('the disk');
  expect(await rows(session, 'show tables')).toEqual(['t']);
  await run(session, 'insert into t values (2, 1)');
  expect(await rows(session, 'select * from t order by a')).toEqual(['1\t1', '2\t1']);
  await settled('t');
});

it('a folder that is there already is not mixed with another', async () => {
  await run(session, `create table t (a int) partitioned by (k int) ${acid}`, 'insert into t values (1, 1)');
  mkdirSync(join(home.warehouse, 'u'));
  await expect(run(session, 'alter table t rename to u')).rejects.toMatchObject({ code: 'PATH_EXISTS' });
  // By copies, too: somebody may still read what had the name before.
  await run(session, 'set hive.acid.renamepartition.makecopy=true');
  await run(session, 'alter table t partition (k = 1) rename to partition (k = 2)');
  await expect(run(session, 'alter table t partition (k = 2) rename to partition (k = 1)')).rejects.toMatchObject({
    code: 'PATH_EXISTS',
  });
  expect(await rows(session, 'select * from t')).toEqual(['1\t2']);
});

it('what was renamed, or dropped and made again, between plan and locks is planned again', async () => {
  await run(session, `create table t (a int) ${acid}`, 'insert into t values (1)');
  const { locks } = home.services;
  let meanwhile: string[] = [];
  const late = sessionWith({
    locks: override(locks, {
      lock: async (request) => {
        await run(session, ...meanwhile.splice(0));
        return await locks.lock(request);
      },
    }),
  });
  meanwhile = ['alter table t rename to u', `create table t (a int) ${acid}`];
  expect(await rows(late, 'select * from t')).toEqual([]);
  meanwhile = ['drop table t', `create table t (a int) ${acid}`];
  await run(late, 'insert into t values (2)');
  expect(await rows(session, 'select * from t')).toEqual(['2']);
  meanwhile = ['alter table t rename to v'];
  await expect(run(late, 'insert into t values (3)')).rejects.toThrow(/Table not found/);
  await run(late, 'start transaction');
  meanwhile = ['alter table v rename to t'];
  expect(await rows(late, 'select * from u')).toEqual(['1']);
  meanwhile = ['alter table t rename to x', `create table t (a int) ${acid}`];
  await run(late, 'insert into t values (4)', 'commit');
  expect([await rows(session, 'select * from t'), await rows(session, 'select * from x')]).toEqual([['4'], ['2']]);
});

it('a transaction that was aborted changes nothing of the catalog any more', async () => {
  await run(session, `create table t (a int) ${acid}`, 'insert into t values (1)');
  const { catalog, txns } = home.services;
  const slow = (method: 'alterTable' | 'dropTable') =>
    sessionWith({
      catalog: override(catalog, {
        [method]: async (request: never) => {
          const { txnId } = (await txns.showTxns({})).txns.find(({ state }) => state === 1) ?? { txnId: 0n };
          await txns.abortTxns({ txnIds: [txnId], reasonCode: 50004, abortedBy: 'test' });
          return await catalog[method](request);
        },
      }),
    });
  await expect(run(slow('alterTable'), 'alter table t rename to u')).rejects.toMatchObject({ code: 'TXN_ABORTED' });
  await expect(run(slow('dropTable'), 'drop table t')).rejects.toMatchObject({ code: 'TXN_ABORTED' });
  expect(await rows(session, 'select * from t')).toEqual(['1']);
});

it('a table gets nothing of what one of its name has left', async () => {
  await run(session, `create table t (a int) ${acid}`, 'insert into t values (1)', 'insert into t values (2)');
  // As if whoever dropped it had been killed before its files were gone.
  renameSync(join(home.warehouse, 't'), join(home.warehouse, 'kept'));
  await run(session, 'drop table t');
  renameSync(join(home.warehouse, 'kept'), join(home.warehouse, 't'));
  await run(session, `create table t (a int) ${acid}`, 'insert into t values (3)', 'insert into t values (4)');
  expect(await rows(session, 'select * from t order by a')).toEqual(['3', '4']);
  // Files that are no other table's are the new one's, as in Hive.
  mkdirSync(join(home.warehouse, 'empty'));
  writeFileSync(join(home.warehouse, 'empty/_marker'), '');
  await run(session, `create table empty (a int) ${acid}`);
  const { table } = await home.services.catalog.getTable({ database: 'default', name: 'empty' });
  expect(table?.sd?.location).toMatch(/\/empty$/);
});
