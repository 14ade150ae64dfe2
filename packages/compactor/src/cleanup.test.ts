import { writeEmptyBase } from '@skep/acid';
import { SkepError } from '@skep/core';
import { override } from '@skep/core/testing';
import { CompactionState, TxnType } from '@skep/rpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { World } from '../test/world.js';
import { judgeCleanup } from './cleanup.js';

/** Soft deletes: what drops leave to the Cleaner. */

const table = 't';
const at = { database: 'default', table };

describe('the verdict on what a drop has left', () => {
  const soft = 'file:/w/d.db/t.v0000012';
  const partition = 'file:/w/d.db/t/k=1';
  it.each([
    ['a table that is gone', soft, undefined, 7n, undefined, 'remove'],
    ['another table of the name, elsewhere', soft, undefined, 7n, { id: 8n, location: 'file:/w/d.db/t' }, 'remove'],
    ['a table that was not dropped', soft, undefined, 7n, { id: 7n, location: soft }, 'refuse'],
    ['another table in the same folder', soft, undefined, 7n, { id: 8n, location: `${soft}/` }, 'refuse'],
    ['a table of a Hive that did not say which', soft, undefined, undefined, { id: 8n, location: soft }, 'refuse'],
    ['a folder that may be another’s', 'file:/w/d.db/t', undefined, 7n, undefined, 'refuse'],
    ['a partition that is gone', partition, 'k=1', 7n, undefined, 'remove'],
    ['a partition that was made again', partition, 'k=1', 7n, { id: 8n, location: partition }, 'clean'],
    ['the same, as a Hive left it', partition, 'k=1', undefined, { id: 8n, location: partition }, 'clean'],
    ['a partition made again elsewhere', partition, 'k=1', 7n, { id: 8n, location: 'file:/other' }, 'remove'],
    ['a partition that was not dropped', partition, 'k=1', 7n, { id: 7n, location: '/w/d.db/t/k=1' }, 'refuse'],
  ] as const)('%s', (_, location, ofPartition, droppedId, found, kind) => {
    expect(judgeCleanup(location, ofPartition, droppedId, found).kind).toBe(kind);
  });
});

describe.each([
  ['in process', {}],
  ['over gRPC', { overGrpc: true }],
] as const)('what a drop leaves to the Cleaner, %s', (_how, how) => {
  let w: World;
  beforeEach(async () => {
    w = await World.open(how);
  });
  afterEach(() => w.close());

  /** A table in a folder of its own, and what drops it. */
  async function softTable(name = table): Promise<{ location: string; id: bigint }> {
    await w.createTable(name);
    await w.insert([[1, 'x']], { table: name });
    const { table: found } = await w.catalog.getTable({ database: 'default', name });
    const location = `${w.location(name)}.v0000099`;
    await w.fs.rename(w.location(name), location);
    const sd = found?.sd && { ...found.sd, location };
    await w.catalog.alterTable({ database: 'default', name, table: found && { ...found, sd } });
    return { location, id: found?.id ?? 0n };
  }
  const submit = async (location: string, txnId: bigint, rest: object = {}) =>
    await w.compactions.submitForCleanup({
      ...at,
      location,
      txnId,
      runAs: 'u',
      highestWriteId: 1n,
      purge: false,
      droppedId: 0n,
      spare: false,
      ...rest,
    });
  const settle = async (txnId: bigint) => {
    const { commitId: nextTxnId, commitTimeMs } = await w.txns.commitTxn({ txnId });
    return await w.compactions.settleCleanups({ txnId, nextTxnId, commitTimeMs });
  };
  const isThere = async (location: string) => (await w.fs.stat(location)) !== undefined;

  it('goes when everybody has ended who was there when it was dropped', async () => {
    const { location, id } = await softTable();
    const reader = await w.open();
    const txnId = await w.open(TxnType.TXN_TYPE_SOFT_DELETE);
    await submit(location, txnId, { droppedId: id });
    await w.catalog.dropTable({ database: 'default', name: table });
    const between = await w.open();
    // The drop has not been committed yet.
    expect(await w.cleaner()).toBe(0);
    expect(await settle(txnId)).toEqual({ settled: 1n });
    expect(await w.cleaner()).toBe(0);
    await w.end(reader);
    expect(await w.cleaner()).toBe(0);
    expect(await isThere(location)).toBe(true);
    await w.end(between);
    const later = await w.open();
    expect(await w.cleaner()).toBe(1);
    expect(await isThere(location)).toBe(false);
    expect(await w.states()).toEqual(['1 succeeded']);
    await w.end(later);
  });

  it('is no Worker’s, keeps no compaction out, and is asked for once', async () => {
    const { location } = await softTable();
    const txnId = await w.open();
    expect(await submit(location, txnId)).toEqual(await submit(location, txnId));
    expect(await w.worker()).toBe(false);
    const { accepted } = await w.compactions.compact({
      ...at,
      type: 2,
      runAs: '',
      properties: {},
      initiatorId: '',
      initiatorVersion: '',
      poolName: '',
      orderBy: '',
    });
    expect(accepted).toBe(true);
  });

  it('stays asked for when the name is dropped again, or another’s', async () => {
    const { location } = await softTable();
    const txnId = await w.open();
    await submit(location, txnId);
    await w.catalog.dropTable({ database: 'default', name: table });
    await w.compactions.forgetCompactions({ ...at, partitions: [] });
    await settle(txnId);
    expect(await w.cleaner()).toBe(1);
    expect(await isThere(location)).toBe(false);
  });

  it('of a drop that nobody finished is given up, and nothing removed', async () => {
    const { location, id } = await softTable();
    const txnId = await w.open(TxnType.TXN_TYPE_SOFT_DELETE);
    await submit(location, txnId, { droppedId: id });
    await w.end(txnId, 'abort');
    expect(await w.cleaner()).toBe(0);
    expect(await w.states()).toEqual(['1 refused']);
    expect((await w.show())[0].errorMessage).toContain('was not dropped');
    expect(await isThere(location)).toBe(true);
  });

  it('goes also when the one who dropped it died before it could tell', async () => {
    const { location, id } = await softTable();
    const reader = await w.open();
    const txnId = await w.open(TxnType.TXN_TYPE_SOFT_DELETE);
    await submit(location, txnId, { droppedId: id });
    await w.catalog.dropTable({ database: 'default', name: table });
    await w.end(txnId, 'abort');
    expect(await w.cleaner()).toBe(0);
    await w.end(reader);
    expect(await w.cleaner()).toBe(1);
    expect(await isThere(location)).toBe(false);
  });

  it('with records by table: readers of other tables do not matter', async () => {
    await w.close();
    w = await World.open({ ...how, conf: { useMinHistoryWriteId: true } });
    const { location, id } = await softTable();
    await w.createTable('other');
    const [elsewhere, here] = [await w.open(), await w.open()];
    const reads = async (txnId: bigint, name: string) =>
      await w.txns.addMinHistoryWriteIds({ txnId, tables: [{ database: 'default', table: name, writeId: 1n }] });
    await reads(elsewhere, 'other');
    await reads(here, table);
    const txnId = await w.open(TxnType.TXN_TYPE_SOFT_DELETE);
    await submit(location, txnId, { droppedId: id });
    await w.catalog.dropTable({ database: 'default', name: table });
    await settle(txnId);
    expect(await w.cleaner()).toBe(0);
    await w.end(here);
    expect(await w.cleaner()).toBe(1);
    expect(await isThere(location)).toBe(false);
  });

  it('of a partition: what is older than the drop, and the folder if nobody has it', async () => {
    await w.createTable('p', { partitionKeys: ['k'] });
    for (const k of ['k=1', 'k=2', 'k=3']) {
      await w.addPartition('p', k);
      await w.insert([[1, 'old']], { table: 'p', partition: k });
    }
    const { partitions } = await w.catalog.getPartitions({ database: 'default', table: 'p', names: [] });
    const { txnId, writeId } = await w.begin(3, { table: 'p' });
    for (const [i, k] of ['k=1', 'k=2', 'k=3'].entries()) {
      const droppedId = partitions[i].id;
      await submit(w.location('p', k), txnId, { table: 'p', partition: k, highestWriteId: writeId, droppedId });
      await writeEmptyBase(w.fs, w.location('p', k), writeId, 'dropped');
    }
    await w.catalog.dropPartitions({ database: 'default', table: 'p', names: ['k=1', 'k=2', 'k=3'] });
    await settle(txnId);
    // One is made again, and a writer is about to make another again.
    await w.addPartition('p', 'k=2');
    await w.insert([[2, 'new']], { table: 'p', partition: 'k=2' });
    const writer = await w.insert([[3, 'newer']], { table: 'p', partition: 'k=3', end: 'open' });
    await w.cleaner();
    expect(w.ls('p')).toEqual(['k=2', 'k=3']);
    expect(w.ls('p', 'k=2')).toEqual(['base_0000004', 'delta_0000005_0000005_0000']);
    expect(w.ls('p', 'k=3')).toEqual(['delta_0000006_0000006_0000']);
    await w.end(writer.txnId);
    await w.addPartition('p', 'k=3');
    expect(await w.rows({ table: 'p', partition: 'k=2' })).toEqual(['2|new']);
    expect(await w.rows({ table: 'p', partition: 'k=3' })).toEqual(['3|newer']);
    expect((await w.show()).map(({ state }) => state)).toEqual(
      Array.from({ length: 3 }, () => CompactionState.COMPACTION_STATE_SUCCEEDED),
    );
  });

  it('of a partition that was not dropped stays as it is', async () => {
    await w.createTable('p', { partitionKeys: ['k'] });
    await w.addPartition('p', 'k=1');
    await w.insert([[1, 'x']], { table: 'p', partition: 'k=1' });
    const { partitions } = await w.catalog.getPartitions({ database: 'default', table: 'p', names: [] });
    const { txnId, writeId } = await w.begin(4, { table: 'p', partition: 'k=1' });
    const droppedId = partitions[0].id;
    const location = w.location('p', 'k=1');
    await submit(location, txnId, { table: 'p', partition: 'k=1', highestWriteId: writeId, droppedId });
    await writeEmptyBase(w.fs, location, writeId, 'dropped');
    await w.end(txnId, 'abort');
    await w.cleaner();
    expect(await w.rows({ table: 'p', partition: 'k=1' })).toEqual(['1|x']);
    expect(await w.states()).toEqual(['1 refused']);
    // Its record is there as long as its base is.
    await w.age();
    expect(await w.rows({ table: 'p', partition: 'k=1' })).toEqual(['1|x']);
  });

  it('is tried again when its folder cannot be removed', async () => {
    const { location } = await softTable();
    const txnId = await w.open();
    await submit(location, txnId);
    await w.catalog.dropTable({ database: 'default', name: table });
    await settle(txnId);
    const fs = override(w.fs, {
      delete: async () => {
        throw new SkepError('STORAGE', 'unavailable', 'the disk is away');
      },
    });
    expect(await w.cleaner(w.with({ fs }))).toBe(0);
    expect(await w.states()).toEqual(['1 ready for cleaning']);
    expect((await w.show())[0].errorMessage).toContain('the disk is away');
    w.advance(300_001);
    expect(await w.cleaner()).toBe(1);
    expect(await isThere(location)).toBe(false);
  });

  it('must be a folder that no other table can have', async () => {
    const txnId = await w.open();
    await expect(submit('file:/w/d.db/t', txnId)).rejects.toThrow('end in .v and digits');
    await expect(submit('', txnId)).rejects.toThrow('the folder that goes');
    await expect(submit('file:/w/t.v0000001', 0n)).rejects.toThrow('the transaction that drops');
    await expect(w.compactions.settleCleanups({ txnId, nextTxnId: 0n, commitTimeMs: 0n })).rejects.toThrow(
      'cannot wait for transactions up to 0 only',
    );
  });
});
