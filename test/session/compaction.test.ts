import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";

describe('compaction statements', () => {
  let home: Home;
  let session: Session;
  beforeEach(async () => {
    home = await freshHome();
    session = home.newSession();
  });
  afterEach(async () => {
    await home.close();
  });

  /** Of SHOW COMPACTIONS, without its heading: the columns by number. */
  const shown = async (statement: string, ...columns: number[]) =>
    (await rows(session, statement)).slice(1).map((row) => columns.map((i) => row.split('\t')[i]).join(' '));
  const work = async () => {
    while (await home.compactor.runWorkerOnce());
  };
  const messagesOf = async (statement: string) => (await session.execute(statement)).messages ?? [];

  it('of a whole partitioned table asks for the partitions that are due, by the thresholds', async () => {
    await run(
      session,
      `create table p (a int) partitioned by (k int) ${acid}`,
      "alter table p set tblproperties ('compactorthreshold.hive.compactor.delta.num.threshold'='2')",
      'insert into p partition (k=1) values (1)',
      ...[1, 2, 3].map((a) => `insert into p partition (k=2) values (${a})`),
    );
    const messages = await messagesOf("alter table p compact 'minor'");
    expect(messages).toEqual([
      expect.stringMatching(
        /^No compaction of default\.p partition k=1: not due: 1 delta folder \(more than 2 are compacted\)/,
      ),
      'Compaction enqueued with id 1',
    ]);
    // Without a base it is a major one, whatever was asked for.
    expect(await shown('show compactions', 3, 4, 5)).toEqual(['k=2 MAJOR initiated']);
    await run(session, "alter table p partition (k=1) compact 'minor'");
    expect(await shown('show compactions p partition (k=1)', 4)).toEqual(['MINOR']);
  });

  it('REBALANCE spreads and sorts; refusals say why', async () => {
    await run(
      session,
      `create table t (a int, b string) ${acid}`,
      "insert into t values (3, 'x'), (1, 'y'), (2, 'z')",
      "insert into t values (5, 'u'), (4, 'v')",
      "alter table t compact 'rebalance' clustered into 2 buckets order by a desc",
    );
    await work();
    expect(await shown('show compactions', 4, 5)).toEqual(['REBALANCE ready for cleaning']);
    expect(await rows(session, 'select row__id.bucketid, row__id.rowid, a from t order by a desc')).toEqual([
      '536870912\t0\t5',
      '536870912\t1\t4',
      '536870912\t2\t3',
      '536936448\t3\t2',
      '536936448\t4\t1',
    ]);
    await home.compactor.runCleanerOnce();
    expect(readdirSync(join(home.warehouse, 't')).filter((name) => !name.startsWith('base_'))).toEqual([]);
    const bad = "alter table t compact 'rebalance' order by c";
    await expect(session.execute(bad)).rejects.toMatchObject({
      hiveCode: 10004,
      message: expect.stringMatching(/a, b$/),
    });
    await expect(session.execute("alter table t compact 'rebalance' clustered into 0 buckets")).rejects.toThrow(
      /at least 1/,
    );
    expect(await messagesOf("alter table t compact 'major' clustered into 2 buckets order by a")).toContain(
      'CLUSTERED INTO and ORDER BY: only a rebalance compaction goes by it',
    );
    await run(session, `create table c (a int) clustered by (a) into 2 buckets ${acid}`, 'insert into c values (1)');
    await run(session, "alter table c compact 'rebalance'");
    await work();
    expect(await shown('show compactions c', 5, 12)).toEqual([
      'refused Cannot execute rebalancing compaction on bucketed tables.',
    ]);
  });

  it('SHOW COMPACTIONS says for whom the Cleaner waits', async () => {
    await run(session, `create table t (a int) ${acid}`, 'insert into t values (1)', 'insert into t values (2)');
    const reader = home.newSession();
    await run(reader, 'start transaction', 'select * from t');
    await run(session, "alter table t compact 'major'");
    await work();
    await home.compactor.runCleanerOnce();
    expect(await shown('show compactions', 5, 12)).toEqual([
      expect.stringMatching(/^ready for cleaning Cleaner waits for transaction \d+ of \S+@\S+, open since \d{4}-\S+Z$/),
    ]);
    await run(reader, 'commit');
    expect(await shown('show compactions', 5, 12)).toEqual(['ready for cleaning  --- ']);
    await home.compactor.runCleanerOnce();
    expect(await shown('show compactions', 5)).toEqual(['succeeded']);
  });

  it('SHOW COMPACTIONS filters, orders and limits; ABORT COMPACTIONS answers for each', async () => {
    await run(session, 'create database d', `create table t (a int) ${acid}`, `create table d.u (a int) ${acid}`);
    for (const table of ['t', 'd.u'])
      await run(session, `insert into ${table} values (1)`, `insert into ${table} values (2)`);
    await run(session, "alter table t compact 'major' pool 'big'", "alter table d.u compact 'minor'");
    expect(await shown('show compactions', 0, 15)).toEqual(['1 big', '2 default']);
    expect(await shown('show compactions database d', 0)).toEqual(['2']);
    expect(await shown("show compactions t pool 'big' type 'MAJOR' status 'initiated'", 0)).toEqual(['1']);
    expect(await shown("show compactions type 'minor'", 0)).toEqual(['2']);
    expect(await shown('show compactions order by tabname desc limit 1', 0)).toEqual(['2']);
    expect(await shown('show compactions compactionid = 2', 2)).toEqual(['u']);
    await expect(session.execute("show compactions type 'huge'")).rejects.toThrow(/Unexpected compaction type/);
    await expect(session.execute("show compactions status 'lost'")).rejects.toThrow(/Unexpected compaction state/);
    // A Worker of the default pool leaves it.
    await work();
    expect(await shown('show compactions', 0, 5)).toEqual(['1 initiated', '2 ready for cleaning']);
    const answers = (await rows(session, 'abort compactions 1 2 9')).slice(1);
    expect(answers.map((row) => row.split('\t').slice(0, 2).join(' '))).toEqual(['1 Success', '2 Error', '9 Error']);
    expect(await shown('show compactions t', 5, 12)).toEqual(['aborted Compaction aborted by user']);
  });

  it('a minor compaction of update events of ACID version 1 is refused with the reason, a major one done', async () => {
    await run(session, `create table t (a int, b string) ${acid}`);
    const recorded = new URL('../golden/recorded/hive-2.3.9/update_events', import.meta.url).pathname;
    cpSync(recorded, join(home.warehouse, 't'), { recursive: true });
    await run(session, 'msck repair table t');
    const before = (await rows(session, 'select * from t')).sort();
    expect(before.length).toBeGreaterThan(0);
    await run(session, "alter table t compact 'minor'");
    await work();
    expect(await shown('show compactions', 5, 12)).toEqual([
      expect.stringMatching(
        /^refused \S+ holds update events of ACID version 1, which only a major compaction can rewrite: ask for a major/,
      ),
    ]);
    expect(readdirSync(join(home.warehouse, 't')).filter((name) => /_v\d/.test(name))).toEqual([]);
    await run(session, "alter table t compact 'major'");
    await work();
    expect((await rows(session, 'select * from t')).sort()).toEqual(before);
  });

  it('ABORT TRANSACTIONS tells the victim who did it', async () => {
    await run(session, `create table t (a int) ${acid}`);
    const victim = home.newSession();
    await run(victim, 'start transaction', 'insert into t values (1)');
    const [txnId] = (await rows(session, 'show transactions')).slice(1).map((row) => row.split('\t')[0]);
    await run(session, `abort transactions ${txnId}`);
    await expect(run(victim, 'insert into t values (2)')).rejects.toThrow(/abort by query command at \S+Z: \S+@\S+/);
    await run(victim, 'rollback');
  });

  it('a statement holds back the Cleaner in its own tables only, with hive.txn.use.minhistorywriteid (B68)', async () => {
    await home.close();
    home = await freshHome({ hiveconf: { 'hive.txn.use.minhistorywriteid': 'true' } });
    session = home.newSession();
    for (const table of ['x', 'y']) {
      await run(session, `create table ${table} (a int) ${acid}`);
      await run(session, `insert into ${table} values (1)`, `insert into ${table} values (2)`);
    }
    const reading = await home.newSession().execute('select * from x');
    const first = await reading.batches?.[Symbol.asyncIterator]().next();
    expect(first?.done).toBe(false);
    for (const table of ['x', 'y']) await run(session, `alter table ${table} compact 'major'`);
    await work();
    await home.compactor.runCleanerOnce();
    expect(await shown('show compactions y', 5)).toEqual(['succeeded']);
    expect(await shown('show compactions x', 5, 12)).toEqual([
      expect.stringMatching(/^ready for cleaning Cleaner waits for transaction/),
    ]);
  });
});
