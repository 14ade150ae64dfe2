import { LONG_MAX } from '@skep/core';
import { DataOperation, TxnType } from '@skep/rpc';
import { describe, expect, it } from 'vitest';
import { garbageThresholds } from './collect-garbage.js';
import { planCommit } from './commit.js';
import { type Component, planComponents } from './components.js';
import { type HeldTxn, hasDeadHolder, isTimedOut } from './expiry.js';
import { currentAgentInfo, isHolderAlive } from './holder.js';
import { DEFAULT_TXN_CONF } from './index.js';
import { listOpenTxns, toValidTxnList } from './open-txn-list.js';
import { isRefusing } from './open-txns.js';
import { toValidWriteIdList } from './valid-write-ids.js';
import { findWriteConflict, type WriteSetEntry } from './write-conflict.js';

describe('open transactions', () => {
  it('count ids that are missing between young ones as open', () => {
    const settled = { open: [2n], aborted: [3n] };
    const young = [
      { txnId: 7n, state: 'c', mayWrite: true },
      { txnId: 9n, state: 'a', mayWrite: true },
      { txnId: 10n, state: 'o', mayWrite: false },
    ];
    expect(listOpenTxns(settled, young, 5n)).toEqual({ open: [2n, 6n, 8n], aborted: [3n, 9n] });
  });

  it('end at the reader', () => {
    const list = { highWatermark: 9n, open: [2n, 5n, 8n], aborted: [3n] };
    expect(toValidTxnList(list, 5n).toString()).toBe('5:2:2:3');
    expect(toValidTxnList(list, undefined).toString()).toBe('9:2:2,5,8:3');
  });
});

describe('the list of write ids', () => {
  const of = (hasValid: boolean, ...invalid: [bigint, boolean][]) =>
    toValidWriteIdList({
      tableName: 'd.t',
      highWatermark: 9n,
      hasValid,
      invalid: invalid.map(([writeId, isAborted]) => ({ writeId, isAborted })),
    }).toString();

  it.each([
    [of(true), `d.t:9:${LONG_MAX}::`],
    [of(true, [3n, true], [5n, false], [9n, false]), 'd.t:9:5:5,9:3'],
    [of(false), `d.t:9:${LONG_MAX}::`],
    [of(false, [3n, false], [5n, true]), 'd.t:3:3:3:'],
    [of(false, [3n, true], [5n, false]), 'd.t:3:5::3'],
    [of(false, [3n, true]), `d.t:3:${LONG_MAX}::3`],
  ])('%s', (list, expected) => expect(list).toBe(expected));
});

describe('write conflicts', () => {
  const entry = (txnId: bigint, commitId: bigint, operation = 'u', partition?: string): WriteSetEntry => ({
    database: 'd',
    table: 't',
    partition,
    txnId,
    commitId,
    operation,
  });

  it.each([
    // The examples of hive-acid.md §2.
    [entry(17n, 20n), entry(6n, 80n), true],
    [entry(17n, 20n), entry(21n, 21n), true],
    [entry(21n, 21n), entry(17n, 20n), false],
    [entry(18n, 19n), entry(17n, 18n), true],
    [entry(1n, 9n, 'u'), entry(2n, 3n, 'd'), true],
    [entry(1n, 9n, 'd'), entry(2n, 3n, 'd'), true],
    [entry(1n, 9n, 'i'), entry(2n, 3n, 'u'), false],
    [entry(1n, 9n, 'u'), entry(2n, 3n, 'i'), false],
    [entry(1n, 9n, 'u', 'p=1'), entry(2n, 3n, 'u', 'p=1'), true],
    [entry(1n, 9n, 'u', 'p=1'), entry(2n, 3n, 'u', 'p=2'), false],
    [entry(1n, 9n, 'u', 'p=1'), entry(2n, 3n), false],
    [entry(1n, 9n), { ...entry(2n, 3n), table: 'u' }, false],
    [entry(1n, 9n), { ...entry(2n, 3n), database: 'e' }, false],
    [entry(1n, 9n), entry(1n, 9n), false],
  ])('%o after %o: %s', (own, committed, conflicts) => {
    expect(findWriteConflict([own], [committed]) !== undefined).toBe(conflicts);
  });
});

describe('what a commit records', () => {
  const component = (operation: string, partition?: string): Component => ({
    database: 'd',
    table: 't',
    partition,
    operation,
    writeId: 1n,
  });
  const written = [component('i'), component('u'), component('d', 'p=1'), component('c')];

  it.each([
    [TxnType.TXN_TYPE_UNSPECIFIED, ['u', 'd'], 2],
    [TxnType.TXN_TYPE_MATER_VIEW_REBUILD, ['u', 'd'], 2],
    [TxnType.TXN_TYPE_REBALANCE_COMPACTION, ['u', 'd'], 2],
    [TxnType.TXN_TYPE_COMPACTION, [], 0],
    [TxnType.TXN_TYPE_SOFT_DELETE, [], 2],
    [TxnType.TXN_TYPE_READ_ONLY, [], 0],
  ])('of type %s', (type, updates, completed) => {
    const plan = planCommit(type, written);
    expect(plan.updates.map((each) => each.operation)).toEqual(updates);
    // One row per resource and write id: i and u are of the same.
    expect(plan.completed).toHaveLength(completed);
  });

  it('of inserts only: no write set', () => {
    expect(planCommit(0, [component('i')])).toMatchObject({ updates: [], hasUpdateOrDelete: false });
  });
});

describe('components of a request', () => {
  const { DATA_OPERATION_INSERT: INSERT, DATA_OPERATION_DELETE: DELETE } = DataOperation;
  const of = (operation: DataOperation, partition?: string, isDynamicPartitionWrite = false) => ({
    resource: { database: 'D', table: 'T', partition },
    operation,
    isDynamicPartitionWrite,
  });
  const planned = (...components: ReturnType<typeof of>[]) =>
    planComponents(components).map(
      (each) => `${each.database}.${each.table}/${each.partition ?? ''}:${each.operation}`,
    );

  it('are one a resource and operation, in lower case', () => {
    expect(planned(of(INSERT, 'P=1'), of(INSERT, 'P=1'), of(DELETE, 'P=1'))).toEqual(['d.t/P=1:i', 'd.t/P=1:d']);
  });

  it('of dynamic partitions are one a table, the stronger operation', () => {
    expect(planned(of(INSERT, 'p=1', true), of(INSERT, undefined, true))).toEqual(['d.t/:i']);
    expect(planned(of(DELETE, 'p=1', true), of(INSERT, undefined, true))).toEqual(['d.t/:u']);
    expect(planned(of(INSERT, 'p=1', true), of(DELETE, undefined, true))).toEqual(['d.t/:u']);
  });

  it('must write something', () => {
    expect(() => planned(of(DataOperation.DATA_OPERATION_SELECT))).toThrow('an operation that writes');
  });
});

describe('garbage', () => {
  const bounds = {
    highestTxnId: 100n,
    lowWatermark: 95n,
    minOpenTxnId: undefined,
    minAbortedTxnId: undefined,
    minNeededTxnId: undefined,
  };

  it.each([
    [bounds, { writeSet: 96n, txnToWriteId: 101n, txns: 95n }],
    [
      { ...bounds, minOpenTxnId: 50n },
      { writeSet: 50n, txnToWriteId: 50n, txns: 95n },
    ],
    [
      { ...bounds, minOpenTxnId: 50n, minNeededTxnId: 40n },
      { writeSet: 50n, txnToWriteId: 40n, txns: 95n },
    ],
    [
      { ...bounds, minAbortedTxnId: 30n },
      { writeSet: 96n, txnToWriteId: 30n, txns: 95n },
    ],
  ])('%o', (given, expected) => expect(garbageThresholds(given)).toEqual(expected));
});

describe('limits', () => {
  it.each([
    [false, 99, false],
    [false, 100, true],
    [true, 95, true],
    [true, 90, true],
    [true, 89, false],
  ])('refusing before %s, %i of 100 open: %s', (was, open, expected) => {
    expect(isRefusing(was, open, 100)).toBe(expected);
  });
});

describe('transactions left behind', () => {
  const held: HeldTxn = { txnId: 1n, lastHeartbeatMs: 1000n, type: 0, host: 'here', agentInfo: 'skep:1:2' };

  it('have a time-out, longer for replication', () => {
    expect(isTimedOut(held, 301_000n, DEFAULT_TXN_CONF)).toBe(false);
    expect(isTimedOut(held, 301_001n, DEFAULT_TXN_CONF)).toBe(true);
    expect(isTimedOut({ ...held, type: TxnType.TXN_TYPE_REPL_CREATED }, 301_001n, DEFAULT_TXN_CONF)).toBe(false);
  });

  it('have a holder on this host that is gone', () => {
    const gone = () => false;
    expect(hasDeadHolder(held, 'here', gone)).toBe(true);
    expect(hasDeadHolder(held, 'there', gone)).toBe(false);
    expect(hasDeadHolder({ ...held, agentInfo: '' }, 'here', gone)).toBe(false);
    expect(hasDeadHolder(held, 'here', () => true)).toBe(false);
  });

  it('this process is alive, and no other with its number', () => {
    expect(isHolderAlive(currentAgentInfo())).toBe(true);
    // With what and where it serves.
    expect(isHolderAlive(`${currentAgentInfo()} data grpc://host:9084`)).toBe(true);
    expect(isHolderAlive('skep:999999999:1 data grpc://host:9084')).toBe(false);
    if (process.platform === 'linux') expect(isHolderAlive(`skep:${process.pid}:1`)).toBe(false);
    expect(isHolderAlive('skep:999999999:1')).toBe(false);
    expect(isHolderAlive('hive_20240101_query')).toBe(true);
  });
});
