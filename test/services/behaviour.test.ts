import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Processes, type Running, until } from './processes.js';

/** What a user of several processes sees of transactions, locks and compactions; Hive's own intervals unless it says otherwise. */
const acid = "stored as orc tblproperties ('transactional'='true')";
let skep: Processes;
let folder: string;
let db: string;

beforeAll(async () => {
  skep = await Processes.open({ SKEP_CONF_hive_compactor_worker_sleep_time: '10800ms' });
}, 60_000);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skep-behaviour-'));
  db = `sqlite:${folder}/metastore.db`;
});
afterEach(() => {
  skep.endAll();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(() => skep?.endAll());

const log = () => join(folder, 'metastore.log');
const metastore = (...more: string[]): Promise<Running> =>
  skep.start(['metastore', '--db', db, '--listen', '127.0.0.1:0', '--log-file', log(), ...more]);

type Line = Readonly<Record<string, string | number>>;
const lines = (message: string): Line[] =>
  readFileSync(log(), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.message === message);

async function sql(address: string, statements: string, ...more: string[]): Promise<string> {
  const { code, out, err } = await skep.run(['--metastore', address, ...more, '-e', statements]);
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  return out;
}
const cells = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((row) => row.split('\t'));

describe('Workers elsewhere', { timeout: 180_000 }, () => {
  it('begin a compaction as soon as it is asked for, and ask rarely while nobody does', async () => {
    const { address } = await metastore('--log-level', 'debug');
    const compactor = await skep.start(
      ['compactor', '--metastore', address, '--hiveconf', 'hive.compactor.worker.threads=2'],
      { SKEP_CONF_hive_compactor_check_interval: '1h' },
    );
    expect(compactor.text().out).toContain('ready: 2 thread(s), metastore');
    const other = [
      '--hiveconf',
      'hive.compactor.worker.threads=0',
      '--hiveconf',
      'hive.compactor.worker.big.threads=1',
    ];
    const ofPool = await skep.start(['compactor', '--metastore', address, ...other]);
    expect(ofPool.text().out).toContain('ready: 0 thread(s), 1 of pool big, metastore');
    const none = await skep.run(['compactor', '--metastore', address, ...other.slice(0, 2)]);
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('leaves no Worker to run') });
    await sql(address, `create table t (id int) ${acid}; insert into t values (1); insert into t values (2)`);
    await sql(address, "alter table t compact 'minor' and wait; insert into t values (3)");
    await sql(address, "alter table t compact 'major' and wait pool 'big'");
    const requested = lines('compaction requested');
    const given = lines('compaction given to a Worker');
    expect(given.map(({ compactionId, pool }) => [compactionId, pool])).toEqual([
      ['1', ''],
      ['2', 'big'],
    ]);
    for (const [i, { time }] of given.entries()) {
      expect(Date.parse(String(time)) - Date.parse(String(requested[i].time))).toBeLessThan(5000);
    }
    const before = lines('skep.v1.CompactionService/FindNextCompact').length;
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(lines('skep.v1.CompactionService/FindNextCompact').length - before).toBeLessThan(4);
  });

  it('of one metastore do what was asked of another on the same database', async () => {
    const [one, two] = [await metastore(), await metastore()];
    await skep.start(['compactor', '--metastore', one.address]);
    await sql(two.address, `create table t (id int) ${acid}; insert into t values (1); insert into t values (2)`);
    const beganMs = performance.now();
    await sql(two.address, "alter table t compact 'major' and wait");
    expect(performance.now() - beganMs).toBeLessThan(10_000);
    // It ends in order, although Workers wait at it.
    const endedMs = performance.now();
    expect((await one.end()).code).toBe(0);
    expect(performance.now() - endedMs).toBeLessThan(5000);
  });
});

describe('transactions that fail', { timeout: 180_000 }, () => {
  it('are soon shown no more, as in Hive, and can be asked about long after', async () => {
    const { address } = await metastore('--hiveconf', 'metastore.acid.txn.cleaner.interval=300ms');
    await sql(address, `create table t (id int) ${acid}; insert into t values (1)`);
    const failed = await skep.run(['--metastore', address, '-e', 'alter table t add columns (id int)']);
    expect(failed.err).toContain('Duplicate column name: id');
    const shown = cells(await sql(address, 'show transactions'));
    await sql(address, 'select * from t');
    await until(async () => cells(await sql(address, 'show transactions')).length === 0, 'the AcidTxnCleaner');
    const [txnId] = shown[0] ?? ['3'];
    const why = await skep.run(['why', 'txn', txnId, '--metastore', address]);
    expect(why.out).toMatch(
      new RegExp(`^txnid:${txnId} was aborted: rollback at 20\\d\\d-.*Z: .*Duplicate column name: id`),
    );
  });
});

describe('figures beyond their levels', { timeout: 180_000 }, () => {
  it('are told of in the log, with the transaction, until they are over', async () => {
    const { address } = await metastore(
      ...['--hiveconf', 'metastore.acidmetrics.check.interval=1s'],
      ...['--hiveconf', 'hive.compactor.oldest.open.txn.threshold.warning=1s'],
      ...['--hiveconf', 'hive.compactor.oldest.open.txn.threshold.error=1h'],
    );
    await sql(address, `create table t (id int) ${acid}; insert into t values (1)`);
    const holding = skep.run(['--metastore', address, '-e', 'start transaction; select * from t; !sleep 6; commit']);
    const message =
      'a transaction has been open for too long: files that were replaced since it began cannot be removed';
    await until(() => lines(message).length > 0, 'the warning');
    expect(lines(message)[0]).toMatchObject({
      level: 'warn',
      figure: 'oldest_open_non_repl_txn_age_in_sec',
      parameter: 'hive.compactor.oldest.open.txn.threshold.warning',
      limit: 1,
      txnId: expect.stringMatching(/^\d+$/),
    });
    expect(await holding).toMatchObject({ code: 0 });
    const over = 'oldest_open_non_repl_txn_age_in_sec is below its levels again';
    await until(() => lines(over).length > 0, 'the end of it');
    expect(lines(message)).toHaveLength(1);
  });
});
