import { rmSync } from 'node:fs';
import { parseType, type StructVector, vectorOf } from '@skep/orc';
import { type RowChanges, TableSession } from '@skep/sql';
import { afterEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const ACID = "stored as orc tblproperties ('transactional'='true')";

async function homeWith(...statements: string[]): Promise<Home> {
  const home = await freshHome();
  closing.push(async () => {
    await home.close();
    rmSync(home.path, { recursive: true, force: true });
  });
  await run(home.newSession(), ...statements);
  return home;
}

type RowId = readonly [writeId: bigint, bucket: number, rowId: bigint];

/** ROW__IDs of the rows of a query, by their first column. */
async function rowIds(home: Home, query: string): Promise<Map<string, RowId>> {
  const found = await rows(home.newSession(), query);
  return new Map(
    found.map((line) => {
      const [name, id] = line.split('\t');
      const { writeid, bucketid, rowid } = JSON.parse(id);
      return [name, [BigInt(writeid), bucketid, BigInt(rowid)]];
    }),
  );
}

const structOf = (type: string, values: readonly Record<string, unknown>[]) =>
  vectorOf(parseType(type), values as never) as StructVector;

/** Deletes of some rows, and rows that come for them. */
function changes(ids: readonly RowId[], written: StructVector | undefined, keys?: StructVector): RowChanges {
  const { length } = ids;
  const vectors = {
    writeId: { kind: 'long', length, values: BigInt64Array.from(ids, ([writeId]) => writeId) },
    bucket: { kind: 'int', length, values: Int32Array.from(ids, ([, bucket]) => bucket) },
    rowId: { kind: 'long', length, values: BigInt64Array.from(ids, ([, , rowId]) => rowId) },
  } as const;
  const none: StructVector = { kind: 'struct', length, fieldNames: [], children: [] };
  return { deleted: { rowIds: vectors, length, keys: keys ?? none }, ...(written === undefined ? {} : { written }) };
}

async function change(session: TableSession, table: string, ...batches: RowChanges[]) {
  const columns = [
    { name: 'id', type: 'int' },
    { name: 'v', type: 'string' },
  ];
  const parted = table === 'p' ? [{ name: 'k', type: 'int' }] : [];
  return await session.change(
    { table: await session.table('default', table), partition: {}, given: [...columns, ...parted] },
    (async function* all() {
      yield* batches;
    })(),
  );
}

const CHANGED = { code: 'ROW_CHANGED', kind: 'conflict' };
const created = `create table t (id int, v string) ${ACID}`;
const row = (id: number, v: string) => structOf('struct<id:int,v:string>', [{ id, v }]);

describe('rows that are changed by their ROW__ID', () => {
  it('are lost to whoever changed or deleted them since they were read', async () => {
    const home = await homeWith(created, "insert into t values (1, 'a'), (2, 'b'), (3, 'c')");
    const ids = await rowIds(home, 'select id, row__id from t');
    const session = new TableSession(home.services, home.conf);
    const id = (name: string) => ids.get(name) as RowId;
    await run(home.newSession(), "update t set v = 'B' where id = 2", 'delete from t where id = 3');
    // An update of a row that was updated, one of a row that was deleted, a delete of each; with others that would be good.
    for (const [name, written] of [
      ['2', row(2, 'mine')] as const,
      ['3', row(3, 'mine')] as const,
      ['2'],
      ['3'],
    ] as const) {
      const one = changes([id(name)], written);
      await expect(change(session, 't', changes([id('1')], row(1, 'x')), one)).rejects.toMatchObject(CHANGED);
    }
    const left = ['1\ta', '2\tB'];
    expect(await rows(home.newSession(), 'select * from t order by id')).toEqual(left);
    await expect(change(session, 't', changes([id('2')], undefined))).rejects.toThrow(
      `sees no row with ROW__ID {"writeid":1,"bucketid":${id('2')[1]},"rowid":${id('2')[2]}} in default.t: it was changed or deleted since it was read`,
    );
    // Not twice in one write either.
    const twice = changes([id('1'), id('1')], structOf('struct<id:int,v:string>', [{ id: 1 }, { id: 1 }]));
    await expect(change(session, 't', twice)).rejects.toThrow('to be changed twice in one write');
    expect(await rows(home.newSession(), 'select * from t order by id')).toEqual(left);
    // A row that nobody touched may be changed, though others of the table were.
    expect(await change(session, 't', changes([id('1')], row(1, 'A')))).toMatchObject({
      inserted: 1n,
      deleted: 1n,
    });
    expect(await rows(home.newSession(), 'select * from t order by id')).toEqual(['1\tA', '2\tB']);
  });

  it('are won by one of those who write at the same time', async () => {
    const home = await homeWith(created, "insert into t values (1, 'a')");
    const id = (await rowIds(home, 'select id, row__id from t')).get('1') as RowId;
    const outcomes = await Promise.allSettled(
      ['x', 'y', 'z', 'w'].map((v) =>
        change(new TableSession(home.services, home.conf), 't', changes([id], row(1, v))),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await rows(home.newSession(), 'select count(*) from t')).toEqual(['1']);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ kind: 'conflict' });
    }
  });

  it('keep their ROW__IDs when they are compacted, and are found in any file', async () => {
    const home = await homeWith(created, "insert into t values (1, 'a'), (2, 'b')", "insert into t values (3, 'c')");
    const ids = await rowIds(home, 'select id, row__id from t');
    await run(home.newSession(), 'delete from t where id = 2', "alter table t compact 'major'");
    expect(await home.compactor.runWorkerOnce()).toBe(true);
    const session = new TableSession(home.services, home.conf);
    const ofBoth = [ids.get('1') as RowId, ids.get('3') as RowId];
    await change(session, 't', changes(ofBoth, undefined));
    expect(await rows(home.newSession(), 'select * from t')).toEqual([]);
  });

  it('are of the snapshot by which they were read, where that is given: a rebalance gives rows other ROW__IDs', async () => {
    const home = await homeWith(created, "insert into t values (1, 'a'), (2, 'b')", "insert into t values (3, 'c')");
    const { validTxns } = await home.services.txns.getValidTxns({});
    const id = (await rowIds(home, 'select id, row__id from t')).get('1') as RowId;
    await run(home.newSession(), "alter table t compact 'rebalance' clustered into 2 buckets");
    expect(await home.compactor.runWorkerOnce()).toBe(true);
    expect((await rowIds(home, 'select id, row__id from t')).get('2')).not.toEqual(undefined);
    const session = new TableSession(home.services, home.conf);
    const given = [
      { name: 'id', type: 'int' },
      { name: 'v', type: 'string' },
    ];
    const target = { table: await session.table('default', 't'), partition: {}, given };
    const one = async function* one(of: RowId) {
      yield changes([of], row(1, 'x'));
    };
    await expect(session.change({ ...target, validTxns }, one(id))).rejects.toMatchObject({ kind: 'conflict' });
    // Rows may say by which snapshot they were read: a rebalance since then is a conflict, other changes of the table are none.
    await expect(session.change({ ...target, readBy: validTxns }, one(id))).rejects.toMatchObject(CHANGED);
    expect(await rows(home.newSession(), 'select count(*) from t')).toEqual(['3']);
    const { validTxns: readBy } = await home.services.txns.getValidTxns({});
    const now = (await rowIds(home, 'select id, row__id from t')).get('1') as RowId;
    await run(home.newSession(), "update t set v = 'B' where id = 2", "alter table t compact 'major'");
    expect(await home.compactor.runWorkerOnce()).toBe(true);
    await session.change({ ...target, readBy }, one(now));
    expect(await rows(home.newSession(), 'select * from t order by id')).toEqual(['1\tx', '2\tB', '3\tc']);
    await expect(session.change({ ...target, readBy: 'nonsense' }, one(now))).rejects.toMatchObject({
      kind: 'invalid',
    });
  });

  it('may be rows that an earlier write of the transaction brought, but not twice', async () => {
    const home = await homeWith(created, "insert into t values (1, 'a')");
    const session = new TableSession(home.services, home.conf);
    const txnId = await session.begin({ readOnly: false });
    const old = (await rowIds(home, 'select id, row__id from t')).get('1') as RowId;
    const { writeId } = await change(session, 't', changes([old], row(1, 'b')));
    await expect(change(session, 't', changes([old], row(1, 'c')))).rejects.toMatchObject({ ...CHANGED, txnId });
    // Statement ids 0 and 1 were the update's, and the new row is the first of the second.
    await change(session, 't', changes([[writeId as bigint, old[1] | 1, 0n]], row(1, 'd')));
    await session.commit();
    expect(await rows(home.newSession(), 'select * from t')).toEqual(['1\td']);
  });

  it('are looked for in their own partition', async () => {
    const home = await homeWith(
      `create table p (id int, v string) partitioned by (k int) ${ACID}`,
      "insert into p values (1, 'a', 1), (2, 'b', 2)",
    );
    const ids = await rowIds(home, 'select id, row__id from p');
    const session = new TableSession(home.services, home.conf);
    const at = (k: number) => structOf('struct<k:int>', [{ k }]);
    const to = (k: number) => structOf('struct<id:int,v:string,k:int>', [{ id: 1, v: 'x', k }]);
    // The partition is where the row is, not where it should go.
    for (const k of [2, 3]) {
      const moved = changes([ids.get('1') as RowId], to(k), at(k));
      const outcome = change(session, 'p', moved);
      if (k === 3) await expect(outcome).rejects.toThrow('in default.p/k=3');
      // Both partitions have a row of the same ROW__ID: that one is meant then.
      else await outcome;
    }
    expect(await rows(home.newSession(), 'show partitions p')).toEqual(['k=1', 'k=2']);
    expect(await rows(home.newSession(), 'select * from p order by k')).toEqual(['1\ta\t1', '1\tx\t2']);
  });
});

describe('rows of other types', () => {
  async function append(home: Home, table: string, type: string, values: readonly Record<string, unknown>[]) {
    const session = new TableSession(home.services, home.conf);
    const rowsOfType = structOf(`struct<a:${type}>`, values);
    const batches = (async function* one() {
      yield rowsOfType;
    })();
    const target = { table: await session.table('default', table), partition: {}, given: [{ name: 'a', type }] };
    return await session.append(target, false, batches);
  }

  it('have elements and fields converted, and are refused where those are not alike', async () => {
    const home = await homeWith(`create table n (a array<struct<x:int,y:decimal(5,1)>>) ${ACID}`);
    await append(home, 'n', 'array<struct<x:string,y:int>>', [{ a: [{ x: '7', y: 1 }, null] }, { a: null }]);
    expect(await rows(home.newSession(), 'select a from n')).toEqual(['[{"x":7,"y":1},null]', 'NULL']);
    const refused = { hiveCode: 10044 };
    for (const type of ['array<int>', 'array<struct<y:int,x:int>>', 'array<struct<x:int>>', 'map<int,int>', 'int']) {
      await expect(append(home, 'n', type, [{ a: null }])).rejects.toMatchObject(refused);
    }
    // HiveQL converts nothing within them (recorded of Hive 4.0.1).
    const statement = "insert into n select array(named_struct('x', 1, 'y', 2))";
    await expect(run(home.newSession(), statement)).rejects.toThrow(
      'Cannot convert column 0 from array<struct<x:int,y:int>> to array<struct<x:int,y:decimal(5,1)>>',
    );
  });
});
