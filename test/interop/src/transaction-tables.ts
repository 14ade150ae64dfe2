import type { HiveStep, InteropTable } from './tables.js';

const hiveCompacts = (table: string, type: string, rows: readonly string[]): HiveStep => ({
  statement: `alter table ${table} compact '${type}'`,
  compaction: true,
  rows,
});

/** Tables changed by transactions of several statements: statement ids in folder names and ROW__IDs. */

const statements: InteropTable = {
  name: 'statements',
  create: "create table statements (id int, v string, n int) stored as orc tblproperties ('transactional'='true')",
  stages: [
    {
      name: 'deltas',
      statements: [
        "insert into statements values (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)",
        'start transaction',
        "insert into statements values (4, 'd', 4), (5, 'e', 5), (6, 'f', 6)",
        'update statements set n = n + 10 where id in (1, 4)',
        'update statements set n = n + 100 where id in (1, 4)',
        'delete from statements where id in (2, 5)',
        "merge into statements using (select 6 id, 'F' v union all select 7, 'g') s on statements.id = s.id when matched then update set v = s.v when not matched then insert values (s.id, s.v, 7)",
        'commit',
        'start transaction',
        "insert into statements values (8, 'h', 8)",
        "update statements set v = 'again' where id in (6, 8)",
        'delete from statements where id = 7',
        'commit work',
        'start transaction',
        "insert into statements values (9, 'never', 9)",
        'delete from statements where id = 3',
        'rollback',
      ],
      hive: [
        {
          statement: 'update statements set n = n + 1000 where id in (1, 8)',
          rows: ['1\ta\t1111', '3\tc\t3', '4\td\t114', '6\tagain\t6', '8\tagain\t1008'],
        },
        {
          statement: 'delete from statements where id = 4',
          rows: ['1\ta\t1111', '3\tc\t3', '6\tagain\t6', '8\tagain\t1008'],
        },
        hiveCompacts('statements', 'minor', ['1\ta\t1111', '3\tc\t3', '6\tagain\t6', '8\tagain\t1008']),
        hiveCompacts('statements', 'major', ['1\ta\t1111', '3\tc\t3', '6\tagain\t6', '8\tagain\t1008']),
      ],
    },
    {
      name: 'minor',
      statements: ["alter table statements compact 'minor' and wait"],
      hive: [
        {
          statement: "update statements set v = 'hive' where id in (1, 6)",
          rows: ['1\thive\t111', '3\tc\t3', '4\td\t114', '6\thive\t6', '8\tagain\t8'],
        },
        hiveCompacts('statements', 'major', ['1\thive\t111', '3\tc\t3', '4\td\t114', '6\thive\t6', '8\tagain\t8']),
      ],
    },
    {
      name: 'major',
      statements: ["alter table statements compact 'major' and wait"],
      hive: [
        {
          statement: 'delete from statements where id = 8',
          rows: ['1\ta\t111', '3\tc\t3', '4\td\t114', '6\tagain\t6'],
        },
      ],
    },
  ],
};

/** The whole table is of one transaction: a minor compaction has a range of one write id. */
const oneWrite: InteropTable = {
  name: 'one_write',
  create: "create table one_write (id int, v string) stored as orc tblproperties ('transactional'='true')",
  stages: [
    {
      name: 'deltas',
      statements: [
        'start transaction',
        "insert into one_write values (1, 'a'), (2, 'b'), (3, 'c')",
        "update one_write set v = 'B' where id = 2",
        'delete from one_write where id = 3',
        'commit',
      ],
      hive: [
        hiveCompacts('one_write', 'minor', ['1\ta', '2\tB']),
        { statement: "update one_write set v = 'A' where id = 1", rows: ['1\tA', '2\tB'] },
        hiveCompacts('one_write', 'major', ['1\tA', '2\tB']),
      ],
    },
    {
      name: 'minor',
      statements: ["alter table one_write compact 'minor' and wait"],
      hive: [{ statement: "update one_write set v = 'x' where id = 2", rows: ['1\ta', '2\tx'] }],
    },
  ],
};

/** INSERT OVERWRITE between other statements, of partitions and buckets. */
const overwritten: InteropTable = {
  name: 'overwritten',
  create:
    "create table overwritten (id int, v string) partitioned by (p int) clustered by (id) into 2 buckets stored as orc tblproperties ('transactional'='true')",
  partitionColumns: ['p'],
  stages: [
    {
      name: 'deltas',
      statements: [
        "insert into overwritten values (1, 'old', 1), (2, 'old', 1), (3, 'old', 2), (4, 'old', 3)",
        'start transaction',
        "insert into overwritten values (5, 'gone', 1)",
        "insert overwrite table overwritten partition (p) select id, 'new', p from overwritten where p < 3",
        "insert into overwritten partition (p=1) values (6, 'after')",
        "update overwritten set v = 'changed' where id in (2, 6)",
        'delete from overwritten where id = 5',
        'commit',
      ],
      hive: [
        {
          statement: "update overwritten set v = 'hive' where id = 3",
          rows: ['1\tnew\t1', '2\tchanged\t1', '3\thive\t2', '4\told\t3', '6\tchanged\t1'],
        },
        {
          statement: "alter table overwritten partition (p=1) compact 'major'",
          compaction: true,
          rows: ['1\tnew\t1', '2\tchanged\t1', '3\thive\t2', '4\told\t3', '6\tchanged\t1'],
        },
      ],
    },
  ],
};

/** Of tables without deletes an overwrite is a base, to which later statements add. */
const appended: InteropTable = {
  name: 'appended',
  create:
    "create table appended (id int, v string) stored as orc tblproperties ('transactional'='true', 'transactional_properties'='insert_only')",
  stages: [
    {
      name: 'deltas',
      statements: [
        "insert into appended values (1, 'old')",
        'start transaction',
        "insert into appended values (2, 'gone')",
        "insert overwrite table appended values (3, 'base')",
        "insert into appended values (4, 'after')",
        "insert into appended select id + 2, 'more' from appended",
        'commit',
      ],
      hive: [
        {
          statement: "insert into appended values (7, 'hive')",
          rows: ['3\tbase', '4\tafter', '5\tmore', '6\tmore', '7\thive'],
        },
        hiveCompacts('appended', 'major', ['3\tbase', '4\tafter', '5\tmore', '6\tmore', '7\thive']),
      ],
    },
  ],
};

export const TRANSACTION_TABLES: readonly InteropTable[] = [statements, oneWrite, overwritten, appended];
