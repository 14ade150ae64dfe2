import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '@skep/core';
import { type Database, openDatabase } from '@skep/metadb';
import { hasMariadb, TestDatabase } from '@skep/metadb/testing';
import {
  bindService,
  type CatalogService,
  CatalogServiceService,
  type Connection,
  Constraint,
  Constraint_Kind,
  connect,
  Database as DatabaseMessage,
  Partition,
  type Server,
  StorageDescriptor,
  serve,
  Table,
} from '@skep/rpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Catalog } from './catalog.js';
import { catalogMigrations } from './schema.js';

const columns = [
  { name: 'id', type: 'int', comment: undefined },
  { name: 'name', type: 'struct<a:int,b:array<string>>', comment: '名字' },
];

function makeTable(over: Partial<Table> = {}): Table {
  return Table.fromPartial({
    name: 'Emp',
    database: 'Default',
    owner: 'me',
    ownerType: 'USER',
    tableType: 'MANAGED_TABLE',
    parameters: { transactional: 'true', numRows: '0' },
    sd: StorageDescriptor.fromPartial({
      columns: columns.map((column) => ({ ...column })),
      location: 'file:/w/emp',
      inputFormat: 'org.apache.hadoop.hive.ql.io.orc.OrcInputFormat',
      outputFormat: 'org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat',
      numBuckets: 4,
      serde: {
        serializationLib: 'org.apache.hadoop.hive.ql.io.orc.OrcSerde',
        parameters: { 'serialization.format': '1' },
      },
      bucketColumns: ['id'],
      sortColumns: [
        { column: 'id', order: 1 },
        { column: 'name', order: 0 },
      ],
      parameters: { x: 'y' },
    }),
    ...over,
  });
}

const partitionKeys = [
  { name: 'ds', type: 'string', comment: 'day' },
  { name: 'hr', type: 'int', comment: undefined },
];

function makePartition(values: string[], over: Partial<Partition> = {}): Partition {
  const sd = StorageDescriptor.fromPartial({ ...makeTable().sd, location: `file:/w/emp/${values.join('/')}` });
  return Partition.fromPartial({
    database: 'default',
    table: 'emp',
    values,
    sd,
    parameters: { numRows: '1' },
    ...over,
  });
}

const failing = (code: string, message: string | RegExp) =>
  expect.objectContaining({ code, message: typeof message === 'string' ? message : expect.stringMatching(message) });

let mariadb: Promise<TestDatabase> | undefined;

const cases = ['SQLite', ...(hasMariadb ? ['MariaDB'] : [])].flatMap((on) => {
  return (['in process', 'over gRPC'] as const).map((how) => ({ how, on }));
});

describe.each(cases)('the catalog $how on $on', ({ how, on }) => {
  let folder: string;
  let db: Database;
  let catalog: CatalogService;
  let server: Server | undefined;
  let connection: Connection<CatalogService> | undefined;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'skep-catalog-'));
    let url = `sqlite:${join(folder, 'metastore.db')}`;
    if (on === 'MariaDB') {
      mariadb ??= TestDatabase.create(catalogMigrations('file:/w'));
      await (await mariadb).reset();
      url = (await mariadb).url;
    }
    db = await openDatabase({ url, clock: new ManualClock(), migrations: catalogMigrations('file:/w') });
    catalog = new Catalog(db);
    if (how === 'in process') return;
    server = await serve([bindService(CatalogServiceService, catalog)]);
    connection = connect(CatalogServiceService, server.address);
    catalog = connection.service;
  });

  afterEach(async () => {
    connection?.close();
    await server?.close();
    await db.close();
    rmSync(folder, { recursive: true });
  });

  const get = async (name = 'emp') => {
    const { table } = await catalog.getTable({ database: 'default', name });
    if (table === undefined) throw new TypeError('no table');
    return table;
  };
  const partitionsOf = async (names: string[] = []) =>
    (await catalog.getPartitions({ database: 'default', table: 'emp', names })).partitions;
  const count = (table: string) =>
    db.read(async (tx) => Number((await tx.get<{ N: bigint }>(`SELECT COUNT(*) AS N FROM ${table}`))?.N));
  const everything = async () =>
    Object.fromEntries(
      await Promise.all(
        [
          'TBLS',
          'SDS',
          'CDS',
          'COLUMNS_V2',
          'SERDES',
          'SERDE_PARAMS',
          'SD_PARAMS',
          'TABLE_PARAMS',
          'BUCKETING_COLS',
          'SORT_COLS',
          'PARTITIONS',
          'PARTITION_KEYS',
          'PARTITION_KEY_VALS',
          'PARTITION_PARAMS',
          'KEY_CONSTRAINTS',
        ].map(async (table) => [table, await count(table)] as const),
      ),
    );

  it('has the database default, and keeps others', async () => {
    expect((await catalog.getDatabase({ name: 'DEFAULT' })).database).toMatchObject({
      name: 'default',
      locationUri: 'file:/w',
      ownerName: 'public',
      ownerType: 'ROLE',
    });
    const database = DatabaseMessage.fromPartial({
      name: 'Sales',
      locationUri: 'file:/w/sales.db',
      description: 'Verkäufe',
      parameters: { a: 'b' },
    });
    await catalog.createDatabase({ database, ifNotExists: false });
    await catalog.createDatabase({ database, ifNotExists: true });
    await expect(catalog.createDatabase({ database, ifNotExists: false })).rejects.toEqual(
      failing('ALREADY_EXISTS', 'Database sales already exists'),
    );
    await catalog.alterDatabase({ name: 'sales', database: { ...database, parameters: { c: 'd' }, ownerName: 'me' } });
    expect((await catalog.getDatabase({ name: 'sales' })).database).toMatchObject({
      name: 'sales',
      description: 'Verkäufe',
      parameters: { c: 'd' },
      ownerName: 'me',
      createTime: 1_700_000_000,
    });
    expect((await catalog.listDatabases({})).names).toEqual(['default', 'sales']);
    expect((await catalog.listDatabases({ pattern: 'S*|x' })).names).toEqual(['sales']);
    await catalog.createTable({ table: makeTable({ database: 'sales' }) });
    await expect(catalog.dropDatabase({ name: 'sales', cascade: false })).rejects.toEqual(
      failing('INVALID_OPERATION', 'Database sales is not empty. One or more tables exist.'),
    );
    await catalog.dropDatabase({ name: 'sales', cascade: true });
    await expect(catalog.getDatabase({ name: 'sales' })).rejects.toEqual(
      failing('NO_SUCH_OBJECT', 'There is no database hive.sales'),
    );
    await expect(catalog.dropDatabase({ name: 'default', cascade: true })).rejects.toEqual(
      failing('INVALID_OPERATION', /default database/),
    );
    expect(await count('SDS')).toBe(0);
  });

  it('keeps every field of a table', async () => {
    const wanted = makeTable({ partitionKeys, writeId: 7n, lastAccessTime: 5, retention: 3 });
    const { table } = await catalog.createTable({ table: wanted });
    const expected = { ...wanted, id: table?.id, name: 'emp', database: 'default', createTime: 1_700_000_000 };
    expect(table).toEqual(expected);
    expect(await get('EMP')).toEqual(expected);
    await expect(catalog.createTable({ table: wanted })).rejects.toEqual(
      failing('ALREADY_EXISTS', 'Table hive.default.emp already exists'),
    );
    await expect(catalog.getTable({ database: 'default', name: 'Nobody' })).rejects.toEqual(
      failing('NO_SUCH_OBJECT', 'hive.default.nobody table not found'),
    );
    await expect(catalog.createTable({ table: makeTable({ database: 'nodb' }) })).rejects.toEqual(
      failing('NO_SUCH_OBJECT', /nodb/),
    );
    await expect(catalog.createTable({ table: makeTable({ name: 'a.b' }) })).rejects.toEqual(
      failing('INVALID_OBJECT', /a\.b/),
    );
    const twice = makeTable({ name: 'twice', partitionKeys: [{ name: 'ID', type: 'int' }] });
    await expect(catalog.createTable({ table: twice })).rejects.toEqual(failing('INVALID_OBJECT', /Duplicate/));
  });

  it('keeps views, and lists by pattern and kind', async () => {
    const view = Table.fromPartial({
      name: 'v',
      database: 'default',
      tableType: 'VIRTUAL_VIEW',
      viewOriginalText: 'select 1',
      viewExpandedText: 'select 1 as `_c0`',
    });
    await catalog.createTable({ table: view });
    await catalog.createTable({ table: makeTable() });
    expect(await get('v')).toMatchObject({ sd: undefined, viewOriginalText: 'select 1', tableType: 'VIRTUAL_VIEW' });
    expect((await catalog.listTables({ database: 'default' })).names).toEqual(['emp', 'v']);
    expect((await catalog.listTables({ database: 'default', pattern: 'E*' })).names).toEqual(['emp']);
    expect((await catalog.listTables({ database: 'default', tableType: 'VIRTUAL_VIEW' })).names).toEqual(['v']);
    expect((await catalog.listTables({ database: 'nodb' })).names).toEqual([]);
  });

  it('alters and renames a table, and drops all of it', async () => {
    const empty = await everything();
    await catalog.createTable({ table: makeTable() });
    const table = await get();
    const sd = table.sd ?? StorageDescriptor.fromPartial({});
    const altered: Table = {
      ...table,
      name: 'staff',
      parameters: { transactional: 'true', numRows: '5', more: '' },
      sd: {
        ...sd,
        columns: [...sd.columns, { name: 'Age', type: 'int', comment: undefined }],
        location: 'file:/w/staff',
        bucketColumns: [],
        sortColumns: [],
        serde: { name: 'n', serializationLib: 'lib', parameters: {} },
      },
    };
    await catalog.alterTable({ database: 'default', name: 'emp', table: altered });
    await expect(get('emp')).rejects.toEqual(failing('NO_SUCH_OBJECT', /emp/));
    const after = await get('staff');
    const lower = altered.sd?.columns.map((c) => ({ ...c, name: c.name.toLowerCase() }));
    expect(after).toEqual({ ...altered, sd: { ...altered.sd, columns: lower } });
    expect(await count('CDS')).toBe(1);
    await catalog.createTable({ table: makeTable() });
    await expect(catalog.alterTable({ database: 'default', name: 'emp', table: after })).rejects.toEqual(
      failing('INVALID_OPERATION', 'new table default.staff already exists'),
    );
    await catalog.dropTable({ database: 'default', name: 'emp' });
    await catalog.dropTable({ database: 'default', name: 'staff' });
    await expect(catalog.dropTable({ database: 'default', name: 'staff' })).rejects.toEqual(
      failing('NO_SUCH_OBJECT', /staff/),
    );
    expect(await everything()).toEqual(empty);
  });

  it('keeps constraints of every kind, also when columns change', async () => {
    const empty = await everything();
    const base = { enable: true, validate: false, rely: true };
    const constraints = [
      Constraint.fromPartial({
        ...base,
        kind: Constraint_Kind.KIND_PRIMARY_KEY,
        name: 'pk',
        columns: ['ID', 'name'],
        enable: false,
      }),
      Constraint.fromPartial({ ...base, kind: Constraint_Kind.KIND_NOT_NULL, name: 'nn', columns: ['ds'] }),
      Constraint.fromPartial({
        ...base,
        kind: Constraint_Kind.KIND_DEFAULT,
        name: 'dc',
        columns: ['id'],
        expression: '1 + 1',
      }),
      Constraint.fromPartial({
        ...base,
        kind: Constraint_Kind.KIND_CHECK,
        name: 'cc',
        columns: [],
        expression: 'id > 0',
      }),
    ];
    await catalog.createTable({ table: makeTable({ partitionKeys, constraints }) });
    const kept = [{ ...constraints[0], columns: ['id', 'name'] }, constraints[1], constraints[2], constraints[3]];
    expect((await get()).constraints).toEqual(kept);
    const foreign = Constraint.fromPartial({
      kind: Constraint_Kind.KIND_FOREIGN_KEY,
      columns: ['name', 'id'],
      parentTable: 'default.emp',
      parentColumns: ['name', 'ds'],
    });
    await catalog.createTable({ table: makeTable({ name: 'child', constraints: [foreign] }) });
    const [stored] = (await get('child')).constraints;
    expect(stored).toMatchObject({ ...foreign, name: expect.stringMatching(/^fk_/) });

    const table = await get();
    const sd = table.sd ?? StorageDescriptor.fromPartial({});
    const wider = { ...table, sd: { ...sd, columns: [...sd.columns, { name: 'age', type: 'int' }] } };
    await catalog.alterTable({ database: 'default', name: 'emp', table: wider });
    expect((await get()).constraints).toEqual(kept);
    expect((await get('child')).constraints).toEqual([stored]);
    await catalog.alterTable({ database: 'default', name: 'emp', table: { ...wider, constraints: [constraints[1]] } });
    expect((await get()).constraints).toEqual([constraints[1]]);
    const bad = makeTable({ name: 'bad', constraints: [{ ...constraints[1], columns: ['nobody'] }] });
    await expect(catalog.createTable({ table: bad })).rejects.toEqual(failing('INVALID_OBJECT', /nobody/));
    await catalog.dropTable({ database: 'default', name: 'emp' });
    expect((await get('child')).constraints).toEqual([]);
    await catalog.dropTable({ database: 'default', name: 'child' });
    expect(await everything()).toEqual(empty);
  });

  it('adds, finds, alters and drops partitions', async () => {
    await catalog.createTable({ table: makeTable({ partitionKeys }) });
    const made = [makePartition(['2024-01-01', '2']), makePartition(['a/b=c', '1']), makePartition(['', '3'])];
    const { partitions } = await catalog.addPartitions({ partitions: made, ifNotExists: false });
    expect(partitions.length).toBe(3);
    const byName = (list: Partition[]) => list.map((p) => p.values.join());
    const all = await partitionsOf();
    expect(byName(all)).toEqual(['2024-01-01,2', ',3', 'a/b=c,1']);
    expect(all[0]).toEqual({ ...made[0], id: partitions[0].id, createTime: 1_700_000_000 });
    expect(byName(await partitionsOf(['ds=a%2Fb%3Dc/hr=1', 'ds=no/hr=1']))).toEqual(['a/b=c,1']);
    await expect(catalog.addPartitions({ partitions: [made[0]], ifNotExists: false })).rejects.toEqual(
      failing('ALREADY_EXISTS', 'Partition already exists: ds=2024-01-01/hr=2'),
    );
    const again = await catalog.addPartitions({ partitions: [made[0], makePartition(['n', '9'])], ifNotExists: true });
    expect(byName(again.partitions)).toEqual(['n,9']);
    await expect(catalog.addPartitions({ partitions: [makePartition(['x'])], ifNotExists: true })).rejects.toEqual(
      failing('INVALID_OBJECT', /1 values for 2/),
    );
    const moved: Partition = {
      ...all[0],
      values: ['2024-01-02', '2'],
      parameters: { numRows: '9', z: '1' },
      writeId: 4n,
    };
    await catalog.alterPartitions({
      database: 'default',
      table: 'emp',
      names: ['ds=2024-01-01/hr=2'],
      partitions: [moved],
    });
    expect(await partitionsOf(['ds=2024-01-02/hr=2'])).toEqual([moved]);
    await expect(
      catalog.alterPartitions({ database: 'default', table: 'emp', names: ['ds=n/hr=9'], partitions: [moved] }),
    ).rejects.toEqual(failing('INVALID_OPERATION', /already exists/));
    await expect(
      catalog.dropPartitions({ database: 'default', table: 'emp', names: ['ds=n/hr=9', 'ds=gone/hr=1'] }),
    ).rejects.toEqual(failing('NO_SUCH_OBJECT', /ds=gone/));
    await catalog.dropPartitions({ database: 'default', table: 'emp', names: ['ds=n/hr=9'] });
    expect((await partitionsOf()).length).toBe(3);
  });

  it('lets partitions keep their columns when the table gets others', async () => {
    const empty = await everything();
    await catalog.createTable({ table: makeTable({ partitionKeys }) });
    await catalog.addPartitions({ partitions: [makePartition(['a', '1'])], ifNotExists: false });
    expect(await count('CDS')).toBe(1);
    const table = await get();
    const sd = table.sd ?? StorageDescriptor.fromPartial({});
    const wide = [...sd.columns, { name: 'age', type: 'int', comment: undefined }];
    await catalog.alterTable({ database: 'default', name: 'emp', table: { ...table, sd: { ...sd, columns: wide } } });
    const [old] = await partitionsOf();
    expect(old.sd?.columns).toEqual(columns);
    await catalog.addPartitions({ partitions: [makePartition(['b', '1'])], ifNotExists: false });
    expect((await partitionsOf(['ds=b/hr=1']))[0].sd?.columns).toEqual(columns);
    const names = ['ds=a/hr=1', 'ds=b/hr=1'];
    const widened = (await partitionsOf()).map((p) => ({ ...p, sd: p.sd && { ...p.sd, columns: wide } }));
    await catalog.alterPartitions({ database: 'default', table: 'emp', names, partitions: widened });
    expect((await partitionsOf()).map((p) => p.sd?.columns)).toEqual([wide, wide]);
    expect(await count('CDS')).toBe(1);
    await catalog.dropTable({ database: 'default', name: 'emp' });
    expect(await everything()).toEqual(empty);
  });

  it('handles ten thousand partitions in few statements', async () => {
    await catalog.createTable({ table: makeTable({ partitionKeys }) });
    const partitions = Array.from({ length: 10_000 }, (_, at) =>
      makePartition([`d${Math.floor(at / 24)}`, `${at % 24}`]),
    );
    const started = performance.now();
    await catalog.addPartitions({ partitions, ifNotExists: false });
    expect((await partitionsOf()).length).toBe(10_000);
    await catalog.dropTable({ database: 'default', name: 'emp' });
    // Generous: a statement a partition and row would take ten times as long.
    expect(performance.now() - started).toBeLessThan(how === 'in process' && on === 'SQLite' ? 6_000 : 12_000);
    expect(await count('SDS')).toBe(0);
  });
});
