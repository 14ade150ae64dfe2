import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Configuration } from '@skep/config';
import { systemClock } from '@skep/core';
import { freePort, startMariadb } from '@skep/metadb/testing';
import { openServices } from '@skep/metastore';
import { createLogger } from '@skep/telemetry/log';
import { Processes } from '../../services/processes.js';
import { HiveOnDatabase } from './hive-on-database.js';
import { TurnChecks } from './turn-checks.js';

const ACID = "stored as orc tblproperties ('transactional'='true')";

/**
 * A database that Hive's own schematool made, with tables and data of Hive 4.0.1: `skep metastore` starts on it, its clients read, write
 * and compact, and Hive goes on. `skep` is the command line's program.
 */
export async function adoptedDatabase(oracle: string, skep: string): Promise<boolean> {
  const work = realpathSync(mkdtempSync(join(tmpdir(), 'skep-adopted-')));
  const mariadb = await startMariadb();
  const checks = new TurnChecks();
  const processes = Processes.of(skep, { SKEP_DB_PASSWORD: 'mine' });
  try {
    const jdbc = `jdbc:mariadb://127.0.0.1:${mariadb.port}/hive?createDatabaseIfNotExist=true`;
    // What it says comes with the error, should it fail.
    execFileSync(join(oracle, 'schematool.sh'), [jdbc], { stdio: 'pipe' });
    await sameTables(checks, mariadb.url);
    const hive = new HiveOnDatabase(oracle, work, jdbc, await freePort(), ['made', 'after']);
    try {
      checks.hiveSaid(await hive.run('made', MADE), MADE_ROWS);
      const metastore = ['metastore', '--db', `mysql://APP@127.0.0.1:${mariadb.port}/hive`, '--listen', '127.0.0.1:0'];
      const { address } = await processes.start([...metastore, '--workers', '1']);
      const sql = async (statements: string) => {
        const { code, out, err } = await processes.run(['--metastore', address, '-e', statements]);
        checks.check(`skep: ${statements}: ${err}`, code === 0);
        return out.split('\n').filter((line) => line !== '');
      };
      for (const [query, rows] of READS) checks.same(`skep: ${query}`, (await sql(query)).sort(), rows);
      await sql(WRITES);
      const folder = join(work, 'warehouse/shop.db/orders/day=2024-01-02');
      const folders = () => readdirSync(folder).filter((name) => !name.startsWith('.'));
      await until(() => folders().length === 1);
      checks.same(
        "what skep's Cleaner leaves",
        folders().map((name) => name.replace(/\d+.*/, '')),
        ['base_'],
      );
      checks.hiveSaid(await hive.run('after', AFTER), AFTER_ROWS);
      await hive.ended;
      for (const [query, rows] of AT_LAST) checks.same(`skep at last: ${query}`, (await sql(query)).sort(), rows);
    } catch (error) {
      checks.check(String(error), false);
    } finally {
      hive.stop();
    }
  } finally {
    processes.endAll();
    await mariadb.stop();
    rmSync(work, { recursive: true, force: true });
  }
  return checks.print("skep on a MariaDB metastore of Hive's schematool, with Hive's tables, and Hive after that");
}

/** Where a database that skep makes may differ from schematool's: DataNucleus' own table, and numbers that hold more. */
const MAY_DIFFER = [
  /^NUCLEUS_TABLES\./,
  /^(TAB|PART)_COL_STATS\.(AVG_COL_LEN|DOUBLE_(HIGH|LOW)_VALUE) /,
  /^(MASTER_KEYS\.KEY_ID|SCHEDULED_QUERIES\.ACTIVE_EXECUTION_ID|SCHEMA_VERSION\.SCHEMA_TEXT) /,
];

/** Every column of schematool's tables is in those that skep makes, of the same type. */
async function sameTables(checks: TurnChecks, server: string): Promise<void> {
  const opened = await openServices({
    dbUrl: `${server}/ours`,
    conf: new Configuration(),
    user: 'skep',
    version: 'test',
    newWarehouse: 'file:/nowhere',
    log: createLogger({
      level: 'error',
      now: () => systemClock.now(),
      write: (line) => void process.stderr.write(line),
    }),
  });
  try {
    const columnsOf = (schema: string) =>
      opened.db.read((tx) =>
        tx.column<string>(
          `SELECT CONCAT(UPPER(TABLE_NAME), '.', UPPER(COLUMN_NAME), ' ', COLUMN_TYPE, ' ', IS_NULLABLE) AS C
             FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ?`,
          [schema],
        ),
      );
    const [ours, hives] = [new Set(await columnsOf('ours')), await columnsOf('hive')];
    const missing = hives.filter((column) => !ours.has(column) && !MAY_DIFFER.some((known) => known.test(column)));
    checks.check('schematool made tables', hives.length > 500);
    checks.same("columns of schematool's that are not skep's", missing, []);
  } finally {
    await opened.close();
  }
}

/** At most half a minute; what did not come is seen by the check that follows. */
async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 300 && !isSo(); i++) await systemClock.sleep(100);
}

/** By Hive, before skep has seen the database. */
const MADE = [
  'create database shop;',
  `create table shop.orders (id int, what string, price decimal(10,2)) partitioned by (day string) clustered by (id) into 2 buckets ${ACID};`,
  "insert into shop.orders partition (day) values (1,'tea',10.5,'2024-01-01'),(2,'čaj 東京',20,'2024-01-01'),(3,'cup',30,'2024-01-02'),(4,'pot',40,'2024-01-02');",
  'update shop.orders set price = price + 1 where id = 1;',
  'delete from shop.orders where id = 4;',
  "alter table shop.orders partition (day='2024-01-01') compact 'major';",
  '!worker',
  "create table shop.events (id int, what string) stored as orc tblproperties ('transactional'='true','transactional_properties'='insert_only');",
  "insert into shop.events values (1,'open'),(2,'close');",
  "create external table shop.notes (id int, text string) row format delimited fields terminated by ',' stored as textfile;",
  "insert into shop.notes values (1,'first');",
  'create view shop.dear as select id, what from shop.orders where price > 15;',
  'analyze table shop.orders partition (day) compute statistics for columns;',
  'select * from shop.orders;',
];
const MADE_ROWS = [['1\ttea\t11.50\t2024-01-01', '2\tčaj 東京\t20.00\t2024-01-01', '3\tcup\t30.00\t2024-01-02']];

/** By skep. */
const READS: readonly (readonly [string, readonly string[]])[] = [
  ["show databases like 'shop'", ['shop']],
  ['show tables in shop', ['dear', 'events', 'notes', 'orders']],
  ['show partitions shop.orders', ['day=2024-01-01', 'day=2024-01-02']],
  ['select * from shop.orders', MADE_ROWS[0]],
  ['select * from shop.events', ['1\topen', '2\tclose']],
  ['select * from shop.notes', ['1\tfirst']],
  ['select * from shop.dear', ['2\tčaj 東京', '3\tcup']],
];
const WRITES = [
  "insert into shop.orders partition (day) values (5,'jug',50,'2024-01-02'),(6,'mug',60,'2024-01-03')",
  'update shop.orders set price = price * 2 where id = 2',
  'delete from shop.orders where id = 1',
  "merge into shop.orders o using (select 3 id union all select 7) s on o.id = s.id when matched then update set what = 'CUP' when not matched then insert values (s.id, 'new', 70, '2024-01-03')",
  "insert into shop.events values (3,'count')",
  "insert into shop.notes values (2,'second')",
  `create table shop.ours (k int, v string) ${ACID}`,
  "insert into shop.ours values (1,'x'),(2,'y')",
  "alter table shop.orders partition (day='2024-01-02') compact 'major' and wait",
].join('; ');

const ORDERS = [
  '2\tčaj 東京\t40.00\t2024-01-01',
  '3\tCUP\t30.00\t2024-01-02',
  '5\tjug\t50.00\t2024-01-02',
  '6\tmug\t60.00\t2024-01-03',
  '7\tnew\t70.00\t2024-01-03',
];
const ORDERS_AT_LAST = [...ORDERS.filter((row) => !row.startsWith('6')), '8\thive\t80.00\t2024-01-02'];

/** By Hive again, whose processes have run all the while. */
const AFTER = [
  'select * from shop.orders;',
  'select count(*) from shop.orders;',
  'select * from shop.events;',
  'select * from shop.notes;',
  'select * from shop.ours;',
  'select * from shop.dear;',
  "insert into shop.orders partition (day) values (8,'hive',80,'2024-01-02');",
  'delete from shop.orders where id = 6;',
  "update shop.ours set v = 'z' where k = 2;",
  "alter table shop.ours compact 'major';",
  '!worker',
  'select * from shop.orders;',
  'select * from shop.ours;',
];
const AFTER_ROWS = [
  ORDERS,
  ['5'],
  ['1\topen', '2\tclose', '3\tcount'],
  ['1\tfirst', '2\tsecond'],
  ['1\tx', '2\ty'],
  ['2\tčaj 東京', '3\tCUP', '5\tjug', '6\tmug', '7\tnew'],
  ORDERS_AT_LAST,
  ['1\tx', '2\tz'],
];
const AT_LAST: readonly (readonly [string, readonly string[]])[] = [
  ['select * from shop.orders', ORDERS_AT_LAST],
  ['select * from shop.ours', ['1\tx', '2\tz']],
];
