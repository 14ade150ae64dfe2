import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Configuration } from '@skep/config';
import { systemClock } from '@skep/core';
import { freePort, startMariadb } from '@skep/metadb/testing';
import { type OpenedServices, openServices } from '@skep/metastore';
import { LockLevel, LockState, LockType } from '@skep/rpc';
import { Session } from '@skep/sql';
import { localFileSystem, toFileUri } from '@skep/storage';
import { createLogger } from '@skep/telemetry/log';
import { allRows, ORACLE_SETTINGS } from '../../golden/src/home-port.js';
import { HiveOnDatabase } from './hive-on-database.js';
import { playServices, SERVICE_TURNS } from './service-turns.js';
import { rowsOf, TurnChecks } from './turn-checks.js';

/** Hive 4.0.1 on a MariaDB database that skep made, both working on the same tables by turns. */
export async function sharedMetastore(oracle: string): Promise<boolean> {
  const work = realpathSync(mkdtempSync(join(tmpdir(), 'skep-shared-metastore-')));
  const mariadb = await startMariadb();
  try {
    const url = `${mariadb.url}/skep`;
    const turns = await Turns.open(url, work);
    try {
      await turns.begin();
      const hive = new HiveOnDatabase(oracle, work, `jdbc:mariadb://127.0.0.1:${mariadb.port}/skep`, await freePort(), [
        'turn1',
        'turn2',
        'turn3',
        ...SERVICE_TURNS,
      ]);
      try {
        await turns.play(hive);
        await turns.playServices(hive, join(work, 'warehouse'));
        await hive.ended;
      } catch (error) {
        turns.failed(error);
      } finally {
        hive.stop();
      }
    } finally {
      await turns.close();
    }
    return turns.print();
  } finally {
    await mariadb.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

class Turns {
  private readonly checks = new TurnChecks();

  private constructor(
    private readonly opened: OpenedServices,
    private readonly session: Session,
  ) {}

  static async open(dbUrl: string, work: string): Promise<Turns> {
    const conf = new Configuration();
    for (const [key, value] of Object.entries(ORACLE_SETTINGS)) conf.set(key, value);
    const fs = localFileSystem();
    const clock = systemClock;
    mkdirSync(`${work}/warehouse`);
    const write = (line: string) => void process.stderr.write(`  ${line}`);
    const log = createLogger({ level: 'warn', now: () => clock.now(), write });
    const warehouse = toFileUri(`${work}/warehouse`);
    const opened = await openServices({
      dbUrl,
      conf,
      fs,
      clock,
      user: 'skep',
      version: 'test',
      newWarehouse: warehouse,
      log,
    });
    const identity = { user: 'skep', host: hostname(), agentInfo: opened.compactorServices.agentInfo };
    const { catalog, txns, locks, compactions } = opened;
    const services = { catalog, txns, locks, compactions, fs, clock, warehouse, identity };
    return new Turns(opened, new Session(services, conf, { hivevar: new Map(), env: {} }));
  }

  async close(): Promise<void> {
    await this.session.close();
    await this.opened.close();
  }

  failed(error: unknown): void {
    this.checks.check(String(error), false);
  }

  print(): boolean {
    return this.checks.print('Hive 4.0.1 and skep by turns on one MariaDB metastore');
  }

  /** Compactions, time-outs and locks. */
  async playServices(hive: HiveOnDatabase, warehouse: string): Promise<void> {
    const { opened, checks } = this;
    await playServices(hive, { opened, checks, warehouse, rows: (statement) => this.rows(statement) });
  }

  /** What Hive finds. */
  async begin(): Promise<void> {
    await this.skep(
      'CREATE DATABASE bank',
      `CREATE TABLE bank.accounts (id int, owner string, balance decimal(10,2)) STORED AS ORC
        TBLPROPERTIES ('transactional'='true')`,
      "INSERT INTO bank.accounts VALUES (1,'ann',10.50),(2,'bob',20),(3,'čech 東京',30)",
      'UPDATE bank.accounts SET balance = balance + 1 WHERE id = 1',
      `CREATE TABLE bank.moves (id int, amount int) PARTITIONED BY (day string, shop int) STORED AS ORC
        TBLPROPERTIES ('transactional'='true')`,
      "INSERT INTO bank.moves PARTITION (day, shop) VALUES (1,100,'2024-01-01',1),(2,200,'2024-01-02',1)",
      'CREATE VIEW bank.rich AS SELECT id FROM bank.accounts WHERE balance > 15',
    );
  }

  async play(hive: HiveOnDatabase): Promise<void> {
    let seenTxn = false;
    let seenLock = false;
    const watch = async () => {
      const { txns } = await this.opened.txns.showTxns({});
      seenTxn ||= txns.some((txn) => txn.state === 1 && txn.user !== 'skep');
      const { locks } = await this.opened.locks.showLocks({ database: 'bank', table: 'accounts' });
      seenLock ||= locks.some((lock) => lock.user !== 'skep');
    };
    const first = await hive.run(
      'turn1',
      [
        'select * from bank.accounts;',
        'select count(*) from bank.accounts;',
        "insert into bank.accounts values (4,'dan',40),(5,'eve',50);",
        'update bank.accounts set balance = balance * 2 where id = 2;',
        'delete from bank.accounts where id = 3;',
        'select * from bank.accounts;',
        "insert into bank.moves partition (day, shop) values (3,300,'2024-01-02',1),(4,400,'2024-01-03',2);",
        'select * from bank.moves;',
        "create table bank.made (k int, v string) clustered by (k) into 2 buckets stored as orc tblproperties ('transactional'='true');",
        "insert into bank.made values (1,'x'),(2,'y');",
        "alter table bank.accounts compact 'major';",
        '!worker',
        'select * from bank.accounts;',
        'analyze table bank.accounts compute statistics for columns;',
        'create function bank.up as "org.apache.hadoop.hive.ql.udf.generic.GenericUDFUpper";',
      ],
      watch,
    );
    this.checks.hiveSaid(first, [
      ['1\tann\t11.50', '2\tbob\t20.00', '3\tčech 東京\t30.00'],
      ['3'],
      ['1\tann\t11.50', '2\tbob\t40.00', '4\tdan\t40.00', '5\teve\t50.00'],
      ['1\t100\t2024-01-01\t1', '2\t200\t2024-01-02\t1', '3\t300\t2024-01-02\t1', '4\t400\t2024-01-03\t2'],
      ['1\tann\t11.50', '2\tbob\t40.00', '4\tdan\t40.00', '5\teve\t50.00'],
    ]);
    this.checks.check('skep saw a transaction of Hive', seenTxn);
    this.checks.check('skep saw a lock of Hive', seenLock);

    await this.reads('SELECT * FROM bank.accounts', [
      '1\tann\t11.50',
      '2\tbob\t40.00',
      '4\tdan\t40.00',
      '5\teve\t50.00',
    ]);
    await this.reads('SELECT * FROM bank.made', ['1\tx', '2\ty']);
    await this.reads('SELECT id, shop FROM bank.moves', ['1\t1', '2\t1', '3\t1', '4\t2']);
    await this.reads('SHOW TABLES IN bank', ['accounts', 'made', 'moves', 'rich']);
    const compacted = await this.rows('SHOW COMPACTIONS');
    this.checks.check(
      `skep shows Hive's compaction: ${compacted.join(' ')}`,
      compacted.some((row) => row.includes('accounts') && row.includes('MAJOR')),
    );
    await this.skep(
      'DELETE FROM bank.accounts WHERE id = 4',
      "INSERT INTO bank.accounts VALUES (6,'fay',60)",
      "UPDATE bank.made SET v = 'z' WHERE k = 2",
      "ALTER TABLE bank.moves DROP PARTITION (day = '2024-01-01')",
      'ALTER TABLE bank.made RENAME TO bank.renamed',
      "MERGE INTO bank.accounts t USING (SELECT 2 id, 'rob' n UNION ALL SELECT 9, 'new') s ON t.id = s.id WHEN MATCHED THEN UPDATE SET owner = s.n WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.n, 90)",
    );

    // skep holds an exclusive lock: Hive sees it and gives up.
    const { txnIds } = await this.opened.txns.openTxns({
      count: 1,
      user: 'skep',
      host: hostname(),
      agentInfo: '',
      type: 0,
    });
    const [txnId] = txnIds;
    const locked = await this.opened.locks.lock({
      txnId,
      user: 'skep',
      host: hostname(),
      agentInfo: 'held',
      zeroWaitRead: false,
      exclusiveCtas: false,
      components: [
        {
          type: LockType.LOCK_TYPE_EXCLUSIVE,
          level: LockLevel.LOCK_LEVEL_TABLE,
          database: 'bank',
          table: 'accounts',
          operation: 5,
          isTransactional: false,
          isDynamicPartitionWrite: false,
        },
      ],
    });
    this.checks.check('skep has its lock', locked.state === LockState.LOCK_STATE_ACQUIRED);
    const second = await hive.run('turn2', [
      'show locks;',
      'show transactions;',
      "insert into bank.accounts values (7,'no',0);",
    ]);
    const lines = (text: string) => second.filter((step) => step.statement.startsWith(text)).flatMap(rowsOf);
    this.checks.check(
      `Hive shows the lock of skep: ${JSON.stringify(lines('show locks'))}`,
      lines('show locks').some((row) => row.includes('EXCLUSIVE') && row.includes('skep')),
    );
    this.checks.check(
      'Hive shows the transaction of skep',
      lines('show transactions').some((row) => row.startsWith(`${txnId}\t`)),
    );
    const refused = second.at(-1)?.error?.message ?? 'no error';
    this.checks.check(`Hive waits for the lock of skep and gives up: ${refused}`, /lock/i.test(refused));
    await this.opened.txns.abortTxns({ txnIds: [txnId], reasonCode: 50005 });

    const third = await hive.run('turn3', [
      'select * from bank.accounts;',
      'select count(*) from bank.accounts;',
      'select * from bank.renamed;',
      'select * from bank.moves;',
      'select * from bank.rich;',
      "insert into bank.accounts values (7,'gus',70);",
      'drop table bank.renamed;',
    ]);
    const accounts = ['1\tann\t11.50', '2\trob\t40.00', '5\teve\t50.00', '6\tfay\t60.00', '9\tnew\t90.00'];
    this.checks.hiveSaid(third, [
      accounts,
      ['5'],
      ['1\tx', '2\tz'],
      ['2\t200\t2024-01-02\t1', '3\t300\t2024-01-02\t1', '4\t400\t2024-01-03\t2'],
      ['2', '5', '6', '9'],
    ]);
    await this.reads('SELECT * FROM bank.accounts', [...accounts, '7\tgus\t70.00']);
    await this.reads('SHOW TABLES IN bank', ['accounts', 'moves', 'rich']);
    await this.skep('DROP DATABASE bank CASCADE');
    for (const table of ['TBLS', 'SDS', 'TAB_COL_STATS', 'FUNCS', 'HIVE_LOCKS']) {
      const row = await this.opened.db.read((tx) => tx.get<{ N: bigint }>(`SELECT COUNT(*) AS N FROM ${table}`));
      this.checks.check(`nothing is left in ${table}`, row?.N === 0n);
    }
  }

  private async skep(...statements: string[]): Promise<void> {
    for (const statement of statements) await this.rows(statement);
  }

  private async rows(statement: string): Promise<string[]> {
    return allRows(await this.session.execute(statement));
  }

  private async reads(statement: string, expected: readonly string[]): Promise<void> {
    const got = (await this.rows(statement)).sort();
    this.checks.same(`skep: ${statement}`, got, expected);
  }
}
