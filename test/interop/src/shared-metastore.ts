import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
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
import type { RecordedStep } from '../../golden/src/case-file.js';
import { allRows, ORACLE_SETTINGS } from '../../golden/src/home-port.js';

/** Rows as Hive's client prints them; those of the harness's own steps are objects. */
const rowsOf = (step: RecordedStep | undefined): string[] =>
  (step?.rows ?? []).map((row) => (typeof row === 'string' ? row : JSON.stringify(row)));

/**
 * Hive 4.0.1 on a MariaDB database that skep made, both working on the same tables by turns. Hive is a metastore and
 * an SQL driver with a script a turn; the scripts of the later turns are pipes, so that Hive waits where skep is to work.
 */
export async function sharedMetastore(oracle: string): Promise<boolean> {
  const work = realpathSync(mkdtempSync(join(tmpdir(), 'skep-shared-metastore-')));
  const mariadb = await startMariadb();
  try {
    const url = `${mariadb.url}/skep`;
    const turns = await Turns.open(url, work);
    try {
      await turns.begin();
      const hive = new Hive(oracle, work, `jdbc:mariadb://127.0.0.1:${mariadb.port}/skep`, await freePort());
      try {
        await turns.play(hive);
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

const TURNS = ['turn1', 'turn2', 'turn3'] as const;
const TURN_MS = 300_000;

/** Hive's metastore on the database, and Hive's SQL driver on that. */
class Hive {
  readonly ended: Promise<void>;
  private readonly children: ChildProcess[] = [];
  private failure: string | undefined;

  constructor(
    private readonly oracle: string,
    private readonly work: string,
    url: string,
    port: number,
  ) {
    mkdirSync(join(work, 'out'), { recursive: true });
    for (const turn of TURNS) execFileSync('mkfifo', [join(work, `${turn}.sql`)]);
    const conf = {
      'javax.jdo.option.ConnectionURL': url,
      'javax.jdo.option.ConnectionDriverName': 'org.mariadb.jdbc.Driver',
      // Hive neither adds a table or a column, nor takes any schema but its own.
      'datanucleus.schema.autoCreateAll': 'false',
      'hive.metastore.schema.verification': 'true',
      'metastore.schema.verification': 'true',
      // Its threads without a session would open a Derby of their own, and Hive knows one kind of database a process.
      'hive.query.reexecution.enabled': 'false',
      'hive.query.reexecution.stats.persist.scope': 'query',
    };
    const settings = Object.entries(conf).map(([key, value]) => `-Dconf.${key}=${value}`);
    const home = join(work, 'home');
    const warehouse = `-Dwarehouse=${work}/warehouse`;
    this.start([warehouse, ...settings, home, '--metastore', String(port)]);
    const scripts = TURNS.map((turn) => join(work, `${turn}.sql`));
    const uris = `-Duris=thrift://127.0.0.1:${port}`;
    // Its compactor reaches the transactions directly.
    this.ended = this.start([warehouse, uris, ...settings, `${home}2`, join(work, 'out'), ...scripts]);
  }

  private start(args: readonly string[]): Promise<void> {
    const child = spawn(join(this.oracle, 'run.sh'), args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.children.push(child);
    let tail = '';
    child.stderr.on('data', (chunk) => {
      tail = (tail + String(chunk)).slice(-3000);
    });
    return new Promise((resolve) => {
      child.on('close', (code) => {
        if (code !== 0) this.failure ??= `Hive ended with ${code}: ${tail}`;
        resolve();
      });
    });
  }

  stop(): void {
    for (const child of this.children) child.kill('SIGKILL');
  }

  /** Runs a script; `meanwhile` until it is done. Answers the steps with what Hive said. */
  async run(
    turn: (typeof TURNS)[number],
    script: readonly string[],
    meanwhile?: () => Promise<void>,
  ): Promise<RecordedStep[]> {
    const answer = join(this.work, 'out', `${turn}.json`);
    // Waits until Hive opens it.
    const written = writeFile(join(this.work, `${turn}.sql`), `${script.join('\n')}\n`);
    await Promise.race([written, this.ended]);
    const untilMs = systemClock.now() + TURN_MS;
    while (!existsSync(answer)) {
      if (this.failure !== undefined) throw new SharedMetastoreError(this.failure);
      if (systemClock.now() > untilMs) throw new SharedMetastoreError(`Hive did not finish ${turn} in ${TURN_MS} ms`);
      await meanwhile?.();
      await systemClock.sleep(50);
    }
    await systemClock.sleep(200);
    return JSON.parse(readFileSync(answer, 'utf8'));
  }
}

class SharedMetastoreError extends Error {
  override readonly name = 'SharedMetastoreError';
}

class Turns {
  private checks = 0;
  private readonly problems: string[] = [];

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
    this.check(String(error), false);
  }

  print(): boolean {
    process.stdout.write(
      `Hive 4.0.1 and skep by turns on one MariaDB metastore: ${this.checks - this.problems.length} of ${this.checks} passed\n`,
    );
    for (const problem of this.problems) process.stderr.write(`  ${problem}\n`);
    return this.problems.length === 0;
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

  async play(hive: Hive): Promise<void> {
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
    this.hiveSaid(first, [
      ['1\tann\t11.50', '2\tbob\t20.00', '3\tčech 東京\t30.00'],
      ['3'],
      ['1\tann\t11.50', '2\tbob\t40.00', '4\tdan\t40.00', '5\teve\t50.00'],
      ['1\t100\t2024-01-01\t1', '2\t200\t2024-01-02\t1', '3\t300\t2024-01-02\t1', '4\t400\t2024-01-03\t2'],
      ['1\tann\t11.50', '2\tbob\t40.00', '4\tdan\t40.00', '5\teve\t50.00'],
    ]);
    this.check('skep saw a transaction of Hive', seenTxn);
    this.check('skep saw a lock of Hive', seenLock);

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
    this.check(
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
    this.check('skep has its lock', locked.state === LockState.LOCK_STATE_ACQUIRED);
    const second = await hive.run('turn2', [
      'show locks;',
      'show transactions;',
      "insert into bank.accounts values (7,'no',0);",
    ]);
    const lines = (text: string) => second.filter((step) => step.statement.startsWith(text)).flatMap(rowsOf);
    this.check(
      `Hive shows the lock of skep: ${JSON.stringify(lines('show locks'))}`,
      lines('show locks').some((row) => row.includes('EXCLUSIVE') && row.includes('skep')),
    );
    this.check(
      'Hive shows the transaction of skep',
      lines('show transactions').some((row) => row.startsWith(`${txnId}\t`)),
    );
    const refused = second.at(-1)?.error?.message ?? 'no error';
    this.check(`Hive waits for the lock of skep and gives up: ${refused}`, /lock/i.test(refused));
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
    this.hiveSaid(third, [
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
      this.check(`nothing is left in ${table}`, row?.N === 0n);
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
    this.same(`skep: ${statement}`, got, expected);
  }

  private hiveSaid(steps: readonly RecordedStep[], expected: readonly (readonly string[])[]): void {
    for (const step of steps) {
      const failed = step.error?.message ?? step.harnessError;
      this.check(`Hive: ${step.statement}: ${failed}`, failed === undefined);
    }
    const reads = steps.filter((step) => step.statement.startsWith('select'));
    for (const [i, rows] of expected.entries()) {
      this.same(`Hive: ${reads[i]?.statement} (${i + 1})`, rowsOf(reads[i]).sort(), rows);
    }
  }

  private same(what: string, got: readonly string[], expected: readonly string[]): void {
    this.check(`${what}: got ${JSON.stringify(got)}`, JSON.stringify(got) === JSON.stringify([...expected].sort()));
  }

  private check(what: string, holds: boolean): void {
    this.checks++;
    if (!holds) this.problems.push(what);
  }
}
