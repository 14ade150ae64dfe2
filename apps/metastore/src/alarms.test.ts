import { Configuration } from '@skep/config';
import { ManualClock } from '@skep/core';
import { createLogger, type Figure, type FigureSource, type Reading } from '@skep/telemetry';
import { describe, expect, it } from 'vitest';
import { Alarms, alarmsOf } from './alarms.js';

const conf = (parameters: Readonly<Record<string, string>> = {}): Configuration => {
  const made = Configuration.load({ site: [], env: {} }).conf;
  for (const [name, value] of Object.entries(parameters)) made.set(name, value);
  return made;
};
const alarms = (values: Readonly<Record<string, number>>, parameters = {}) =>
  alarmsOf((name) => values[name], conf(parameters)).map(({ level, figure, txnId }) => [level, figure, txnId]);
const levels = (values: Readonly<Record<string, number>>) => alarms(values).map(([level]) => level);

const hour = 3600;
const day = 24 * hour;

describe('figures beyond Hive’s levels', () => {
  it.each([
    ['oldest_open_non_repl_txn_age_in_sec', day, 3 * day],
    ['oldest_open_repl_txn_age_in_sec', 14 * day, 21 * day],
    ['oldest_aborted_txn_age_in_sec', day, 2 * day],
    ['compaction_oldest_enqueue_age_in_sec', hour, 12 * hour],
    ['compaction_initiator_cycle_duration', 6 * hour, 12 * hour],
    ['compaction_num_completed_txn_components', 500_000, 1_000_000],
    ['compaction_num_txn_to_writeid', 500_000, 1_000_000],
  ])('%s from %d on warn, from %d on are errors', (figure, warning, error) => {
    expect(alarms({ [figure]: warning - 1 })).toEqual([]);
    expect(alarms({ [figure]: warning })).toEqual([['warn', figure, undefined]]);
    expect(alarms({ [figure]: error - 1 })).toEqual([['warn', figure, undefined]]);
    expect(alarms({ [figure]: error })).toEqual([['error', figure, undefined]]);
  });

  it('of one level', () => {
    expect(alarms({ tables_with_x_aborted_transactions: 1 })).toEqual([]);
    expect(levels({ tables_with_x_aborted_transactions: 2 })).toEqual(['error']);
    expect(alarms({ oldest_ready_for_cleaning_age_in_sec: day })).toEqual([]);
    expect(levels({ oldest_ready_for_cleaning_age_in_sec: day + 1 })).toEqual(['warn']);
    expect(alarms({ num_writes_to_disabled_compaction_table: 0 })).toEqual([]);
    expect(levels({ num_writes_to_disabled_compaction_table: 1 })).toEqual(['warn']);
  });

  it('of Workers of several versions', () => {
    expect(alarms({ skep_compaction_late_worker_versions: 1 })).toEqual([]);
    expect(levels({ skep_compaction_late_worker_versions: 2 })).toEqual(['warn']);
  });

  it('of failures by their share, those that were not queued among them', () => {
    const ended = (failed: number, none: number, succeeded: number) => ({
      compaction_num_failed: failed,
      compaction_num_did_not_initiate: none,
      compaction_num_succeeded: succeeded,
    });
    expect(alarms(ended(0, 0, 0))).toEqual([]);
    expect(alarms(ended(1, 0, 100))).toEqual([]);
    expect(levels(ended(1, 0, 99))).toEqual(['warn']);
    expect(levels(ended(0, 1, 0))).toEqual(['warn']);
    expect(alarms(ended(1, 0, 1), { 'hive.compactor.failed.compaction.ratio.threshold': '0.6' })).toEqual([]);
  });

  it('name the transaction', () => {
    const values = { oldest_open_non_repl_txn_age_in_sec: 90, oldest_open_non_repl_txn_id: 17 };
    const parameters = { 'hive.compactor.oldest.open.txn.threshold.warning': '80s' };
    expect(alarms(values, parameters)).toEqual([['warn', 'oldest_open_non_repl_txn_age_in_sec', '17']]);
  });
});

it('are told of at first, after each interval, when they get worse, and when they are over', async () => {
  const clock = new ManualClock();
  const lines: Record<string, unknown>[] = [];
  const log = createLogger({
    now: () => clock.now(),
    write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  let rows: number | undefined = 10;
  const figure: Figure = { name: 'compaction_num_txn_to_writeid', help: '', type: 'gauge' };
  const source: FigureSource = {
    name: 'transactions',
    figures: [figure],
    async read(): Promise<Reading[]> {
      if (rows === undefined) throw new RangeError('no database');
      return [[figure, [{ value: rows }]]];
    },
  };
  const looking = new Alarms({ figures: [source], conf: conf(), clock, log });
  const told = async () => {
    await looking.look();
    return lines.splice(0).map(({ level, message, value, limit }) => [level, message, value, limit]);
  };
  const what = 'TXN_TO_WRITE_ID has too many rows: an old transaction, open or aborted, keeps them';
  expect(await told()).toEqual([]);
  rows = 600_000;
  expect(await told()).toEqual([['warn', what, 600_000, 500_000]]);
  expect(await told()).toEqual([]);
  clock.advance(6 * hour * 1000);
  expect(await told()).toEqual([['warn', what, 600_000, 500_000]]);
  rows = 2_000_000;
  expect(await told()).toEqual([['error', what, 2_000_000, 1_000_000]]);
  rows = undefined;
  expect(await told()).toEqual([['warn', 'figures could not be read', undefined, undefined]]);
  rows = 10;
  expect(await told()).toEqual([['info', 'compaction_num_txn_to_writeid is below its levels again', 10, undefined]]);
});
