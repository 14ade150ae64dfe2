import { parseAcidDirectoryName } from '@skep/acid';
import { CompactionState, CompactionType, DataOperation, TxnType } from '@skep/rpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAJOR, MINOR, World } from '../test/world.js';

/** What aborted transactions left: removed, and only then forgotten (design rule 6). */

let w: World;
beforeEach(async () => {
  // Every aborted transaction is one too many: the Cleaner removes them without a compaction.
  w = await World.open({ conf: { abortedTxnThreshold: 0 } });
  await w.createTable();
});
afterEach(() => w.close());

const withoutAbortCleaner = () => w.with({ conf: { ...w.services.conf, abortedTxnThreshold: 1000 } });
const abortedTxns = async () => (await w.txns.showTxns({})).txns.map((txn) => txn.txnId);

/** A compaction that died after it wrote something: its transaction is aborted, its folder is there. */
async function deadCompaction(folder: (v: string) => string, partition?: string): Promise<bigint> {
  const txnId = await w.open(TxnType.TXN_TYPE_COMPACTION);
  const operation = DataOperation.DATA_OPERATION_COMPACT;
  const resource = { database: 'default', table: 't', partition };
  const component = { resource, operation, isDynamicPartitionWrite: false, writeId: 2n };
  await w.txns.addWriteComponents({ txnId, components: [component] });
  const name = folder(`_v${String(txnId).padStart(7, '0')}`);
  const path = `${w.location('t', partition)}/${name}`;
  const sink = await w.fs.create(`${path}/bucket_00000`);
  await sink.write(new Uint8Array([1, 2, 3]));
  await sink.close();
  expect(parseAcidDirectoryName(name)?.visibilityTxnId).toBe(txnId);
  return txnId;
}

describe('aborted writes', () => {
  it('go without a compaction, and are forgotten', async () => {
    await w.insert([[1, 'a']]);
    await w.insert([[2, 'b']], { end: 'abort' });
    await w.insert([[3, 'c']], { end: 'abort', overwrite: true });
    await w.insert([[4, 'd']]);
    expect(await w.cleaner()).toBe(2);
    expect(w.ls()).toEqual(['delta_0000001_0000001_0000', 'delta_0000004_0000004_0000']);
    await w.age();
    expect(await abortedTxns()).toEqual([]);
    expect(await w.rows()).toEqual(['1|a', '4|d']);
  });

  it('wait while they are few and young', async () => {
    const conf = { ...w.services.conf, abortedTxnThreshold: 1, abortedTxnTimeThresholdMs: 5000 };
    await w.insert([[1, 'a']], { end: 'abort' });
    expect(await w.cleaner(w.with({ conf }))).toBe(0);
    w.advance(5001);
    expect(await w.cleaner(w.with({ conf }))).toBe(1);
    await w.insert([[2, 'b']], { end: 'abort' });
    expect(await w.cleaner(w.with({ conf }))).toBe(0);
    await w.insert([[3, 'c']], { end: 'abort' });
    expect(await w.cleaner(w.with({ conf }))).toBe(2);
  });

  it('go all at once where nothing else is known of the table', async () => {
    for (let i = 0; i < 9; i++) {
      await w.insert([[i, 'x']], { end: 'abort' });
      await w.end(await w.open(), 'abort');
    }
    expect((await w.snapshot()).writeIds.toString()).toBe('default.t:1:9223372036854775807::1');
    expect(await w.cleaner()).toBe(9);
    expect(w.ls()).toEqual([]);
    expect(await w.count('TXN_COMPONENTS')).toBe(0);
  });

  it('at the end do not hide what an insert-only table was compacted to', async () => {
    await w.createTable('mm', { parameters: { transactional_properties: 'insert_only' } });
    const mm = { table: 'mm', insertOnly: true };
    for (const a of [1, 2, 3]) await w.insert([[a, 'x']], mm);
    for (const a of [4, 5]) await w.insert([[a, 'x']], { ...mm, end: 'abort' });
    await w.compact(MAJOR, mm);
    await w.worker();
    await w.age();
    // The valid ids are forgotten, so the list ends at the lowest aborted one.
    expect((await w.snapshot('mm')).writeIds.highWatermark).toBe(4n);
    expect(await w.rows(mm)).toEqual(['1|x', '2|x', '3|x']);
    await w.cleaner();
    expect(w.ls('mm')).toEqual([expect.stringMatching(/^base_0000003_v/)]);
  });

  it('of an open transaction stay, also when it aborts during the clean-up', async () => {
    await w.insert([[1, 'a']], { end: 'abort' });
    const open = await w.insert([[2, 'b']], { end: 'open' });
    const list = w.fs.list;
    let isFirst = true;
    const fs = {
      ...w.fs,
      list: async (dir: string) => {
        if (isFirst) await w.end(open.txnId, 'abort');
        isFirst = false;
        return await list(dir);
      },
    };
    expect(await w.cleaner(w.with({ fs }))).toBe(1);
    expect(w.ls()).toEqual(['delta_0000002_0000002_0000']);
    await w.age();
    expect(await w.rows()).toEqual([]);
    expect(await w.cleaner()).toBe(1);
    expect(w.ls()).toEqual([]);
  });

  it('inside a streaming delta are remembered as long as it is there (B37)', async () => {
    const txns = [await w.open(), await w.open(), await w.open()];
    const { txnToWriteIds } = await w.txns.allocateTableWriteIds({
      txnIds: txns,
      database: 'default',
      table: 't',
      reallocate: false,
    });
    expect(txnToWriteIds.map(({ writeId }) => writeId)).toEqual([1n, 2n, 3n]);
    for (const txnId of txns) {
      const resource = { database: 'default', table: 't' };
      const operation = DataOperation.DATA_OPERATION_INSERT;
      await w.txns.addWriteComponents({ txnId, components: [{ resource, operation, isDynamicPartitionWrite: false }] });
    }
    // As a streaming writer leaves it: the rows of a batch of transactions in one file.
    await w.writeRows(1n, [[1, 'a']], {});
    await w.writeRows(2n, [[2, 'b']], {});
    await w.writeRows(3n, [[3, 'c']], {});
    for (const txnId of txns) await w.end(txnId, txnId === txns[1] ? 'abort' : 'commit');
    await mergeInto('delta_0000001_0000003');
    expect(await w.rows()).toEqual(['1|a', '3|c']);
    expect(await w.cleaner()).toBe(0);
    await w.compact(MINOR);
    await w.worker();
    expect(await w.states()).toEqual(['1 refused']);
    await w.age();
    expect(await w.rows()).toEqual(['1|a', '3|c']);
    // Once it is compacted, and only then, nothing is left of it.
    await w.insert([[4, 'd']]);
    await w.compact(MAJOR);
    await w.worker();
    await w.cleaner();
    await w.age();
    expect(await abortedTxns()).toEqual([]);
    expect(w.ls()).toEqual([expect.stringMatching(/^base_0000004_v/)]);
    expect(await w.rows()).toEqual(['1|a', '3|c', '4|d']);
  });

  /** One folder with the rows of all, aborted ones too: made by a compaction that takes everything as valid. */
  async function mergeInto(name: string): Promise<void> {
    const { compactMinor, getAcidState } = await import('@skep/acid');
    const { ValidTxnList, ValidWriteIdList } = await import('@skep/core');
    const { parseType } = await import('@skep/orc');
    const writeIds = ValidWriteIdList.allValid();
    const state = await getAcidState(w.fs, w.location(), writeIds, ValidTxnList.allValid());
    const schema = parseType('struct<a:int,b:string>');
    const { directories } = await compactMinor({ fs: w.fs, state, writeIds, schema, visibilityTxnId: 999n });
    for (const delta of state.deltas) await w.fs.delete(delta.path, { recursive: true });
    await w.fs.rename(directories[0], `${w.location()}/${name}`);
  }

  it('above the id that a compaction reached are not forgotten with it (B70)', async () => {
    await w.insert([[1, 'a']]);
    await w.insert([[2, 'b']]);
    const open = await w.insert([[3, 'c']], { end: 'open' });
    await w.compact(MAJOR);
    await w.worker();
    await w.end(open.txnId, 'abort');
    await w.insert([[4, 'd']]);
    await w.cleaner(withoutAbortCleaner());
    await w.age();
    expect(await w.rows()).toEqual(['1|a', '2|b', '4|d']);
    expect(await w.count('TXN_COMPONENTS')).toBe(1);
  });

  it('of a table that is gone are forgotten once its folder is gone too, but not while it is being renamed (Hive: assuming it was dropped)', async () => {
    const { txnId } = await w.insert([[1, 'a']], { end: 'abort' });
    const held = await w.lockTable('t');
    await w.catalog.dropTable({ database: 'default', name: 't' });
    await w.fs.delete(w.location(), { recursive: true });
    expect(await w.cleaner()).toBe(0);
    expect(await w.count('TXN_COMPONENTS')).toBe(1);
    expect(await w.count('HIVE_LOCKS')).toBe(1);
    await w.locks.unlock({ lockId: held });
    w.advance(300_001);
    await w.cleaner();
    expect(await w.count('TXN_COMPONENTS')).toBe(0);
    expect(await w.count('HIVE_LOCKS')).toBe(0);
    await w.age();
    expect(await abortedTxns()).not.toContain(txnId);
  });

  it('of a table that is gone, but whose folder is there, or not to be cleaned, are left alone', async () => {
    await w.createTable('keep', { parameters: { no_cleanup: 'true' } });
    await w.insert([[1, 'a']], { table: 'keep', end: 'abort' });
    await w.insert([[1, 'a']], { end: 'abort' });
    await w.catalog.dropTable({ database: 'default', name: 't' });
    expect(await w.cleaner()).toBe(0);
    expect(await w.count('TXN_COMPONENTS')).toBe(2);
    expect(w.ls('keep')).toHaveLength(1);
  });

  it('that cannot be removed are tried again later, and are not forgotten', async () => {
    await w.insert([[1, 'a']], { end: 'abort' });
    const fs = {
      ...w.fs,
      delete: async (): Promise<boolean> => {
        throw new RangeError('disk');
      },
    };
    const { Cleaner } = await import('./cleaner.js');
    const cleaner = new Cleaner(w.with({ fs }));
    for (let i = 0; i < 5; i++) await cleaner.runOnce();
    expect(w.logged).toHaveLength(1);
    // In the queue: another Cleaner waits, too, and SHOW COMPACTIONS says why.
    const retry = async () => (await w.show())[0];
    const type = CompactionType.COMPACTION_TYPE_ABORT_TXN_CLEANUP;
    expect(await retry()).toMatchObject({ type, table: 't', errorMessage: expect.stringMatching(/disk/) });
    const delays: bigint[] = [];
    for (let i = 0; i < 5; i++) {
      delays.push((await retry()).retryRetentionMs);
      await new Cleaner(w.with({ fs })).runOnce();
      expect(w.logged).toHaveLength(i + 1);
      w.advance(i === 0 ? 300_001 : 300_000 * 2 ** (i - 1));
      await new Cleaner(w.with({ fs })).runOnce();
      expect(w.logged).toHaveLength(i + 2);
    }
    expect(delays).toEqual([300_000n, 600_000n, 1_200_000n, 2_400_000n, 4_800_000n]);
    expect(await w.states()).toEqual(['1 failed']);
    expect(w.logged[2]).toMatch(/default\.t.*disk/);
    await w.age();
    expect(await w.rows()).toEqual([]);
    await cleaner.runOnce();
    expect((await w.show()).map(({ state, type: kind }) => [state, kind])).toContainEqual([
      CompactionState.COMPACTION_STATE_READY_FOR_CLEANING,
      type,
    ]);
    w.advance(300_001);
    expect(await w.cleaner()).toBe(1);
    // Of what came out well there is no history.
    expect(await w.states()).toEqual(['1 failed']);
  });

  it('whose retry a Hive has left are no more to be tried again once a compaction was cleaned', async () => {
    for (const a of [1, 2]) await w.insert([[a, 'x']]);
    const retry = { id: 0n, retryRetentionMs: 9_000_000n, errorMessage: 'Hive says', database: 'default', table: 'T' };
    await w.compactions.setCleanerRetry(retry);
    await w.compactions.setCleanerRetry({ ...retry, table: 'u' });
    await w.compactions.setCleanerRetry({ ...retry, errorMessage: 'again' });
    expect((await w.show()).map(({ table, errorMessage }) => `${table} ${errorMessage}`).sort()).toEqual([
      't again',
      'u Hive says',
    ]);
    await w.compact(MAJOR);
    await w.worker();
    await w.cleaner();
    // Neither is one where nobody has any aborts.
    expect((await w.show()).map(({ table, type }) => [table, type])).toEqual([['t', MAJOR]]);
    await expect(w.compactions.setCleanerRetry({ ...retry, table: '' })).rejects.toThrow(
      /needs a database and a table/,
    );
  });
});

describe('aborted dynamic-partition writes (B65)', () => {
  beforeEach(async () => {
    await w.createTable('p', { partitionKeys: ['k'] });
    for (const name of ['k=1', 'k=2']) await w.addPartition('p', name);
  });

  it('lose their own folders in every partition, those that never came to be too', async () => {
    for (const k of ['k=1', 'k=2', 'k=1', 'k=2', 'k=1', 'k=2']) await w.insert([[1, k]], { table: 'p', partition: k });
    const dynamic = { table: 'p', isDynamicPartitionWrite: true };
    const { txnId, writeId } = await w.begin(DataOperation.DATA_OPERATION_INSERT, dynamic);
    expect(writeId).toBe(7n);
    for (const k of ['k=1', 'k=2', 'k=new']) await w.writeRows(7n, [[7, k]], { table: 'p', partition: k });
    await w.end(txnId, 'abort');
    await w.insert([[8, 'k=2']], { table: 'p', partition: 'k=2' });
    const before = [...w.ls('p', 'k=1'), ...w.ls('p', 'k=2')];
    expect(await w.cleaner()).toBe(3);
    expect([...w.ls('p', 'k=1'), ...w.ls('p', 'k=2')]).toEqual(before.filter((name) => !name.includes('_0000007_')));
    expect(w.ls('p', 'k=new')).toEqual([]);
    await w.age();
    expect(await abortedTxns()).toEqual([]);
    // A later write makes the partition: nothing of the aborted one comes up.
    await w.addPartition('p', 'k=new');
    expect(await w.rows({ table: 'p', partition: 'k=new' })).toEqual([]);
    expect(await w.rows({ table: 'p', partition: 'k=1' })).toHaveLength(3);
    expect(await w.rows({ table: 'p', partition: 'k=2' })).toHaveLength(4);
  });

  it('are remembered while a folder with other rows has some of theirs', async () => {
    const dynamic = { table: 'p', isDynamicPartitionWrite: true };
    const { txnId, writeId } = await w.begin(DataOperation.DATA_OPERATION_INSERT, dynamic);
    await w.writeRows(writeId, [[1, 'x']], { table: 'p', partition: 'k=1' });
    const path = w.location('p', 'k=1');
    await w.insert([[2, 'x']], { table: 'p', partition: 'k=2' });
    await w.fs.rename(`${path}/delta_0000001_0000001_0000`, `${path}/delta_0000001_0000002`);
    await w.end(txnId, 'abort');
    expect(await w.cleaner()).toBe(0);
    await w.age();
    expect((await w.snapshot('p')).writeIds.isWriteIdValid(1n)).toBe(false);
  });

  it('of a partition that is gone are forgotten, wherever its files are, but not while it is being renamed', async () => {
    await w.insert([[1, 'a']], { table: 'p', partition: 'k=1', end: 'abort' });
    await w.insert([[2, 'a']], { table: 'p', partition: 'k=1' });
    const held = await w.lockTable('p', 'k=1');
    // A rename that dies before the transaction manager hears of it.
    const { partitions } = await w.catalog.getPartitions({ database: 'default', table: 'p', names: ['k=1'] });
    await w.fs.rename(w.location('p', 'k=1'), w.location('p', 'k=3'));
    const sd = partitions[0].sd && { ...partitions[0].sd, location: w.location('p', 'k=3') };
    const renamed = [{ ...partitions[0], values: ['3'], sd }];
    await w.catalog.alterPartitions({ database: 'default', table: 'p', names: ['k=1'], partitions: renamed });
    expect(await w.cleaner()).toBe(0);
    expect(await w.count('TXN_COMPONENTS')).toBe(1);
    await w.locks.unlock({ lockId: held });
    w.advance(300_001);
    expect(await w.cleaner()).toBe(1);
    expect(await w.count('TXN_COMPONENTS')).toBe(0);
    expect(await w.count('HIVE_LOCKS')).toBe(0);
    await w.age();
    expect(await w.rows({ table: 'p', partition: 'k=3' })).toEqual(['2|a']);
    expect(await abortedTxns()).toEqual([]);
  });

  it('of a partition that the catalog has, without its folder, are left alone', async () => {
    await w.insert([[1, 'a']], { table: 'p', partition: 'k=1', end: 'abort' });
    await w.fs.delete(w.location('p', 'k=1'), { recursive: true });
    expect(await w.cleaner()).toBe(0);
    expect(await w.count('TXN_COMPONENTS')).toBe(1);
  });

  it('of one partition that never came to be are removed from where it would be', async () => {
    await w.insert([[1, 'a']], { table: 'p', partition: 'k=none', end: 'abort' });
    expect(await w.cleaner()).toBe(1);
    expect(w.ls('p', 'k=none')).toEqual([]);
    expect(await w.count('TXN_COMPONENTS')).toBe(0);
  });
});

describe('a compaction that died', () => {
  it('is never seen, and forgotten when its folder is gone', async () => {
    await w.insert([[1, 'a']]);
    await w.insert([[2, 'b']], { end: 'abort' });
    const dead = await deadCompaction((v) => `base_0000001${v}`);
    await w.end(dead, 'abort');
    expect(await w.rows()).toEqual(['1|a']);
    expect(await w.cleaner()).toBe(2);
    expect(w.ls()).toEqual(['delta_0000001_0000001_0000']);
    await w.age();
    expect(await abortedTxns()).toEqual([]);
    expect(await w.rows()).toEqual(['1|a']);
  });

  it('keeps its record while its folder is there', async () => {
    await w.insert([[1, 'a']]);
    const reader = await w.open();
    const dead = await deadCompaction((v) => `base_0000001${v}`);
    const resource = { database: 'default', table: 't' };
    await w.end(dead, 'abort');
    // Whatever is said of write ids, and of compactions before it.
    for (const allAbortedBelow of [true, false]) {
      const abortedWriteIds = [1n, 2n];
      await w.txns.markCleaned({
        resource,
        highestWriteId: 9n,
        abortedWriteIds,
        allAbortedBelow,
        compactionTxnId: dead - 1n,
      });
    }
    await w.end(reader);
    await w.age();
    expect(await abortedTxns()).toEqual([dead]);
    expect(await w.rows()).toEqual(['1|a']);
  });

  it('goes with the next compaction, delete deltas included (B56)', async () => {
    const services = withoutAbortCleaner();
    await w.insert([[1, 'a']]);
    await w.insert([[2, 'b']]);
    for (const folder of [
      (v: string) => `base_0000002${v}`,
      (v: string) => `delta_0000001_0000002${v}`,
      (v: string) => `delete_delta_0000001_0000002${v}`,
    ]) {
      await w.end(await deadCompaction(folder), 'abort');
    }
    expect(await w.rows()).toEqual(['1|a', '2|b']);
    await w.compact(MAJOR);
    await w.worker(services);
    await w.cleaner(services);
    expect(w.ls()).toEqual([expect.stringMatching(/^base_0000002_v/)]);
    expect(await w.count('TXN_COMPONENTS')).toBe(0);
    await w.age();
    expect(await abortedTxns()).toEqual([]);
    expect(await w.rows()).toEqual(['1|a', '2|b']);
  });

  it('after the one that is cleaned keeps record and folder until its own turn', async () => {
    const services = withoutAbortCleaner();
    await w.insert([[1, 'a']]);
    await w.insert([[2, 'b']], { end: 'abort' });
    await w.insert([[3, 'c']]);
    await w.compact(MAJOR);
    await w.worker(services);
    // Open while the first is cleaned, then aborted: above the Cleaner's watermark all the time.
    const later = await deadCompaction((v) => `base_0000003${v}`);
    await w.cleaner(services);
    expect(await w.states()).toEqual(['1 succeeded']);
    await w.end(later, 'abort');
    expect(w.ls()).toHaveLength(2);
    await w.age();
    expect(await abortedTxns()).toEqual([later]);
    expect(await w.rows()).toEqual(['1|a', '3|c']);
    w.advance(12 * 3_600_000);
    expect(await w.cleaner(services)).toBe(1);
    await w.age();
    expect(await abortedTxns()).toEqual([]);
    expect(await w.rows()).toEqual(['1|a', '3|c']);
  });

  it('of a rebalancing is forgotten with its lock’s record', async () => {
    await w.insert([[1, 'a']]);
    const txnId = await deadCompaction((v) => `base_0000001${v}`);
    const resource = { database: 'default', table: 't' };
    const operation = DataOperation.DATA_OPERATION_UPDATE;
    await w.txns.addWriteComponents({ txnId, components: [{ resource, operation, isDynamicPartitionWrite: false }] });
    await w.end(txnId, 'abort');
    expect(await w.count('TXN_COMPONENTS')).toBe(2);
    expect(await w.cleaner()).toBe(1);
    expect(await w.count('TXN_COMPONENTS')).toBe(0);
  });
});
