import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Processes, type Running, until } from './processes.js';

const acid = "stored as orc tblproperties ('transactional'='true')";
let skep: Processes;
let folder: string;

beforeAll(async () => {
  skep = await Processes.open({
    // Each scrape reads anew, and every count is kept.
    SKEP_CONF_metastore_acidmetrics_check_interval: '0s',
    SKEP_CONF_metastore_deltametrics_delta_num_threshold: '1',
    SKEP_CONF_metastore_deltametrics_obsolete_delta_num_threshold: '1',
    SKEP_CONF_metastore_deltametrics_delta_pct_threshold: '100',
    SKEP_CONF_hive_compactor_check_interval: '1s',
  });
}, 60_000);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skep-telemetry-'));
});
afterEach(() => {
  skep.endAll();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(() => skep?.endAll());

/** reference/hive-acid.md §8, names in full. */
const HIVE_NAMES = [
  ...['initiated', 'working', 'ready_for_cleaning', 'failed', 'succeeded', 'did_not_initiate', 'refused'].map(
    (state) => `compaction_num_${state}`,
  ),
  ...['enqueue', 'working', 'cleaning'].map((step) => `compaction_oldest_${step}_age_in_sec`),
  'oldest_ready_for_cleaning_age_in_sec',
  'compaction_pools_initiated_item_count',
  'compaction_pools_working_item_count',
  'compaction_pools_oldest_enqueue_age_in_sec',
  'compaction_pools_oldest_working_age_in_sec',
  'compaction_num_initiators',
  'compaction_num_workers',
  'compaction_num_initiator_versions',
  'compaction_num_worker_versions',
  'compaction_initiator_cycle_duration',
  'compaction_cleaner_cycle_duration',
  'compaction_initiator_failure_counter',
  'compaction_cleaner_failure_counter',
  'compaction_initiator_cycle',
  ...['minor', 'major', 'rebalance'].flatMap((type) => [
    `compaction_cleaner_cycle_${type}`,
    `compaction_worker_cycle_${type}`,
  ]),
  ...['active', 'small', 'obsolete'].map((kind) => `compaction_num_${kind}_deltas`),
  'compaction_num_txn_to_writeid',
  'compaction_num_completed_txn_components',
  'num_open_transactions',
  'num_open_repl_transactions',
  'num_open_non_repl_transactions',
  'oldest_open_repl_txn_id',
  'oldest_open_repl_txn_age_in_sec',
  'oldest_open_non_repl_txn_id',
  'oldest_open_non_repl_txn_age_in_sec',
  'num_aborted_transactions',
  'oldest_aborted_txn_id',
  'oldest_aborted_txn_age_in_sec',
  'tables_with_x_aborted_transactions',
  'num_locks',
  'oldest_lock_age_in_sec',
  'total_num_committed_transactions',
  'total_num_aborted_transactions',
  'total_num_timed_out_transactions',
  'num_writes_to_disabled_compaction_table',
];

interface Scrape {
  /** By name and labels as they stand. */
  readonly values: ReadonlyMap<string, number>;
  /** Names that are described (# TYPE). */
  readonly names: ReadonlySet<string>;
}

async function scrape({ text }: Running): Promise<Scrape> {
  const address = /metrics on (\S+)/.exec(text().out)?.[1];
  const answer = await (await fetch(`http://${address}/metrics`)).text();
  const values = new Map<string, number>();
  const names = new Set<string>();
  for (const line of answer.split('\n')) {
    const [, described] = /^# TYPE (\S+)/.exec(line) ?? [];
    if (described !== undefined) names.add(described);
    const [, name, value] = /^([a-z]\S*(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
    if (name !== undefined) values.set(name, Number(value));
  }
  return { values, names };
}

const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

async function sql(address: string, statements: string): Promise<string> {
  const { code, out, err } = await skep.run(['--metastore', address, '-e', statements], { HOME: folder });
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  return out;
}

const metastore = (...more: string[]) =>
  skep.start([
    ...['metastore', '--db', `sqlite:${folder}/metastore.db`, '--listen', '127.0.0.1:0'],
    ...['--metrics', '127.0.0.1:0', ...more],
  ]);

describe('a metastore and a compactor', { timeout: 180_000 }, () => {
  it('serve figures with every name of Hive, which tell what was done', async () => {
    const server = await metastore();
    const { address } = server;
    const empty = await scrape(server);
    const shown = (name: string) =>
      empty.names.has(name) || (empty.names.has(`${name}_sum`) && empty.names.has(`${name}_count`));
    expect(HIVE_NAMES.filter((name) => !shown(name))).toEqual([]);
    const documented = readFileSync(resolve(import.meta.dirname, '../../docs/metrics.md'), 'utf8');
    const named = new Set([...documented.matchAll(/^\| `([a-z_]+)/gm)].map(([, name]) => name));
    const own = [...empty.names].filter((name) => !/^(process|nodejs)_/.test(name));
    expect(
      own.map((name) => name.replace(/(_cycle\w*)_(sum|count)$/, '$1')).filter((name) => !named.has(name)),
    ).toEqual([]);
    // Those of `skep data` are in its own test.
    const others = [...named].filter((name) => !name.startsWith('skep_data_'));
    expect(others.filter((name) => !empty.names.has(name) && !empty.names.has(`${name}_sum`))).toEqual([]);

    await sql(address, `create table t (id int) ${acid}; insert into t values (1); insert into t values (2)`);
    await sql(
      address,
      "create table off (id int) stored as orc tblproperties ('transactional'='true', 'no_auto_compaction'='true')",
    );
    await sql(address, 'insert into off values (1); start transaction; insert into t values (3); rollback');
    const at = (of: Scrape, name: string) => of.values.get(name);
    await until(
      async () => at(await scrape(server), 'compaction_num_active_deltas{resource="default.t"}') === 2,
      'the Initiator',
    );
    const written = await scrape(server);
    expect(at(written, 'num_writes_to_disabled_compaction_table')).toBe(1);
    expect(at(written, 'num_aborted_transactions')).toBe(1);
    expect(at(written, 'total_num_aborted_transactions')).toBe(1);
    expect(at(written, 'total_num_committed_transactions')).toBeGreaterThanOrEqual(3);
    expect(
      at(written, 'skep_calls_total{method="skep.v1.TransactionService/CommitTxn",code="OK"}'),
    ).toBeGreaterThanOrEqual(3);
    expect(at(written, 'compaction_initiator_cycle_count')).toBeGreaterThan(0);
    expect(at(written, 'compaction_initiator_failure_counter')).toBe(0);

    const compactor = await skep.start(['compactor', '--metastore', address, '--metrics', '127.0.0.1:0']);
    await sql(address, "alter table t compact 'major' and wait");
    expect(at(await scrape(compactor), 'compaction_worker_cycle_major_count')).toBe(1);
    await until(async () => at(await scrape(server), 'compaction_num_succeeded') === 1, 'the Cleaner');
    const done = await scrape(server);
    expect(at(done, 'compaction_cleaner_cycle_major_count')).toBeGreaterThanOrEqual(1);
    expect(at(done, 'compaction_num_active_deltas{resource="default.t"}')).toBeUndefined();
    expect(at(done, 'compaction_num_obsolete_deltas{resource="default.t"}')).toBeUndefined();
  });

  it('log lines of JSON with the ids they are about; skep why answers over gRPC', async () => {
    const logFile = join(folder, 'metastore.log');
    const server = await metastore(
      '--log-level',
      'debug',
      '--log-file',
      logFile,
      '--hiveconf',
      'hive.lock.numretires=3',
    );
    const { address } = server;
    const compactor = await skep.start(['compactor', '--metastore', address]);
    await sql(
      address,
      `create table t (id int, v int) ${acid}; insert into t values (1, 1); insert into t values (2, 2)`,
    );
    await sql(address, "update t set v = 3 where id = 1; alter table t compact 'major' and wait");
    await sql(address, 'start transaction; insert into t values (4, 4); rollback');
    await skep.run(['--metastore', address, '-e', 'select * from t where nosuch']);
    const lines = linesOf(readFileSync(logFile, 'utf8'));
    const find = (message: string) => lines.find((line) => line.message === message);
    for (const line of lines)
      expect(line).toMatchObject({ service: 'metastore', level: expect.any(String), time: expect.any(String) });
    expect(find('transaction opened')).toMatchObject({
      level: 'debug',
      txnId: expect.any(String),
      requestId: expect.any(String),
    });
    expect(find('transaction committed')).toMatchObject({ txnId: expect.any(String), commitId: expect.any(String) });
    expect(find('transaction aborted')).toMatchObject({ level: 'info', txnId: expect.any(String), reason: 'rollback' });
    expect(find('write id allocated')).toMatchObject({ table: 'default.t', writeId: '1' });
    expect(find('lock granted')).toMatchObject({ lockId: expect.any(String), user: expect.any(String) });
    expect(find('compaction requested')).toMatchObject({ compactionId: '1', table: 'default.t' });
    expect(find('compaction is ready for cleaning')).toMatchObject({ compactionId: '1', table: 'default.t' });
    expect(find('this process is the Initiator now')).toMatchObject({ lease: 'Initiator' });
    expect(find('housekeeping')).toMatchObject({ level: 'debug', keeper: expect.any(String) });
    expect(lines.some(({ message }) => String(message).startsWith('hive.lock.numretires is an old name of'))).toBe(
      true,
    );
    expect(server.text().err).toBe('');
    const work = linesOf(compactor.text().err);
    expect(work.find(({ message }) => message === 'compaction begun')).toMatchObject({
      compactionId: '1',
      table: 'default.t',
      type: 'major',
    });
    const finished = work.find(({ message }) => String(message).startsWith('compaction finished'));
    expect(finished).toMatchObject({ compactionId: '1', txnId: expect.any(String), durationMs: expect.any(Number) });
    expect(finished?.bytesRead).toBeGreaterThan(0);
    expect(finished?.bytesWritten).toBeGreaterThan(0);
    const why = await skep.run(['why', 'compaction', '1', '--metastore', address], { HOME: folder });
    expect(why).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/^Compaction 1 \(major\) of default\.t: /),
    });
    const table = await skep.run(['--metastore', address, 'why', 'table', 'default.t'], { HOME: folder });
    expect(table.out).toContain('It is not due');
  });
});
