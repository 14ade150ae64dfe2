import { existsSync, readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { startCompactor } from '@skep/compactor';
import { systemClock } from '@skep/core';
import type { OpenedServices } from '@skep/metastore';
import { LockLevel, LockState, LockType, TxnState } from '@skep/rpc';
import type { HiveOnDatabase } from './hive-on-database.js';
import type { TurnChecks } from './turn-checks.js';

/** Where Hive has its turns here. */
export const SERVICE_TURNS = ['serve1', 'serve2', 'serve3', 'serve4'] as const;

/** Hive's Cleaner leaves what committed within the last second (hive.txn.opentxn.timeout). */
const A_WHILE_MS = 1100;
const ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')";

export interface ServicesBeside {
  readonly opened: OpenedServices;
  readonly checks: TurnChecks;
  /** The warehouse folder. */
  readonly warehouse: string;
  /** Rows of a statement of skep's. */
  rows(statement: string): Promise<string[]>;
}

/**
 * One queue of compactions, one set of locks and transactions, two systems: what each one's Initiator, Worker, Cleaner and
 * housekeeper make of what the other has left.
 */
export async function playServices(hive: HiveOnDatabase, { opened, checks, warehouse, rows }: ServicesBeside) {
  const compactor = startCompactor(opened.compactorServices, { background: false });
  const folder = (path: string): string[] => {
    const dir = join(warehouse, 'mutual.db', path);
    return existsSync(dir) ? readdirSync(dir).sort() : [];
  };
  const skep = async (...statements: string[]) => {
    for (const statement of statements) await rows(statement);
  };
  /** `table partition type state` of all requests that are known, and what went wrong with them. */
  const requests = async () =>
    (await rows('SHOW COMPACTIONS DATABASE mutual')).slice(1).map((row) => {
      const [, , table, partition, type, state, , , , , , , error] = row.split('\t');
      return [table, partition.trim(), type, state, ...(/^ --- $/.test(error) ? [] : [error])].join(' ');
    });
  const history = async (table: string) =>
    await opened.db.read((tx) =>
      tx.all<Record<string, unknown>>(
        `SELECT CC_STATE, CC_TYPE, CC_TXN_ID, CC_NEXT_TXN_ID, CC_COMMIT_TIME, CC_HIGHEST_WRITE_ID, CC_START, CC_END, CC_WORKER_ID,
          CC_WORKER_VERSION, CC_INITIATOR_ID, CC_RUN_AS FROM COMPLETED_COMPACTIONS WHERE CC_DATABASE = 'mutual' AND CC_TABLE = ?`,
        [table],
      ),
    );
  const isBase = (name: string) => /^base_\d+_v\d+$/.test(name);

  await skep('CREATE DATABASE mutual', 'USE mutual');
  for (const table of ['by_hive', 'by_skep', 'begun', 'waits']) {
    await skep(
      `CREATE TABLE ${table} (id int, v string) CLUSTERED BY (id) INTO 1 BUCKETS ${ACID}`,
      `INSERT INTO ${table} VALUES (1,'a'),(2,'b')`,
      `INSERT INTO ${table} VALUES (3,'c')`,
      `DELETE FROM ${table} WHERE id = 1`,
    );
  }
  await skep(
    "INSERT INTO begun VALUES (4,'d')",
    `CREATE TABLE parts (id int) PARTITIONED BY (k int) ${ACID}`,
    'INSERT INTO parts VALUES (1,1),(2,2),(3,3)',
    "ALTER TABLE by_hive COMPACT 'major'",
  );

  // Hive's Worker has skep's request; Hive's own, its Initiator's and what it drops are for skep.
  const first = await hive.run('serve1', [
    '!worker',
    'select * from mutual.by_hive;',
    "alter table mutual.by_skep compact 'minor';",
    '!initiator',
    'set hive.acid.createtable.softdelete=true;',
    "create table mutual.gone (id int) stored as orc tblproperties ('transactional'='true');",
    'insert into mutual.gone values (1);',
    'drop table mutual.gone;',
    'set hive.acid.droppartition.usebase=true;',
    'alter table mutual.parts drop partition (k=1);',
    '!txn open stale',
  ]);
  checks.hiveSaid(first, [['2\tb', '3\tc']]);
  const asked = await requests();
  for (const row of [
    'by_hive --- MAJOR ready for cleaning',
    'by_skep --- MINOR initiated',
    'begun --- MAJOR initiated',
    'parts k=1 MAJOR ready for cleaning',
  ]) {
    // Our Cleaner may have been there meanwhile, and says then what it waits for.
    checks.check(
      `skep sees the request ${row} in ${JSON.stringify(asked)}`,
      asked.some((line) => line.startsWith(row)),
    );
  }
  checks.check('Hive left the dropped table to the Cleaner', readdirSync(join(warehouse, 'mutual.db')).some(isGone));

  // A transaction of Hive's that nobody has: it may not keep the Cleaner for ever.
  const stale = (await opened.txns.showTxns({})).txns.find((txn) => txn.user === 'reader');
  checks.check('skep sees the open transaction of Hive', stale?.state === TxnState.TXN_STATE_OPEN);
  const staleId = stale?.txnId ?? 0n;
  await opened.db.transaction((tx) => tx.run('UPDATE TXNS SET TXN_LAST_HEARTBEAT = 1000 WHERE TXN_ID = ?', [staleId]));
  await opened.txns.runHousekeeping({ abortDeadHolders: false });
  const ended = (await opened.txns.showTxns({})).txns.find((txn) => txn.txnId === staleId);
  checks.check(
    `skep has timed out the transaction of Hive: ${ended?.metaInfo}`,
    ended === undefined || ended.state === TxnState.TXN_STATE_ABORTED,
  );

  await systemClock.sleep(A_WHILE_MS);
  await compactor.cleanAll();
  checks.check(`skep has cleaned up after Hive's Worker: ${folder('by_hive')}`, folder('by_hive').every(isBase));
  checks.check(
    "skep has removed the folder of Hive's DROP TABLE",
    !readdirSync(join(warehouse, 'mutual.db')).some(isGone),
  );
  checks.same("skep has removed that of Hive's DROP PARTITION", folder('parts'), ['k=2', 'k=3']);
  while (await compactor.runWorkerOnce());
  checks.check(
    `skep has done Hive's minor compaction: ${folder('by_skep')}`,
    folder('by_skep').some((name) => /^delta_0000001_0000003_v\d+$/.test(name)),
  );
  // What is left for Hive's Cleaner.
  await skep(
    'SET hive.acid.createtable.softdelete=true',
    `CREATE TABLE gone (id int) ${ACID}`,
    'INSERT INTO gone VALUES (1)',
    'DROP TABLE gone',
    'SET hive.acid.createtable.softdelete=false',
    'SET hive.acid.droppartition.usebase=true',
    'ALTER TABLE parts DROP PARTITION (k=2)',
    'SET hive.acid.droppartition.usebase=false',
  );

  const second = await hive.run('serve2', [
    `!sleep ${A_WHILE_MS}`,
    '!cleaner',
    '!cleaner',
    'select * from mutual.by_skep;',
    'select * from mutual.begun;',
    'select * from mutual.parts;',
    "update mutual.begun set v = 'hive' where id > 1;",
  ]);
  checks.hiveSaid(second, [['2\tb', '3\tc'], ['2\tb', '3\tc', '4\td'], ['3\t3']]);
  checks.same(
    "Hive has cleaned up after skep's Worker",
    folder('by_skep').filter((name) => !/_v\d+$/.test(name)),
    [],
  );
  checks.check(
    "Hive has removed the folder of skep's DROP TABLE",
    !readdirSync(join(warehouse, 'mutual.db')).some(isGone),
  );
  checks.same("Hive has removed that of skep's DROP PARTITION", folder('parts'), ['k=3']);
  const done = await requests();
  checks.same(
    'all requests have ended',
    done.filter((row) => !row.endsWith('succeeded')),
    [],
  );
  // The record of one that Hive began and skep ended, and the other way round, has the same columns.
  const [byHive] = await history('by_hive');
  const [bySkep] = await history('by_skep');
  const filled = (row: Record<string, unknown> | undefined) =>
    Object.entries(row ?? {}).flatMap(([name, value]) => (value === null || value === '' ? [] : [name]));
  checks.same('the same columns of COMPLETED_COMPACTIONS are filled', filled(byHive).sort(), filled(bySkep));

  // skep's Initiator for Hive's Worker, and a holder of skep's that Hive times out.
  checks.check("skep's Initiator asks for what Hive changed", (await compactor.runInitiatorOnce()).length === 1);
  const dead = await lockOf(opened, 'waits');
  await opened.db.transaction((tx) => tx.run('UPDATE TXNS SET TXN_LAST_HEARTBEAT = 1000 WHERE TXN_ID = ?', [dead]));
  const third = await hive.run('serve3', [
    '!worker',
    'select * from mutual.begun;',
    '!housekeeper',
    "insert into mutual.waits values (5,'hive');",
    '!txn open holder',
    '!lock holder mutual.waits',
  ]);
  checks.hiveSaid(third, [['2\thive', '3\thive', '4\thive']]);
  checks.check(
    "Hive has done what skep's Initiator asked for",
    (await requests()).some((line) => line.startsWith('begun --- MAJOR ready for cleaning')),
  );
  const { states } = await opened.txns.getTxnStates({ txnIds: [dead] });
  checks.check('Hive has timed out the transaction of skep', states[0] !== TxnState.TXN_STATE_OPEN);

  // Each waits for the other's lock, and goes on when it is gone.
  await skep('SET hive.lock.numretries=100');
  const waiting = rows("INSERT INTO waits VALUES (6,'skep')").then(
    () => 'done',
    (error: unknown) => String(error),
  );
  const holder = await lockOf(opened, 'begun');
  let released = false;
  const fourth = await hive.run(
    'serve4',
    ["insert into mutual.begun values (7,'hive');", '!txn commit holder'],
    async () => {
      const { locks } = await opened.locks.showLocks({ database: 'mutual', table: 'begun' });
      if (released || !locks.some((lock) => lock.state === LockState.LOCK_STATE_WAITING)) return;
      released = true;
      await opened.txns.abortTxns({ txnIds: [holder], reasonCode: 50005 });
    },
  );
  checks.check('Hive has waited for the lock of skep', released);
  checks.check(`skep has waited for the lock of Hive: ${await waiting}`, (await waiting) === 'done');
  checks.hiveSaid(fourth, []);
  checks.same('skep: mutual.waits', (await rows('SELECT * FROM waits')).sort(), ['2\tb', '3\tc', '5\thive', '6\tskep']);
  checks.same('skep: mutual.begun', (await rows('SELECT * FROM begun')).sort(), [
    '2\thive',
    '3\thive',
    '4\thive',
    '7\thive',
  ]);
  await skep('USE default', 'DROP DATABASE mutual CASCADE');
}

const isGone = (name: string): boolean => name.startsWith('gone');

/** A transaction of skep's with an exclusive lock on a table of `mutual`. */
async function lockOf({ txns, locks }: OpenedServices, table: string): Promise<bigint> {
  const who = { user: 'skep', host: hostname(), agentInfo: 'held' };
  const [txnId] = (await txns.openTxns({ count: 1, ...who, type: 0 })).txnIds;
  await locks.lock({
    txnId,
    ...who,
    zeroWaitRead: false,
    exclusiveCtas: false,
    components: [
      {
        type: LockType.LOCK_TYPE_EXCLUSIVE,
        level: LockLevel.LOCK_LEVEL_TABLE,
        database: 'mutual',
        table,
        operation: 5,
        isTransactional: false,
        isDynamicPartitionWrite: false,
      },
    ],
  });
  return txnId;
}
