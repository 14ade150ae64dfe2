import { type AcidState, compactionThresholds, type DataFile, type DeltaDirectory } from '@skep/acid';
import { ValidTxnList } from '@skep/core';
import { Compaction, CompactionState, CompactionType, Table } from '@skep/rpc';
import { describe, expect, it } from 'vitest';
import { failedAttempts, forgettableWriteIds, hasAbortedResult, retryDelayMs } from './cleaner-decision.js';
import { restMs } from './compactor.js';
import { isEnoughToCompact } from './files/folder-decision.js';
import {
  decideCompactionType,
  isAutoCompactionOff,
  isToRetry,
  mustRest,
  type PastCompaction,
  poolOf,
} from './initiator-decision.js';
import { isStillOurs, orcProperties, refusalOf } from './worker-decision.js';

const MAJOR = CompactionType.COMPACTION_TYPE_MAJOR;
const MINOR = CompactionType.COMPACTION_TYPE_MINOR;
const REBALANCE = CompactionType.COMPACTION_TYPE_REBALANCE;

const file = (sizeBytes: number): DataFile => ({
  path: '/t/f',
  name: 'f',
  sizeBytes,
  modifiedMs: 0,
  kind: 'acid',
  bucket: 0,
});

function delta(sizeBytes: number, kind: DeltaDirectory['kind'] = 'delta', isRaw = false): DeltaDirectory {
  const ids = { minWriteId: 1n, maxWriteId: 1n, visibilityTxnId: 0n };
  return { kind, ...ids, path: '/t/d', name: 'd', files: [file(sizeBytes)], isRaw, hasVersionFile: true };
}

function stateOf(fields: {
  base?: number;
  deltas?: readonly DeltaDirectory[];
  originals?: readonly DataFile[];
  obsolete?: string[];
}): AcidState {
  const base = {
    kind: 'base',
    writeId: 1n,
    visibilityTxnId: 0n,
    path: '/t/base_0000001',
    name: 'base_0000001',
    isRaw: false,
    hasVersionFile: true,
    isCompacted: false,
  } as const;
  return {
    dir: '/t',
    base: fields.base === undefined ? undefined : { ...base, files: [file(fields.base)] },
    deltas: fields.deltas ?? [],
    originals: fields.originals ?? [],
    obsolete: fields.obsolete ?? [],
    aborted: [],
    uncompactedAborts: false,
    abortedWriteIds: [],
  };
}

const many = (count: number, sizeBytes: number, raw = false) =>
  Array.from({ length: count }, () => delta(sizeBytes, 'delta', raw));

describe('the type of compaction that is due', () => {
  const thresholds = { deltaNum: 10, deltaPct: 0.1 };
  const none = { tooMany: false, old: false };
  it.each([
    ['nothing', stateOf({}), none, undefined],
    ['few deltas without a base', stateOf({ deltas: many(10, 5) }), none, undefined],
    ['many deltas without a base', stateOf({ deltas: many(11, 5) }), none, MAJOR],
    ['many small deltas beside a base', stateOf({ base: 10_000, deltas: many(11, 5) }), none, MINOR],
    ['large deltas beside a base', stateOf({ base: 100, deltas: many(1, 11) }), none, MAJOR],
    ['deltas of exactly a tenth', stateOf({ base: 100, deltas: many(1, 10) }), none, undefined],
    ['large deltas beside originals', stateOf({ originals: [file(100)], deltas: many(1, 11) }), none, MAJOR],
    ['an obsolete base (B61)', stateOf({ base: 100, obsolete: ['/t/base_0000001'] }), none, MAJOR],
    ['an obsolete delta', stateOf({ base: 100, obsolete: ['/t/delta_0000001_0000001_0000'] }), none, undefined],
    ['loaded files (B53)', stateOf({ base: 10_000, deltas: many(11, 5, true) }), none, MAJOR],
    [
      'delete deltas count',
      stateOf({ base: 10_000, deltas: many(10, 5).concat(delta(5, 'deleteDelta')) }),
      none,
      MINOR,
    ],
    ['too many aborts', stateOf({}), { tooMany: true, old: true }, MAJOR],
    ['an old abort', stateOf({}), { tooMany: false, old: true }, MINOR],
  ])('%s', (_, state, aborts, expected) => {
    expect(decideCompactionType(state, thresholds, aborts).type).toBe(expected);
  });

  it('takes the thresholds of the table first, then those of its database', () => {
    const own = {
      'compactorthreshold.hive.compactor.delta.num.threshold': '4',
      'compactorthreshold.hive.compactor.delta.pct.threshold': '0.5',
    };
    const num = 'compactorthreshold.hive.compactor.delta.num.threshold';
    expect(compactionThresholds(thresholds, own)).toEqual({ deltaNum: 4, deltaPct: 0.5 });
    expect(compactionThresholds(thresholds, {}, own)).toEqual({ deltaNum: 4, deltaPct: 0.5 });
    expect(compactionThresholds(thresholds, { [num]: '0' }, own)).toEqual({ deltaNum: 0, deltaPct: 0.5 });
    expect(compactionThresholds(thresholds, { [num]: '' }, {})).toEqual(thresholds);
    expect(() => compactionThresholds(thresholds, { [num]: 'x' }, own)).toThrow(`${num} must be a number, not 'x'`);
  });

  it.each([
    [{}, {}, false],
    [{ no_auto_compaction: 'true' }, {}, true],
    [{ NO_AUTO_COMPACTION: 'TRUE' }, {}, true],
    [{ no_auto_compaction: 'true' }, { no_auto_compaction: 'false' }, false],
    [{}, { NO_AUTO_COMPACTION: 'true' }, true],
  ])('no_auto_compaction of table %j and database %j: %s', (table, db, expected) => {
    expect(isAutoCompactionOff(table, db)).toBe(expected);
  });
});

it.each([
  [[{}, {}], ''],
  [[{ 'hive.compactor.worker.pool': 'big' }, { 'hive.compactor.worker.pool': 'small' }], 'big'],
  [[{ 'hive.compactor.worker.pool': ' ' }, { 'hive.compactor.worker.pool': 'small' }], 'small'],
])('the pool of table and database %j is %j', (properties, expected) => {
  expect(poolOf(...properties)).toBe(expected);
});

describe('after failures', () => {
  const codes = {
    f: CompactionState.COMPACTION_STATE_FAILED,
    s: CompactionState.COMPACTION_STATE_SUCCEEDED,
    a: CompactionState.COMPACTION_STATE_DID_NOT_INITIATE,
    c: CompactionState.COMPACTION_STATE_REFUSED,
    i: CompactionState.COMPACTION_STATE_INITIATED,
  };
  /** Oldest first, a state a letter, queued at 0, 1000, … ms. */
  const past = (text: string): PastCompaction[] =>
    [...text].map((letter, i) => ({
      id: BigInt(i + 1),
      state: codes[letter as keyof typeof codes],
      enqueueTimeMs: BigInt(i * 1000),
    }));

  it.each([
    ['', 0, false],
    ['f', 0, false],
    ['ff', 1000, true],
    ['sff', 2000, true],
    ['ffs', 2000, false],
    ['fsf', 2000, false],
    // What was refused or never queued does not count.
    ['fafc', 3000, true],
    // HIVE-24602: a while after the last try it may again.
    ['ff', 1000 + 5000, true],
    ['ff', 1000 + 5001, false],
  ])('%s at %i ms: rests %s', (text, nowMs, expected) => {
    expect(mustRest(past(text), 2, 5000, nowMs)).toBe(expected);
  });

  it.each([
    ['', false],
    ['f', true],
    ['a', true],
    ['fs', false],
    ['sf', true],
    ['fc', false],
    ['fi', false],
  ])('%s: is looked at without new writes %s', (text, expected) => {
    expect(isToRetry(past(text).reverse())).toBe(expected);
  });

  it.each([
    [0, 100],
    [1, 100],
    [2, 200],
    [4, 800],
    [12, 204_800],
    [13, 320_000],
    [1000, 320_000],
  ])('after %i errors a loop rests %i ms', (errors, expected) => {
    expect(restMs(100, errors, 320_000)).toBe(expected);
  });

  it('never rests less than usual', () => {
    expect(restMs(900_000, 5, 320_000)).toBe(900_000);
  });
});

describe('a Worker', () => {
  const two = [delta(1), delta(1)];
  const pair = [delta(1), delta(1, 'deleteDelta')];
  const original = [file(1)];
  it.each([
    [MAJOR, stateOf({}), false],
    [MAJOR, stateOf({ base: 1 }), false],
    [MAJOR, stateOf({ deltas: [delta(1)] }), false],
    [MAJOR, stateOf({ base: 1, deltas: [delta(1)] }), true],
    [MAJOR, stateOf({ deltas: two }), true],
    [MAJOR, stateOf({ originals: original }), true],
    [MINOR, stateOf({ base: 1, deltas: [delta(1)] }), false],
    [MINOR, stateOf({ deltas: two }), true],
    [MINOR, stateOf({ deltas: pair }), false],
    [MINOR, stateOf({ deltas: [delta(1, 'deleteDelta'), delta(1, 'deleteDelta')] }), true],
    [MINOR, stateOf({ deltas: [...pair, delta(1)] }), true],
    [REBALANCE, stateOf({}), true],
  ])('has enough, case %#', (type, state, expected) => {
    expect(isEnoughToCompact(type, state)).toBe(expected);
  });

  const transactional = { transactional: 'true' };
  const sorted = { sortColumns: [{ column: 'a', order: 1 }] };
  it.each([
    ['what it can', MAJOR, '', { parameters: transactional }, undefined],
    ['plain tables', MAJOR, '', { parameters: {} }, /not transactional/],
    ['sorted tables', MINOR, '', { parameters: transactional, sd: sorted }, /sorted table/],
    ['bucketed', REBALANCE, '', { parameters: transactional, sd: { bucketColumns: ['a'] } }, /bucketed/],
    ['an order', REBALANCE, 'a desc', { parameters: transactional }, /ORDER BY/],
  ])('refuses %s', (_, type, orderBy, table, expected) => {
    const why = refusalOf(Compaction.fromPartial({ type, orderBy }), Table.fromPartial(table));
    if (expected === undefined) expect(why).toBeUndefined();
    else expect(why).toMatch(expected);
  });

  it('knows when its request is another one’s', () => {
    const working = CompactionState.COMPACTION_STATE_WORKING;
    const job = Compaction.fromPartial({ id: 1n, state: working, workerId: 'h-1', startMs: 5n });
    expect(isStillOurs(job, job)).toBe(true);
    expect(isStillOurs(undefined, job)).toBe(false);
    expect(isStillOurs({ ...job, workerId: 'h-2' }, job)).toBe(false);
    expect(isStillOurs({ ...job, startMs: 6n }, job)).toBe(false);
    expect(isStillOurs({ ...job, state: CompactionState.COMPACTION_STATE_SUCCEEDED }, job)).toBe(false);
  });

  it('overrides properties of the table by tblprops.X of the request', () => {
    const table = { 'orc.compress': 'ZLIB', 'orc.stripe.size': '1', transactional: 'true' };
    const request = { 'tblprops.orc.compress': 'SNAPPY', 'compactor.mapreduce.map.memory.mb': '3072' };
    expect(orcProperties(table, request)).toEqual({ 'orc.compress': 'SNAPPY', 'orc.stripe.size': '1' });
  });
});

describe('a Cleaner', () => {
  it.each([
    [[2, 5], [], [2, 5]],
    [[2, 5], ['delta_0000001_0000003'], [5]],
    [[2, 5], ['delete_delta_0000005_0000005_0000', 'bucket_00000'], [2]],
    [[2, 5], ['base_0000005'], [2]],
    // A compaction left out the rows of aborted writes.
    [
      [2, 5],
      ['delta_0000001_0000006_v0000009', 'base_0000002_v0000004'],
      [2, 5],
    ],
  ])('of aborted %j, with %j left, may forget %j', (aborted, names, expected) => {
    expect(forgettableWriteIds(aborted.map(BigInt), names).map(Number)).toEqual(expected);
  });

  it('sees folders of aborted compactions', () => {
    const txns = ValidTxnList.parse('9:7:7:5,8');
    const left = (name: string) => hasAbortedResult(['delta_0000001_0000001_0000', name], txns);
    expect(left('base_0000001_v0000005')).toBe(true);
    expect(left('delete_delta_0000001_0000002_v0000008')).toBe(true);
    expect(left('base_0000001_v0000006')).toBe(false);
    expect(left('base_0000001_v0000007')).toBe(false);
    expect(left('base_0000005')).toBe(false);
  });

  it.each([
    [0n, 0, 300_000],
    [1000n, 0, 300_000],
    [300_000n, 1, 600_000],
    [600_000n, 2, 1_200_000],
    [2_400_000n, 4, 4_800_000],
    [4_800_000n, 5, undefined],
  ])('after a delay of %s ms has failed %i times and waits %s', (retention, attempts, delayMs) => {
    expect(failedAttempts(retention, 300_000)).toBe(attempts);
    expect(retryDelayMs(attempts, 300_000, 5)).toBe(delayMs);
  });
});
