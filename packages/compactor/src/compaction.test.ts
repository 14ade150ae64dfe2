import { openOrc } from '@skep/orc';
import { CompactionState, CompactionType, DataOperation } from '@skep/rpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A_WHILE_MS, MAJOR, MINOR, type RowId, World } from '../test/world.js';
import { Cleaner } from './cleaner.js';

/** Requests carried out from end to end: by the real services on SQLite, in a folder, with the real kernels. */

const B0 = 536870912;
const id = (writeId: bigint, rowId = 0n): RowId => [writeId, B0, rowId];

let w: World;
beforeEach(async () => {
  w = await World.open();
  await w.createTable();
});
afterEach(() => w.close());

const show = async (requestId: bigint) =>
  (await w.compactions.showCompactions({ id: requestId, limit: 0n })).compactions[0];

describe('inserts and deletes', () => {
  it('are compacted minor and major, and cleaned', async () => {
    await w.insert([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]);
    await w.insert([[4, 'd']]);
    await w.remove([id(1n)]);
    const rows = ['1,536870912,1|2|b', '1,536870912,2|3|c', '2,536870912,0|4|d'];
    expect(await w.rows({ ids: true })).toEqual(rows);

    expect((await w.compact(MINOR)).id).toBe(1n);
    expect(await w.worker()).toBe(true);
    expect(await w.states()).toEqual(['1 ready for cleaning']);
    const job = await show(1n);
    // In whose name: Hive's Cleaner cannot do without.
    expect(job).toMatchObject({ workerId: '', highestWriteId: 3n, runAs: expect.stringMatching(/./) });
    expect(job.nextTxnId).toBe(job.txnId);
    const v = `_v${String(job.txnId).padStart(7, '0')}`;
    expect(w.ls()).toEqual([
      `delete_delta_0000001_0000003${v}`,
      'delete_delta_0000003_0000003_0000',
      'delta_0000001_0000001_0000',
      `delta_0000001_0000003${v}`,
      'delta_0000002_0000002_0000',
    ]);
    expect(await w.rows({ ids: true })).toEqual(rows);
    expect(await w.cleaner()).toBe(3);
    expect(w.ls()).toEqual([`delete_delta_0000001_0000003${v}`, `delta_0000001_0000003${v}`]);
    expect(await w.states()).toEqual(['1 succeeded']);
    expect(await w.rows({ ids: true })).toEqual(rows);

    w.advance(10);
    await w.remove([id(2n)]);
    await w.compact(MAJOR);
    await w.worker();
    await w.cleaner();
    expect(w.ls()).toEqual([`base_0000004_v${String((await show(2n)).txnId).padStart(7, '0')}`]);
    expect(await w.rows({ ids: true })).toEqual(rows.slice(0, 2));
    expect(await w.states()).toEqual(['2 succeeded', '1 succeeded']);
    expect(await w.count('COMPLETED_TXN_COMPONENTS')).toBe(0);
    expect(await w.count('TXN_COMPONENTS')).toBe(0);
  });

  it('that two requests made obsolete go in two rounds', async () => {
    await w.insert([[1, 'a']]);
    await w.insert([[2, 'b']]);
    await w.compact(MINOR);
    await w.worker();
    await w.insert([[3, 'c']]);
    await w.compact(MAJOR);
    await w.worker();
    const cleaner = new Cleaner(w.services);
    // What the first made obsolete cannot be told from the second's any more: it is left to that.
    expect(await cleaner.runOnce()).toBe(0);
    expect(await w.states()).toEqual(['1 succeeded', '2 ready for cleaning']);
    expect(await cleaner.runOnce()).toBe(4);
    expect(w.ls()).toEqual([expect.stringMatching(/^base_0000003_v/)]);
    expect((await w.states()).sort()).toEqual(['1 succeeded', '2 succeeded']);
    expect(await w.rows()).toEqual(['1|a', '2|b', '3|c']);
  });

  it('are cleaned one request after the other where cleaning is to be late', async () => {
    const services = w.with({ conf: { ...w.services.conf, cleanerDelayMs: 10_000 } });
    await w.insert([[1, 'a']]);
    await w.insert([[2, 'b']]);
    await w.compact(MINOR);
    await w.worker();
    w.advance(5_000);
    await w.insert([[3, 'c']]);
    await w.compact(MAJOR);
    await w.worker();
    w.advance(5_001);
    // The first is due; what it made obsolete is now the second one's, whose base it cannot judge.
    await w.cleaner(services);
    expect(await w.states()).toEqual(['1 succeeded', '2 ready for cleaning']);
    expect(await w.rows()).toEqual(['1|a', '2|b', '3|c']);
    w.advance(5_000);
    await w.cleaner(services);
    expect(w.ls()).toEqual([expect.stringMatching(/^base_0000003_v/)]);
  });

  it('of an insert-only table, and its minor compaction', async () => {
    await w.createTable('mm', { parameters: { transactional_properties: 'insert_only' } });
    const mm = { table: 'mm', insertOnly: true };
    await w.insert([[1, 'a']], mm);
    await w.insert([[2, 'b']], mm);
    await w.compact(MINOR, mm);
    await w.worker();
    await w.cleaner();
    expect(w.ls('mm')).toEqual([expect.stringMatching(/^delta_0000001_0000002_v\d+$/)]);
    await w.insert([[3, 'c']], mm);
    await w.compact(MAJOR, mm);
    await w.worker();
    await w.cleaner();
    expect(w.ls('mm')).toEqual([expect.stringMatching(/^base_0000003_v\d+$/)]);
    expect(await w.rows(mm)).toEqual(['1|a', '2|b', '3|c']);
  });

  it('of an insert-only table of another format are only gathered', async () => {
    const inputFormat = 'org.apache.hadoop.mapred.TextInputFormat';
    await w.createTable('txt', { parameters: { transactional_properties: 'insert_only' }, inputFormat });
    for (const [writeId, text] of [
      [1n, '1\u0001a\n'],
      [2n, '2\u0001b\n'],
    ] as const) {
      const { txnId } = await w.begin(DataOperation.DATA_OPERATION_INSERT, { table: 'txt' });
      const sink = await w.fs.create(`${w.location('txt')}/delta_000000${writeId}_000000${writeId}_0000/000000_0`);
      await sink.write(new TextEncoder().encode(text));
      await sink.close();
      await w.end(txnId);
    }
    await w.compact(MAJOR, { table: 'txt' });
    await w.worker();
    await w.cleaner();
    const [base] = w.ls('txt');
    expect(w.ls('txt')).toEqual([expect.stringMatching(/^base_/)]);
    expect(w.ls('txt', base)).toEqual(['000000_0', '000000_0_copy_1']);
    expect(await w.states()).toEqual(['1 succeeded']);
  });

  it('of a partitioned table as a whole is none: its folders are the partitions’', async () => {
    await w.createTable('p', { partitionKeys: ['city'] });
    for (const city of ['city=Paris', 'city=Rome']) {
      await w.addPartition('p', city);
      for (const a of [1, 2]) await w.insert([[a, city]], { table: 'p', partition: city });
    }
    // The overwritten folders are for a Cleaner that is asked for the partition.
    await w.insert([[3, 'x']], { table: 'p', partition: 'city=Rome', overwrite: true });
    for (const type of [MAJOR, MINOR]) {
      await w.compact(type, { table: 'p' });
      await w.worker();
      expect(await w.states()).toContain(`${type === MAJOR ? 1 : 2} ready for cleaning`);
      w.advance(A_WHILE_MS);
      await w.cleaner();
    }
    expect(await w.states()).toEqual(['2 succeeded', '1 succeeded']);
    expect(w.ls('p')).toEqual(['city=Paris', 'city=Rome']);
    expect(w.ls('p', 'city=Rome')).toHaveLength(3);
    expect(await w.rows({ table: 'p', partition: 'city=Paris' })).toEqual(['1|city=Paris', '2|city=Paris']);
    expect(await w.rows({ table: 'p', partition: 'city=Rome' })).toEqual(['3|x']);
  });

  it('of one partition', async () => {
    await w.createTable('p', { partitionKeys: ['city'] });
    for (const city of ['city=Paris', 'city=paris']) {
      await w.addPartition('p', city);
      for (const a of [1, 2]) await w.insert([[a, city]], { table: 'p', partition: city });
    }
    await w.compact(MAJOR, { table: 'p', partition: 'city=Paris' });
    await w.worker();
    await w.cleaner();
    expect(w.ls('p', 'city=Paris')).toEqual([expect.stringMatching(/^base_0000002_v/)]);
    expect(w.ls('p', 'city=paris')).toEqual(['delta_0000003_0000003_0000', 'delta_0000004_0000004_0000']);
    expect(await w.rows({ table: 'p', partition: 'city=Paris' })).toEqual(['1|city=Paris', '2|city=Paris']);
  });

  it('of an insert-only table fails where the configuration forbids it', async () => {
    await w.createTable('mm', { parameters: { transactional_properties: 'insert_only' } });
    for (const a of [1, 2]) await w.insert([[a, 'x']], { table: 'mm' });
    await w.compact(MAJOR, { table: 'mm' });
    await w.worker(w.with({ conf: { ...w.services.conf, compactInsertOnly: false } }));
    expect(await w.states()).toEqual(['1 failed']);
    expect((await show(1n)).errorMessage).toMatch(/^Insert only compaction is disabled\. Set hive\.compactor\./);
    expect(w.ls('mm')).toHaveLength(2);
  });

  it('of an insert-only table cannot be rebalanced', async () => {
    await w.createTable('mm', { parameters: { transactional_properties: 'insert_only' } });
    await w.compact(CompactionType.COMPACTION_TYPE_REBALANCE, { table: 'mm' });
    await w.worker();
    expect(await w.states()).toEqual(['1 failed']);
    expect((await show(1n)).errorMessage).toBe('REBALANCE compaction is not supported on insert only tables.');
  });

  it('are rebalanced', async () => {
    await w.insert(Array.from({ length: 10 }, (_, a) => [a, 'x'] as const));
    await w.insert([[10, 'x']]);
    const request = { database: 'default', table: 't', type: CompactionType.COMPACTION_TYPE_REBALANCE };
    const rest = { runAs: '', properties: {}, initiatorId: '', initiatorVersion: '', poolName: '', orderBy: '' };
    await w.compactions.compact({ ...request, ...rest, numberOfBuckets: 3 });
    await w.worker();
    await w.cleaner();
    const [base] = w.ls();
    expect(w.ls('t', base).filter((name) => name.startsWith('bucket'))).toEqual([
      'bucket_00000',
      'bucket_00001',
      'bucket_00002',
    ]);
    expect(await w.states()).toEqual(['1 succeeded']);
    expect(await w.rows()).toHaveLength(11);
  });

  it('written while a compaction runs stay as they are', async () => {
    const other = await World.open({ folder: w.folder, clock: w.clock });
    await w.insert([[0, 'first']]);
    let next = 1;
    const write = async () => {
      for (; next <= 30; next++) await other.insert([[next, 'x']]);
    };
    const compact = async () => {
      for (let i = 0; i < 8; i++) {
        await w.compact(i % 3 === 2 ? MAJOR : MINOR);
        await w.worker();
        await w.cleaner();
        const seen = (await w.rows()).length;
        expect(seen).toBeGreaterThanOrEqual(1);
        expect(seen).toBeLessThanOrEqual(31);
      }
    };
    await Promise.all([write(), compact()]);
    // Else a minor compaction may have left one folder, of which a major one has nothing to make.
    await w.insert([[31, 'last']]);
    await w.compact(MAJOR);
    await w.worker();
    await w.cleaner();
    expect(await w.rows()).toHaveLength(32);
    expect(w.ls()).toEqual([expect.stringMatching(/^base_0000032_v/)]);
    expect((await w.states()).filter((state) => /failed/.test(state))).toEqual([]);
    await other.close();
  });
});

describe('a Worker', () => {
  it('refuses where there is not enough (golden aborted)', async () => {
    await w.insert([[1, 'a']]);
    await w.compact(MAJOR);
    await w.worker();
    expect(await show(1n)).toMatchObject({
      state: CompactionState.COMPACTION_STATE_REFUSED,
      workerId: 'here-1',
      txnId: 2n,
      nextTxnId: undefined,
      errorMessage: 'None of the compaction thresholds met, compaction request is refused!',
    });
    expect(await w.worker()).toBe(false);
  });

  it('refuses what is gone', async () => {
    await w.compact(MAJOR, { table: 'gone' });
    await w.compact(MAJOR, { table: 't', partition: 'p=1' });
    await w.worker();
    await w.worker();
    expect((await w.states()).sort()).toEqual(['1 refused', '2 refused']);
    expect((await w.txns.showTxns({})).txns).toEqual([]);
  });

  it('hands obsolete files to the Cleaner, which waits a second (golden compact_many)', async () => {
    await w.insert([[1, 'a']]);
    await w.insert([], { overwrite: true });
    await w.compact(MAJOR);
    await w.worker();
    await w.cleaner();
    expect(w.ls()).toEqual(['base_0000002', 'delta_0000001_0000001_0000']);
    expect(await show(1n)).toMatchObject({ txnId: 3n, nextTxnId: 3n, state: 3, errorMessage: '' });
    expect((await w.compact(MINOR)).errorMessage).toBe(
      "Compaction is already scheduled with state='ready for cleaning' and id=1",
    );
    w.advance(A_WHILE_MS);
    await w.cleaner();
    expect(w.ls()).toEqual(['base_0000002']);
    expect(await w.states()).toEqual(['1 succeeded']);
  });

  it('writes with the table’s properties and the request’s tblprops (golden seed_wiki_t)', async () => {
    await w.createTable('o', { parameters: { 'orc.compress': 'SNAPPY', 'orc.compress.size': '16384' } });
    for (const a of [1, 2]) await w.insert([[a, 'x']], { table: 'o' });
    await w.compactions.compact({
      database: 'default',
      table: 'o',
      type: MAJOR,
      runAs: '',
      properties: { 'compactor.mapreduce.map.memory.mb': '3072', 'tblprops.orc.compress.size': '8192' },
      initiatorId: '',
      initiatorVersion: '',
      poolName: '',
      orderBy: '',
    });
    await w.worker();
    await w.cleaner();
    const source = await w.fs.open(`${w.location('o')}/${w.ls('o')[0]}/bucket_00000`);
    const reader = await openOrc(source);
    expect([reader.compression, reader.compressionBlockSize]).toEqual(['snappy', 8192]);
    await source.close?.();
  });
});

describe('obsolete bases (B61)', () => {
  it('go, and the last stays', async () => {
    for (let i = 1; i <= 5; i++) await w.insert([[i, 'x']], { overwrite: true });
    expect(w.ls()).toHaveLength(5);
    expect(await w.initiator()).toEqual([1n]);
    await w.worker();
    w.advance(A_WHILE_MS);
    await w.cleaner();
    expect(w.ls()).toEqual(['base_0000005']);
    expect(await w.rows()).toEqual(['5|x']);
    expect(await w.initiator()).toEqual([]);
  });
});
