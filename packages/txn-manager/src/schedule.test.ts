import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { DataOperation, TxnConflictError } from '@skep/rpc';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commit, inProcess, open, type Services, writeIdOf, writes } from '../test/services.js';

/**
 * Random schedules of many transactions against a model that is too simple to be wrong: a snapshot sees exactly what had
 * been committed by smaller transactions when it was taken, whatever is aborted, cleaned or forgotten around it.
 */

type Step =
  | { do: 'open' | 'housekeeping' | 'wait' }
  | { do: 'snapshot' | 'commit' | 'abort' | 'clean'; pick: number }
  | { do: 'write'; pick: number; table: string; partition: string | undefined; operation: DataOperation };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'open' }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'housekeeping' }, { do: 'wait' }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('snapshot', 'commit', 'commit', 'abort', 'clean'),
      pick: fc.nat(),
    }) as fc.Arbitrary<Step>,
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      pick: fc.nat(),
      table: fc.constantFrom('t', 'u'),
      partition: fc.constantFrom(undefined, 'p=1', 'p=2'),
      operation: fc.constantFrom(
        DataOperation.DATA_OPERATION_INSERT,
        DataOperation.DATA_OPERATION_UPDATE,
        DataOperation.DATA_OPERATION_DELETE,
      ),
    }),
  },
);

interface ModelTxn {
  id: bigint;
  state: 'open' | 'committed' | 'aborted';
  /** Highest transaction when it committed. */
  commitId: bigint;
  writeIds: Map<string, bigint>;
  updates: Set<string>;
  cleaned: boolean;
}

interface Snapshot {
  txn: ModelTxn;
  list: string;
  committed: Set<bigint>;
}

class Model {
  readonly txns: ModelTxn[] = [];
  readonly snapshots: Snapshot[] = [];
  readonly next = new Map([
    ['t', 1n],
    ['u', 1n],
  ]);

  open(): ModelTxn[] {
    return this.txns.filter((txn) => txn.state === 'open');
  }

  conflict(txn: ModelTxn): ModelTxn | undefined {
    return this.txns.find((other) => {
      const meets = [...txn.updates].some((resource) => other.updates.has(resource));
      return other !== txn && other.state === 'committed' && txn.id <= other.commitId && meets;
    });
  }
}

function pickFrom<T>(items: readonly T[], pick: number): T | undefined {
  return items.length === 0 ? undefined : items[pick % items.length];
}

async function run(s: Services, model: Model, step: Step): Promise<void> {
  switch (step.do) {
    case 'open': {
      const id = await open(s.txns);
      model.txns.push({ id, state: 'open', commitId: 0n, writeIds: new Map(), updates: new Set(), cleaned: false });
      return;
    }
    case 'wait':
      // Less than the time-out, more than what keeps the record of an abort together with heartbeats.
      for (let i = 0; i < 3; i++) {
        s.clock.advance(250_000);
        await s.txns.heartbeatTxns({ txnIds: model.open().map((txn) => txn.id) });
      }
      return;
    case 'housekeeping':
      expect(await s.txns.runHousekeeping({ abortDeadHolders: true })).toEqual({
        timedOutTxnIds: [],
        deadHolderTxnIds: [],
      });
      return;
    case 'snapshot': {
      const txn = pickFrom(model.open(), step.pick);
      if (txn === undefined) return;
      const { validTxns } = await s.txns.getValidTxns({ txnId: txn.id });
      const committed = model.txns.filter((other) => other.state === 'committed' && other.id < txn.id);
      model.snapshots.push({ txn, list: validTxns, committed: new Set(committed.map((other) => other.id)) });
      return;
    }
    case 'write':
      return write(s, model, step);
    case 'commit':
      return commitOne(s, model, step.pick);
    case 'abort': {
      const txn = pickFrom(model.open(), step.pick);
      if (txn === undefined) return;
      await s.txns.abortTxns({ txnIds: [txn.id], reasonCode: 50005 });
      txn.state = 'aborted';
      return;
    }
    case 'clean': {
      const txn = pickFrom(
        model.txns.filter((other) => other.state === 'aborted' && !other.cleaned),
        step.pick,
      );
      if (txn === undefined) return;
      // As if its files had been deleted: only then is the abort forgotten.
      txn.cleaned = true;
      for (const [table, writeId] of txn.writeIds) {
        for (const partition of [undefined, 'p=1', 'p=2']) {
          const resource = { database: 'd', table, partition };
          await s.txns.markCleaned({
            resource,
            highestWriteId: 0n,
            abortedWriteIds: [writeId],
            allAbortedBelow: false,
          });
        }
      }
    }
  }
}

async function write(s: Services, model: Model, step: Step & { do: 'write' }): Promise<void> {
  const txn = pickFrom(model.open(), step.pick);
  if (txn === undefined) return;
  const writeId = await writeIdOf(s.txns, txn.id, step.table);
  const expected = txn.writeIds.get(step.table) ?? model.next.get(step.table) ?? 0n;
  expect(writeId).toBe(expected);
  if (!txn.writeIds.has(step.table)) model.next.set(step.table, expected + 1n);
  txn.writeIds.set(step.table, writeId);
  await writes(s.txns, txn.id, step.operation, step.partition, step.table);
  if (step.operation !== DataOperation.DATA_OPERATION_INSERT) txn.updates.add(`${step.table}/${step.partition}`);
}

async function commitOne(s: Services, model: Model, pick: number): Promise<void> {
  const txn = pickFrom(model.open(), pick);
  if (txn === undefined) return;
  const winner = model.conflict(txn);
  if (winner === undefined) {
    const { commitId } = await commit(s.txns, txn.id);
    txn.state = 'committed';
    txn.commitId = commitId;
    expect(commitId).toBe(model.txns.at(-1)?.id);
  } else {
    await expect(commit(s.txns, txn.id)).rejects.toThrow(TxnConflictError);
    txn.state = 'aborted';
  }
}

/** Every snapshot of a transaction that is still open shows what it showed at first; a new one shows all committed. */
async function checkSnapshots(s: Services, model: Model): Promise<void> {
  const { validTxns } = await s.txns.getValidTxns({});
  const committed = new Set(model.txns.filter((txn) => txn.state === 'committed').map((txn) => txn.id));
  const now = { list: validTxns, committed, txn: undefined };
  for (const snapshot of [now, ...model.snapshots.filter((each) => each.txn.state === 'open')]) {
    const answer = await s.txns.getValidWriteIds({ tables: ['d.t', 'd.u'], validTxns: snapshot.list });
    const lists = new Map(answer.validWriteIds.map((text) => [text.slice(2, 3), ValidWriteIdList.parse(text)]));
    for (const txn of model.txns) {
      for (const [table, writeId] of txn.writeIds) {
        // A cleaned one has no files: whether it counts as valid does not matter.
        if (txn.cleaned || txn === snapshot.txn) continue;
        const isSeen = lists.get(table)?.isWriteIdValid(writeId);
        const what = `txn ${txn.id} (${txn.state}) in ${table}, write id ${writeId}, by ${snapshot.list}`;
        expect(isSeen, what).toBe(snapshot.committed.has(txn.id));
        if (txn.state === 'aborted') expect(ValidTxnList.parse(snapshot.list).isTxnValid(txn.id), what).toBe(false);
      }
    }
  }
}

describe('random schedules', () => {
  it('keep every snapshot as it was taken, and first committers win', async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 80 }), async (steps) => {
      const s = await inProcess();
      const model = new Model();
      try {
        for (const each of steps) await run(s, model, each);
        await checkSnapshots(s, model);
        await s.txns.runHousekeeping({ abortDeadHolders: true });
        await s.txns.runHousekeeping({ abortDeadHolders: true });
        await checkSnapshots(s, model);
      } finally {
        await s.close();
      }
    });
    await fc.assert(property, { numRuns: 150 });
  });
});
