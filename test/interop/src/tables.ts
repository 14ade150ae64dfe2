import { TRANSACTION_TABLES } from './transaction-tables.js';

/** A table that skep makes and Hive takes over: statements up to each stage, and what Hive does with it then. */
export interface InteropTable {
  readonly name: string;
  /** The same in both systems. */
  readonly create: string;
  readonly partitionColumns?: readonly string[];
  readonly stages: readonly Stage[];
  /** pyarrow keeps timestamps as 64-bit nanoseconds: it cannot hold years outside of 1677 to 2262. */
  readonly beyondPyarrow?: boolean;
}

export interface Stage {
  readonly name: string;
  /** What skep runs to get there from the stage before. */
  readonly statements: readonly string[];
  /** Hive's statements on the adopted table, each with the rows (without ROW__ID) that must be there then. */
  readonly hive: readonly HiveStep[];
}

export interface HiveStep {
  readonly statement: string;
  /** `!worker` and `!cleaner` follow. */
  readonly compaction?: boolean;
  readonly rows: readonly string[];
}

const compact = (table: string, type: string): string => `alter table ${table} compact '${type}' and wait`;
const hiveCompacts = (table: string, type: string, rows: readonly string[]): HiveStep => ({
  statement: `alter table ${table} compact '${type}'`,
  compaction: true,
  rows,
});

const emp: InteropTable = {
  name: 'emp',
  create: "create table emp (id int, name string, salary int) stored as orc tblproperties ('transactional'='true')",
  stages: [
    {
      name: 'deltas',
      statements: [
        "insert into emp values (1, 'Jerry', 5000)",
        "insert into emp values (2, 'Tom', 8000)",
        "insert into emp values (3, 'Kate', 6000)",
        'delete from emp where id = 2',
      ],
      hive: [
        { statement: 'update emp set salary = salary + 1 where id = 1', rows: ['1\tJerry\t5001', '3\tKate\t6000'] },
        { statement: 'delete from emp where id = 3', rows: ['1\tJerry\t5001'] },
        hiveCompacts('emp', 'minor', ['1\tJerry\t5001']),
        hiveCompacts('emp', 'major', ['1\tJerry\t5001']),
      ],
    },
    {
      name: 'minor',
      statements: [compact('emp', 'minor')],
      hive: [
        { statement: "update emp set name = 'Kathy' where id = 3", rows: ['1\tJerry\t5000', '3\tKathy\t6000'] },
        { statement: 'delete from emp where id = 1', rows: ['3\tKathy\t6000'] },
        hiveCompacts('emp', 'major', ['3\tKathy\t6000']),
      ],
    },
    {
      name: 'major',
      statements: [compact('emp', 'major')],
      hive: [
        { statement: 'update emp set salary = 1 where id > 0', rows: ['1\tJerry\t1', '3\tKate\t1'] },
        { statement: 'delete from emp where id = 1', rows: ['3\tKate\t1'] },
        hiveCompacts('emp', 'minor', ['3\tKate\t1']),
        hiveCompacts('emp', 'major', ['3\tKate\t1']),
      ],
    },
  ],
};

const transStudent: InteropTable = {
  name: 'trans_student',
  create:
    "create table trans_student (id int, name string, age int) stored as orc tblproperties ('transactional'='true')",
  stages: [
    {
      name: 'deltas',
      statements: [
        "insert into trans_student (id, name, age) values (1, 'allen', 18), (2, 'beth', 19), (3, null, null)",
        'update trans_student set age = 20 where id = 1',
        'delete from trans_student where id = 2',
      ],
      hive: [
        { statement: "update trans_student set name = 'x' where id = 3", rows: ['1\tallen\t20', '3\tx\tNULL'] },
        { statement: 'delete from trans_student where id = 1', rows: ['3\tx\tNULL'] },
        hiveCompacts('trans_student', 'minor', ['3\tx\tNULL']),
        hiveCompacts('trans_student', 'major', ['3\tx\tNULL']),
      ],
    },
    {
      name: 'minor',
      statements: [compact('trans_student', 'minor')],
      hive: [
        { statement: 'update trans_student set age = 21 where id = 1', rows: ['1\tallen\t21', '3\tNULL\tNULL'] },
        { statement: 'delete from trans_student where id = 3', rows: ['1\tallen\t21'] },
        hiveCompacts('trans_student', 'major', ['1\tallen\t21']),
      ],
    },
    {
      name: 'major',
      statements: [compact('trans_student', 'major')],
      hive: [
        { statement: 'update trans_student set age = 22', rows: ['1\tallen\t22', '3\tNULL\t22'] },
        { statement: 'delete from trans_student where age = 22', rows: [] },
        hiveCompacts('trans_student', 'major', []),
      ],
    },
  ],
};

const tableName: InteropTable = {
  name: 'table_name',
  create:
    "create table table_name (id int, name string) clustered by (id) into 2 buckets stored as orc tblproperties ('transactional'='true', 'compactorthreshold.hive.compactor.delta.num.threshold'='4')",
  stages: [
    {
      name: 'deltas',
      statements: [
        "insert into table_name values (1, 'one'), (2, 'two'), (3, 'three')",
        "insert into table_name values (4, 'four')",
        "update table_name set name = 'TWO' where id = 2",
        'delete from table_name where id = 3',
      ],
      hive: [
        { statement: "update table_name set name = 'ONE' where id = 1", rows: ['1\tONE', '2\tTWO', '4\tfour'] },
        { statement: 'delete from table_name where id = 4', rows: ['1\tONE', '2\tTWO'] },
        hiveCompacts('table_name', 'minor', ['1\tONE', '2\tTWO']),
        hiveCompacts('table_name', 'major', ['1\tONE', '2\tTWO']),
      ],
    },
    {
      name: 'minor',
      statements: [compact('table_name', 'minor')],
      hive: [
        { statement: "insert into table_name values (5, 'five')", rows: ['1\tone', '2\tTWO', '4\tfour', '5\tfive'] },
        { statement: 'delete from table_name where id in (1, 2)', rows: ['4\tfour', '5\tfive'] },
        { statement: "update table_name set name = 'IV' where id = 4", rows: ['4\tIV', '5\tfive'] },
        hiveCompacts('table_name', 'major', ['4\tIV', '5\tfive']),
      ],
    },
    {
      name: 'major',
      statements: [
        "alter table table_name compact 'major' and wait with overwrite tblproperties ('tblprops.orc.compress.size'='8192')",
      ],
      hive: [
        { statement: "update table_name set name = concat(name, '!')", rows: ['1\tone!', '2\tTWO!', '4\tfour!'] },
        { statement: 'delete from table_name where id = 1', rows: ['2\tTWO!', '4\tfour!'] },
        hiveCompacts('table_name', 'minor', ['2\tTWO!', '4\tfour!']),
      ],
    },
  ],
};

const parts: InteropTable = {
  name: 'parts',
  create:
    "create table parts (a int, b string) partitioned by (ds string, hr int) stored as orc tblproperties ('transactional'='true')",
  partitionColumns: ['ds', 'hr'],
  stages: [
    {
      name: 'deltas',
      statements: [
        "insert into parts partition (ds='2024-01-01', hr=1) values (1, 'x'), (2, 'y')",
        "insert into parts partition (ds, hr) values (3, 'z', '2024-01-02', 2), (4, 'w', 'a/b:c=d e%f', 3), (5, 'v', null, 4)",
        "update parts set b = concat(b, '!') where a in (1, 4)",
        'delete from parts where a = 2',
      ],
      hive: [
        {
          statement: "update parts set b = 'hive' where hr > 2",
          rows: [
            '1\tx!\t2024-01-01\t1',
            '3\tz\t2024-01-02\t2',
            '4\thive\ta/b:c=d e%f\t3',
            '5\thive\t__HIVE_DEFAULT_PARTITION__\t4',
          ],
        },
        {
          statement: "alter table parts partition (ds='2024-01-01', hr=1) compact 'major'",
          compaction: true,
          rows: [
            '1\tx!\t2024-01-01\t1',
            '3\tz\t2024-01-02\t2',
            '4\thive\ta/b:c=d e%f\t3',
            '5\thive\t__HIVE_DEFAULT_PARTITION__\t4',
          ],
        },
      ],
    },
  ],
};

const TYPES =
  'k int, ti tinyint, si smallint, bi bigint, f float, d double, de decimal(20,4), de38 decimal(38,10), s string, c char(5), v varchar(10), bo boolean, bin binary, da date, ts timestamp, a array<int>, m map<string,int>, st struct<x:int,y:string>, n array<struct<p:string,q:array<double>>>';

const types: InteropTable = {
  name: 'types',
  create: `create table types (${TYPES}) stored as orc tblproperties ('transactional'='true')`,
  stages: [
    {
      name: 'deltas',
      statements: [
        "insert into types select 1, cast(127 as tinyint), cast(32767 as smallint), 9223372036854775807, cast(3.5 as float), 1.7976931348623157E308, 9999999999999999.9999, 1234567890123456789012345678.0123456789, 'héllo wörld', 'ab', 'varchar', true, cast('bytes' as binary), date '2024-02-29', timestamp '2024-02-29 23:59:59.123456789', array(1,2,3), map('k',1), named_struct('x',1,'y','why'), array(named_struct('p','pp','q',array(1.5D,-2.5D)))",
        "insert into types select 2, cast(-128 as tinyint), cast(-32768 as smallint), -9223372036854775807, cast(-0.1 as float), -4.9E-324, -9999999999999999.9999, -0.0000000001, '', '', '', false, cast('' as binary), date '1969-12-31', timestamp '1969-12-30 23:59:59.999999999', array(-1), map('',-1), named_struct('x',-1,'y',''), array(named_struct('p','','q',array(0.0D)))",
        'insert into types (k) values (3)',
        "insert into types select 4, cast(0 as tinyint), cast(0 as smallint), 0, cast(0 as float), 0.0D, 0.0001, 0, '日本語 🐝', 'abcde', '0123456789', true, cast('x' as binary), date '1600-01-01', timestamp '1900-01-01 00:00:00.5', array(cast(null as int)), map('a',cast(null as int)), named_struct('x',cast(null as int),'y',cast(null as string)), array(named_struct('p',cast(null as string),'q',array(cast(null as double))))",
        'update types set bi = bi - 1, de = de / 2 where k = 1',
      ],
      hive: [],
    },
    { name: 'major', statements: [compact('types', 'major')], hive: [] },
  ],
};

const wideTimes: InteropTable = {
  name: 'wide_times',
  create: "create table wide_times (k int, d date, ts timestamp) stored as orc tblproperties ('transactional'='true')",
  beyondPyarrow: true,
  stages: [
    {
      name: 'deltas',
      statements: [
        "insert into wide_times values (1, '0001-01-01', '0001-01-01 00:00:00'), (2, '9999-12-31', '9999-12-31 23:59:59.999999999'), (3, '1582-10-15', '1582-10-15 00:00:00.000000001'), (4, '1582-10-04', '1582-10-04 12:00:00')",
      ],
      hive: [],
    },
  ],
};

/** Enough rows for several row groups, dictionaries and direct strings. */
const many: InteropTable = {
  name: 'many',
  create:
    "create table many (k int, g int, s string, u string, d double, x decimal(12,3)) stored as orc tblproperties ('transactional'='true')",
  stages: [
    {
      name: 'deltas',
      statements: [
        "insert into many select pos, pos % 7, concat('row-', pos, '-', repeat('z', pos % 13)), concat('g', pos % 5), pos / 3.0D, cast(pos * 1.001 as decimal(12,3)) from (select 1) q lateral view posexplode(split(space(24999), ' ')) e as pos, val",
        'delete from many where k % 5 = 0',
        "update many set s = 'changed' where k % 11 = 1",
      ],
      hive: [],
    },
  ],
};

export const INTEROP_TABLES: readonly InteropTable[] = [
  emp,
  transStudent,
  tableName,
  parts,
  types,
  wideTimes,
  many,
  ...TRANSACTION_TABLES,
];
