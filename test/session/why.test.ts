import { CompactionState } from '@skep/rpc';
import type { Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WhySubject, whyLines } from '../../apps/cli/src/commands/why.js';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

/** `skep why` in situations as they come about. */
let home: Home;
let session: Session;
const acid = "stored as orc tblproperties ('transactional'='true')";

beforeEach(async () => {
  home = await freshHome();
  session = home.newSession();
  await run(session, `create table t (a int, b int) ${acid}`, 'insert into t values (1, 1)');
});
afterEach(() => home.close());

const why = async (subject: WhySubject, name: string | bigint | undefined, partition?: string) =>
  (await whyLines(home.services, subject, String(name), partition)).join('\n');

describe('a transaction', () => {
  it('that is open says since when, what it holds and whom it blocks', async () => {
    const other = home.newSession();
    await run(session, 'start transaction', 'update t set b = 2');
    const holder = session.openTransaction?.txnId;
    await run(other, 'start transaction', 'set hive.lock.numretries=1', 'set hive.lock.sleep.between.retries=50ms');
    const waiter = other.openTransaction?.txnId;
    const waiting = run(other, 'update t set b = 3').catch((error: unknown) => error);
    let text = '';
    for (let tries = 0; tries < 50 && !text.includes('waits for'); tries++) {
      await home.services.clock.sleep(20);
      text = await why('txn', waiter);
    }
    expect(text).toMatch(new RegExp(`^txnid:${waiter} is open: opened 20\\d\\d-.* by .*@.*\\.$`, 'm'));
    expect(text).toMatch(
      /EXCL_WRITE on default\.t of txnid:\d+ .*: waits for lockid:\d+\.1; its transaction is open since/,
    );
    expect(text).toMatch(
      new RegExp(`^  lockid:\\d+\\.1, EXCL_WRITE on default\\.t of txnid:${holder} \\(.*held since`, 'm'),
    );
    const { locks } = await home.services.locks.showLocks({});
    const lock = locks.find(({ txnId, acquiredAtMs }) => txnId === waiter && acquiredAtMs === undefined);
    expect(await why('lock', lock?.lockId)).toMatch(new RegExp(`waits for[\\s\\S]*of txnid:${holder}`));
    expect(await why('txn', `txnid:${holder}`)).toContain(
      `It is in the way of lockid:${lock?.lockId} of txnid:${waiter}.`,
    );
    expect(String(await waiting)).toMatch(/lock/i);
    await run(session, 'commit');
    await run(other, 'rollback');
    expect(await why('txn', holder)).toBe(`txnid:${holder} is committed.`);
    expect(await why('txn', waiter)).toMatch(/was aborted: rollback/);
    await run(session, 'start transaction', 'update t set b = 4');
    const last = session.openTransaction?.txnId ?? 0n;
    await expect(run(other, 'update t set b = 5')).rejects.toThrow(/timed out/);
    // There is room for little: who was in the way is in it.
    expect(await why('txn', last + 1n)).toMatch(new RegExp(`rollback at .*held by lockid:\\d+\\.1 of txnid:${last} `));
    await run(session, 'rollback');
    expect(await why('lock', lock?.lockId)).toContain('is not there');
  });

  it('that lost a write conflict says to whom', async () => {
    const other = home.newSession();
    for (const one of [session, other]) await run(one, 'set hive.txn.xlock.write=false', 'start transaction');
    await run(session, 'update t set b = 2');
    await run(other, 'update t set b = 3');
    const [winner, loser] = [session.openTransaction?.txnId, other.openTransaction?.txnId];
    await run(session, 'commit');
    await expect(run(other, 'commit')).rejects.toThrow();
    expect(await why('txn', loser)).toMatch(new RegExp(`was aborted: write conflicts at .*txnid:${winner} committed`));
  });

  it('that was rolled back because of an error says which', async () => {
    const failing = run(session, 'alter table t add columns (c int, c int)');
    await expect(failing).rejects.toThrow(/Duplicate column name: c/);
    const aborted = (await home.services.txns.showTxns({})).txns.at(-1);
    expect(await why('txn', aborted?.txnId)).toMatch(
      new RegExp(`^txnid:${aborted?.txnId} was aborted: rollback at 20.*Z: .*Duplicate column name: c`),
    );
    // As Hive does, it is soon shown no more, but it can still be asked about.
    await run(session, 'select 1 from t');
    await home.services.clock.sleep(1100);
    await home.services.txns.runHousekeeping({ abortDeadHolders: false });
    expect((await home.services.txns.showTxns({})).txns).toEqual([]);
    expect(await why('txn', aborted?.txnId)).toContain('Duplicate column name: c');
  });

  it('that is not known says so', async () => {
    expect(await why('txn', 4711)).toMatch(/txnid:4711 is not known/);
    await expect(why('txn', 'x')).rejects.toThrow(/'x' is no id/);
  });
});

describe('a compaction', () => {
  const newest = async () => {
    const { compactions } = await home.services.compactions.showCompactions({ limit: 0n });
    return compactions.map(({ id }) => id).sort((a, b) => (a > b ? -1 : 1))[0];
  };

  it('says what it waits for at each step, and who holds the Cleaner up', async () => {
    await run(session, 'insert into t values (2, 2)', "alter table t compact 'major'");
    const id = await newest();
    expect(await why('compaction', id)).toMatch(
      /\(major\) of default\.t: initiated\.[\s\S]*waits for a Worker of the default pool; 0/,
    );
    expect(await why('table', 'default.t')).toContain(`Compaction ${id} (major) of default.t: initiated.`);
    const reader = home.newSession();
    await run(reader, 'start transaction', 'select * from t');
    const txnId = reader.openTransaction?.txnId;
    await home.compactor.runWorkerOnce();
    await home.compactor.runCleanerOnce();
    const text = await why('compaction', id);
    expect(text).toContain('ready for cleaning');
    expect(text).toMatch(new RegExp(`The Cleaner waits for txnid:${txnId} of .*@.*, open since 20\\d\\d-`));
    expect(await why('txn', txnId)).toContain('The Cleaner waits for its end');
    await run(reader, 'commit');
    await home.compactor.runCleanerOnce();
    expect(await why('compaction', id)).toMatch(/succeeded\.[\s\S]*Ended 20\d\d-/);
  });

  it('of a pool without Workers says when others may take it, and why one gave it up', async () => {
    await run(session, 'insert into t values (2, 2)', "alter table t compact 'major' pool 'big'");
    const id = await newest();
    expect(await why('compaction', id)).toMatch(
      /waits for a Worker of the pool big; 0[\s\S]*No Worker of that pool is at work[\s\S]*the default pool may take it in 1[12] h/,
    );
    const asked = { workerId: 'w-1', workerVersion: '', poolName: 'big' };
    const { job } = await home.services.compactions.findNextCompact(asked);
    expect(await why('compaction', id)).toMatch(/working\.[\s\S]*w-1 works at it since/);
    const state = CompactionState.COMPACTION_STATE_INITIATED;
    await home.services.compactions.finishCompaction({ id: job?.id ?? 0n, state, errorMessage: 'given up by w-1: no' });
    expect(await why('compaction', id)).toContain('Before: given up by w-1: no');
  });

  it('of a dropped table says whose reading keeps its folder', async () => {
    await run(session, 'set hive.acid.lockless.reads.enabled=true', `create table s (a int) ${acid}`);
    const reader = home.newSession();
    await run(reader, 'start transaction', 'select * from t');
    const txnId = reader.openTransaction?.txnId;
    await run(session, 'drop table s');
    const text = await why('compaction', await newest());
    expect(text).toMatch(
      /^Request \d+ of the drop of default\.s, whose folder \S+\/s\.v\d{7} the Cleaner removes: ready/,
    );
    expect(text).toMatch(
      new RegExp(`The Cleaner waits for txnid:${txnId} of .*: it may still read the files that were dropped`),
    );
    await run(reader, 'commit');
    await home.compactor.runCleanerOnce();
    expect(await why('compaction', await newest())).toMatch(/succeeded/);
  });

  it('that was put off says because of what, and when it is looked at again', async () => {
    await run(session, "alter table t compact 'rebalance'");
    const asked = { workerId: 'w-1', workerVersion: '', poolName: '' };
    const { job } = await home.services.compactions.findNextCompact(asked);
    const state = CompactionState.COMPACTION_STATE_INITIATED;
    const id = job?.id ?? 0n;
    await home.services.compactions.finishCompaction({ id, state, errorMessage: 'a write is open', restMs: 50_000n });
    expect(await why('compaction', id)).toMatch(/It was put off: a write is open\.\nA Worker looks again in \d+ s\./);
    expect((await home.services.compactions.findNextCompact(asked)).job).toBeUndefined();
  });

  it('that was refused, failed or aborted says why', async () => {
    await run(session, "alter table t compact 'major'");
    await home.compactor.runWorkerOnce();
    expect(await why('compaction', await newest())).toMatch(
      /refused\.[\s\S]*Because: None of the compaction thresholds met/,
    );
    await run(session, 'insert into t values (2, 2)', "alter table t compact 'minor'");
    const id = await newest();
    await run(session, `abort compactions ${id}`);
    expect(await why('compaction', id)).toMatch(/aborted\.[\s\S]*Because: Compaction aborted by user/);
    expect(await why('compaction', 99)).toMatch(/There is no compaction 99/);
  });

  it('that removes what aborted transactions wrote says why it could not, and when it tries again', async () => {
    const retry = { id: 0n, retryRetentionMs: 300_000n, errorMessage: 'Cleaner of aborts: default.t: disk' };
    await home.services.compactions.setCleanerRetry({ ...retry, database: 'default', table: 't' });
    const { compactions } = await home.services.compactions.showCompactions({ limit: 0n });
    const text = await why('compaction', compactions[0].id);
    expect(text).toMatch(/^Compaction \d+ \(abort cleanup\) of default\.t: ready for cleaning\.$/m);
    expect(text).toMatch(/^What aborted transactions wrote could not be removed, first 20.* ago\)\.$/m);
    expect(text).toContain('The Cleaner failed: Cleaner of aborts: default.t: disk');
    expect(text).toMatch(/^The Cleaner takes it up again in \d+ (s|min)\.$/m);
    expect(text).not.toContain('1970');
    expect(await why('table', 't')).toContain(text);
    const [, row] = await rows(session, "show compactions t type 'abort_txn_cleanup'");
    expect(row.split('\t').slice(4, 9)).toEqual(['ABORT_TXN_CLEANUP', 'ready for cleaning', ' --- ', ' --- ', ' --- ']);
  });
});

describe('a table', () => {
  it('says why nobody compacts it, and what would be due', async () => {
    expect(await why('table', 't')).toMatch(/It is not due: 1 delta folder \(more than 10 are compacted\)/);
    await run(
      session,
      "alter table t set tblproperties ('no_auto_compaction'='true', 'compactorthreshold.hive.compactor.delta.num.threshold'='1')",
    );
    await run(session, 'insert into t values (2, 2)');
    const text = await why('table', 'default.t');
    expect(text).toContain('default.t has no_auto_compaction=true: the Initiator leaves it alone.');
    expect(text).toMatch(/It would be due for a major compaction: [^.]*\.$/m);
    await run(session, "alter table t set tblproperties ('no_auto_compaction'='false')");
    expect(await why('table', 't')).toMatch(/It is due for a major compaction: .*\. The Initiator looks every 300s/);
    await run(session, "alter table t set tblproperties ('hive.repl.first.inc.pending'='true')");
    expect(await why('table', 't')).toContain('default.t is a replica that waits for its first incremental load');
    await run(
      session,
      "alter table t set tblproperties ('compactorthreshold.hive.compactor.delta.num.threshold'='some')",
    );
    expect(await why('table', 't')).toContain('delta.num.threshold must be a number, not');
    await run(session, 'create table plain (a int)');
    expect(await why('table', 'plain')).toContain('default.plain is not transactional');
    await expect(why('table', 'nosuch')).rejects.toThrow(/nosuch/);
  });

  it('with partitions answers for each, or for one; and who has locks on it', async () => {
    await run(session, `create table p (a int) partitioned by (k int) ${acid}`, 'insert into p values (1, 1), (2, 2)');
    const all = await why('table', 'default.p');
    expect(all).toContain('default.p/k=1:');
    expect(all).toContain('default.p/k=2:');
    expect(await why('table', 'default.p', 'k=2')).not.toContain('k=1');
    await expect(why('table', 'default.p', 'k=3')).rejects.toThrow(/has no partition k=3/);
    await run(session, 'start transaction', 'select * from p where k = 1');
    expect(await why('table', 'default.p')).toMatch(
      /Locks:\n {2}lockid:\d+\.\d+, SHARED_READ on default\.p.*: held since/,
    );
    await run(session, 'rollback');
  });
});
