import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { formatRow, parseTypeName, Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";
const soft = 'set hive.acid.createtable.softdelete=true';
const lockless = 'set hive.acid.lockless.reads.enabled=true';

describe('soft deletes', () => {
  let home: Home;
  let session: Session;
  let other: Session;
  beforeEach(async () => {
    home = await freshHome({ backgroundCompaction: false });
    session = home.newSession();
    other = home.newSession();
    for (const each of [session, other]) await run(each, 'set hive.lock.numretries=1');
  });
  afterEach(async () => {
    await home.close();
  });

  const warehouse = () => home.warehouse.replace(/^file:(\/\/)?/, '');
  const folders = (...path: string[]): string[] => {
    const dir = join(warehouse(), ...path);
    return existsSync(dir) ? readdirSync(dir).sort() : [];
  };
  const clean = async (): Promise<number> => await home.compactor.runCleanerOnce();
  const compactions = async (): Promise<string[]> => {
    const { compactions: all } = await home.services.compactions.showCompactions({ limit: 0n });
    return all.map(({ table, partition, state, errorMessage }) =>
      [table, partition ?? '-', state === 5 ? 'succeeded' : state === 3 ? 'ready' : state, errorMessage]
        .join(' ')
        .trim(),
    );
  };
  /** A query that has begun; `rest` are its rows, when they are asked for. */
  const begin = async (query: string): Promise<{ rest(): Promise<string[]> }> => {
    const { columns, batches } = await other.execute(query);
    const types = (columns ?? []).map((column) => parseTypeName(column.type));
    return {
      async rest() {
        const lines: string[] = [];
        for await (const batch of batches ?? []) {
          for (let row = 0; row < batch.length; row++) lines.push(formatRow(types, batch, row));
        }
        return lines;
      },
    };
  };

  describe('a reader without locks', () => {
    beforeEach(async () => {
      for (const each of [session, other]) await run(each, lockless);
      await run(session, `create table t (a int) ${acid}`, 'insert into t values (1)', 'insert into t values (2)');
      await run(session, `create table p (a int) partitioned by (k int, l string) ${acid}`);
      await run(session, "insert into p values (1,1,'x'),(2,2,'x'),(3,1,'y')");
    });

    it('keeps what it reads when the table is dropped and made again; the folder goes when it has ended', async () => {
      const before = folders().filter((name) => name.startsWith('t.v'));
      const reader = await begin('select a from t order by a');
      expect((await home.services.locks.showLocks({})).locks).toEqual([]);
      await run(session, 'drop table t');
      await expect(rows(session, 'select * from t')).rejects.toMatchObject({ hiveCode: 10001 });
      await run(session, `create table t (a int) ${acid}`, 'insert into t values (10)');
      expect(await clean()).toBe(0);
      expect(folders()).toEqual(expect.arrayContaining(before));
      expect(await reader.rest()).toEqual(['1', '2']);
      expect(await clean()).toBe(1);
      expect(folders()).not.toEqual(expect.arrayContaining(before));
      expect(folders().filter((name) => name.startsWith('t.v'))).toHaveLength(1);
      expect(await rows(session, 'select a, ROW__ID from t')).toEqual([
        '10\t{"writeid":3,"bucketid":536870912,"rowid":0}',
      ]);
    });

    it.each([
      ['dropped', "alter table p drop partition (k=1, l='x')", ['2\t2\tx', '3\t1\ty']],
      [
        'renamed',
        "alter table p partition (k=1, l='x') rename to partition (k=9, l='z')",
        ['1\t9\tz', '2\t2\tx', '3\t1\ty'],
      ],
      ['truncated', "truncate table p partition (k=1, l='x')", ['2\t2\tx', '3\t1\ty']],
    ])('keeps what it reads of a partition that is %s', async (_, statement, after) => {
      const reader = await begin('select * from p order by a');
      await run(session, statement);
      expect(await rows(session, 'select * from p order by a')).toEqual(after);
      await clean();
      expect(await reader.rest()).toEqual(['1\t1\tx', '2\t2\tx', '3\t1\ty']);
      await clean();
      expect(await rows(session, 'select * from p order by a')).toEqual(after);
    });

    it('keeps what it reads when the database is dropped; its folder goes with the last table', async () => {
      await run(session, 'create database d', 'use d', `create table t (a int) ${acid}`, 'insert into t values (5)');
      const reader = await begin('select * from d.t');
      await run(session, 'drop database d cascade');
      expect(await rows(session, 'show databases')).toEqual(['default']);
      expect(await clean()).toBe(0);
      expect(await reader.rest()).toEqual(['5']);
      expect(await clean()).toBe(1);
      expect(existsSync(join(warehouse(), 'd.db'))).toBe(false);
    });

    /** Does something just before the next snapshot is taken: what the statement was planned with is old then. */
    const sessionWith = async (beforeSnapshot: () => Promise<void>): Promise<Session> => {
      const { txns } = home.services;
      let isNext = false;
      const getValidTxns: typeof txns.getValidTxns = async (request) => {
        if (isNext) {
          isNext = false;
          await beforeSnapshot();
        }
        return await txns.getValidTxns(request);
      };
      const get = (target: object, name: string | symbol) => {
        const member: unknown = name === 'getValidTxns' ? getValidTxns : Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      };
      const made = new Session({ ...home.services, txns: new Proxy(txns, { get }) }, home.conf.fork());
      await run(made, lockless);
      isNext = true;
      return made;
    };

    it.each([
      ['dropped', "alter table p drop partition (k=1, l='x')", ['2\t2\tx', '3\t1\ty']],
      [
        'renamed',
        "alter table p partition (k=1, l='x') rename to partition (k=9, l='z')",
        ['1\t9\tz', '2\t2\tx', '3\t1\ty'],
      ],
    ])('plans anew when a partition is %s before it begins', async (_, statement, after) => {
      const reading = await sessionWith(() => run(session, statement));
      expect(await rows(reading, 'select * from p order by a')).toEqual(after);
      await reading.close();
    });

    it('says so when the table is dropped before it begins, also one that goes at once', async () => {
      await run(session, 'set hive.acid.lockless.reads.enabled=false', `create table hard (a int) ${acid}`);
      await run(session, 'insert into hard values (1)', lockless);
      for (const name of ['t', 'hard']) {
        const reading = await sessionWith(() => run(session, `drop table ${name}`));
        await expect(rows(reading, `select * from ${name}`)).rejects.toMatchObject({ hiveCode: 10001 });
        await reading.close();
      }
    });

    it('is waited for by what would take its files away: that is refused', async () => {
      await expect(run(session, "alter table t set location 'file:/tmp/x'")).rejects.toThrow(/SET LOCATION/);
      await expect(run(session, 'alter table t skewed by (a) on (1)')).rejects.toThrow(/SKEWED BY/);
      await run(session, 'create table plain (a int)', "alter table plain set location 'file:/tmp/x'");
    });
  });

  it('a partition that was dropped comes back empty, whatever else is in its folder', async () => {
    await run(session, 'set hive.acid.droppartition.usebase=true');
    await run(session, `create table p (a int) partitioned by (k int) ${acid}`, 'insert into p values (1,1),(2,2)');
    await run(session, 'update p set a = 11 where k = 1', 'alter table p drop partition (k=1)');
    await run(session, 'alter table p add partition (k=1)');
    expect(await rows(session, 'select * from p')).toEqual(['2\t2']);
    await run(session, 'insert into p values (3,1)');
    await clean();
    expect(await rows(session, 'select * from p order by a')).toEqual(['2\t2', '3\t1']);
    expect(folders('p', 'k=1')).toEqual(['base_0000003', 'delta_0000005_0000005_0000']);
  });

  it('an INSERT waits for a drop, a copy or a rename that it may not see', async () => {
    await run(session, `create table p (a int) partitioned by (k int) ${acid}`, 'insert into p values (1,1)');
    for (const name of ['hive.acid.droppartition.usebase', 'hive.acid.renamepartition.makecopy']) {
      await run(session, `set ${name}=true`);
      expect(await rows(session, 'explain locks insert into p values (1,1)')).toContain('default.p -> SHARED_WRITE');
      await run(session, `set ${name}=false`);
    }
    expect(await rows(session, 'explain locks insert into p values (1,1)')).toContain('default.p -> SHARED_READ');
  });

  it('a renamed partition’s copy has what was committed, and nothing of what was aborted or is being compacted', async () => {
    await run(session, 'set hive.acid.renamepartition.makecopy=true');
    await run(session, `create table p (a int) partitioned by (k int) ${acid}`, 'insert into p values (1,1)');
    const { txns } = home.services;
    const who = { user: 'bob', host: 'web', agentInfo: '' };
    const compaction = (await txns.openTxns({ count: 1, ...who, type: 3 })).txnIds[0];
    const aborted = (await txns.openTxns({ count: 1, ...who, type: 0 })).txnIds[0];
    const resource = { database: 'default', table: 'p' };
    await txns.allocateTableWriteIds({ txnIds: [aborted], ...resource, reallocate: false });
    const component = { resource: { ...resource, partition: 'k=1' }, operation: 2, isDynamicPartitionWrite: false };
    await txns.addWriteComponents({ txnId: aborted, components: [component] });
    await txns.abortTxns({ txnIds: [aborted], reasonCode: 50005 });
    const half = `base_0000001_v${String(compaction).padStart(7, '0')}`;
    for (const name of [half, 'delta_0000002_0000002_0000']) mkdirSync(join(warehouse(), 'p', 'k=1', name));
    await run(session, 'alter table p partition (k=1) rename to partition (k=2)');
    expect(folders('p', 'k=2')).toEqual(['delta_0000001_0000001_0000']);
    expect(folders('p', 'k=1')).toContain('base_0000003');
    await txns.commitTxn({ txnId: compaction });
    expect(await rows(session, 'select * from p')).toEqual(['1\t2']);
    await clean();
    expect(folders('p')).toEqual(['k=2']);
  });

  it('a table takes the name of one that was dropped, with its own rows and write ids', async () => {
    await run(session, soft, `create table t (a int) ${acid}`, 'insert into t values (1)', 'drop table t');
    await run(session, `create table u (a int) ${acid}`, 'insert into u values (2)', 'alter table u rename to t');
    await run(session, 'insert into t values (3)');
    expect(await rows(session, 'select a from t order by a')).toEqual(['2', '3']);
    await clean();
    expect(await rows(session, 'select a from t order by a')).toEqual(['2', '3']);
    expect(folders().filter((name) => name.includes('.v'))).toEqual([expect.stringMatching(/^u\.v/)]);
    expect(await compactions()).toEqual(['t - succeeded']);
  });

  it('of a materialized view, and of a table made by a query, alike', async () => {
    await run(session, soft, `create table t (a int) ${acid}`, 'insert into t values (1)');
    await run(session, `create table c ${acid} as select * from t`);
    await run(session, `create materialized view mv ${acid} as select * from t`);
    expect(folders()).toEqual(['c', 'mv', 't'].map((name) => expect.stringMatching(new RegExp(`^${name}\\.v\\d{7}$`))));
    await run(session, 'drop materialized view mv', 'drop table c');
    expect(folders()).toHaveLength(3);
    expect(await clean()).toBe(2);
    expect(folders()).toHaveLength(1);
  });

  it('does not concern temporary, plain and external tables, nor one that was moved elsewhere', async () => {
    await run(session, soft, 'create table plain (a int)', 'create external table e (a int)');
    await run(session, `create temporary table tmp (a int) ${acid}`, `create table t (a int) ${acid}`);
    expect(folders()).toEqual(expect.arrayContaining(['e', 'plain', expect.stringMatching(/^t\.v/)]));
    await run(session, 'drop table tmp', 'drop table plain', 'drop table e');
    expect(folders()).toEqual(expect.arrayContaining(['e']));
    await run(session, `alter table t set location 'file:${warehouse()}/elsewhere'`, 'insert into t values (1)');
    expect(await rows(session, 'explain locks drop table t')).toContain('default.t -> EXCLUSIVE');
    await run(session, 'drop table t');
    expect(folders()).not.toContain('elsewhere');
    expect(await compactions()).toEqual([]);
  });

  it('a drop that the catalog refuses leaves everything as it was', async () => {
    await run(session, soft, `create table t (a int) ${acid}`, 'insert into t values (1)');
    const { catalog } = home.services;
    const dropTable = catalog.dropTable.bind(catalog);
    catalog.dropTable = async () => {
      throw new Error('the catalog is away');
    };
    await expect(run(session, 'drop table t')).rejects.toThrow('the catalog is away');
    catalog.dropTable = dropTable;
    await clean();
    expect(await rows(session, 'select * from t')).toEqual(['1']);
    expect((await compactions())[0]).toContain('was not dropped');
    await run(session, 'drop table t');
    expect(await clean()).toBe(1);
    expect(folders()).toEqual([]);
  });

  it('a CREATE TABLE that the catalog refuses leaves no folder', async () => {
    await run(session, soft, `create table t (a int) ${acid}`);
    const { catalog } = home.services;
    const createTable = catalog.createTable.bind(catalog);
    catalog.createTable = async () => {
      throw new Error('another was faster');
    };
    await expect(run(session, `create table u (a int) ${acid}`)).rejects.toThrow('another was faster');
    catalog.createTable = createTable;
    expect(folders()).toEqual([expect.stringMatching(/^t\.v/)]);
  });

  it('EXPLAIN LOCKS changes nothing', async () => {
    await run(session, `create table p (a int) partitioned by (k int) ${acid}`, 'insert into p values (1,1)');
    for (const statement of [
      'drop table p',
      'truncate table p',
      'alter table p drop partition (k=1)',
      'alter table p rename to q',
      "alter table p compact 'major'",
      'drop database default cascade',
      'create table n (a int)',
      `create table c ${acid} as select * from p`,
    ]) {
      const lines = await rows(session, `explain locks ${statement}`).catch((error: unknown) => [String(error)]);
      expect(lines[0]).toMatch(/^LOCK INFORMATION:|Can not drop default/);
    }
    expect(await rows(session, 'show tables')).toEqual(['p']);
    expect(await rows(session, 'select * from p')).toEqual(['1\t1']);
    expect((await home.services.txns.showTxns({})).txns.filter((txn) => txn.state === 1)).toEqual([]);
    expect((await home.services.locks.showLocks({})).locks).toEqual([]);
    expect(await compactions()).toEqual([]);
  });

  it('TRUNCATE without a base waits for readers, and removes the files at once', async () => {
    await run(session, `create table t (a int) ${acid}`, 'insert into t values (1)');
    await run(session, 'set hive.acid.truncate.usebase=false');
    const reader = await begin('select * from t');
    await expect(run(session, 'truncate table t')).rejects.toMatchObject({ hiveCode: 10307 });
    expect(await reader.rest()).toEqual(['1']);
    await run(session, 'truncate table t');
    expect(folders('t')).toEqual([]);
    await run(session, 'insert into t values (2)', 'delete from t');
    expect(folders('t')).toEqual([]);
    expect(await rows(session, 'select * from t')).toEqual([]);
  });
});
