import { mkdirSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { keepSmallFiles } from '@skep/acid';
import { Catalog, catalogMigrations } from '@skep/catalog';
import {
  CompactionQueue,
  type Compactor,
  type CompactorConf,
  type CompactorServices,
  compactorMigrations,
  recoverAbandoned,
  startCompactor,
} from '@skep/compactor';
import { Configuration, readSiteFile } from '@skep/config';
import { type Clock, idle, SkepError, systemClock } from '@skep/core';
import { LockManager, lockMigrations } from '@skep/lock-manager';
import { type Database, openDatabase } from '@skep/metadb';
import { CompactionState, type LockService, type TransactionService } from '@skep/rpc';
import { type Services, Session } from '@skep/sql';
import { type FileSystem, localFileSystem, readFile, toFileUri } from '@skep/storage';
import { currentAgentInfo, isHolderAlive, TxnManager, txnMigrations } from '@skep/txn-manager';
import { version } from './version.js';

export interface HomeOptions {
  /** The embedded home: metastore database and warehouse. Absent: SKEP_HOME, or .skep in the current folder. */
  readonly path?: string;
  /** The warehouse's folder, if it is not in the home. */
  readonly warehouse?: string;
  readonly hiveconf?: Readonly<Record<string, string>>;
  readonly hivevar?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Initiator, Worker and Cleaner run in this process while it lives. */
  readonly backgroundCompaction?: boolean;
  readonly clock?: Clock;
  /** What goes wrong in the background, one line each. */
  readonly log?: (message: string) => void;
}

/** Everything in one process: SQLite metastore, services bound directly, local files, sessions. */
export interface Home {
  readonly path: string;
  /** The warehouse's folder as a plain path. */
  readonly warehouse: string;
  readonly conf: Configuration;
  readonly fs: FileSystem;
  readonly services: Services;
  readonly compactor: Compactor;
  newSession(): Session;
  /** Lets compactions that were asked for here finish, then closes the database. */
  close(): Promise<void>;
}

const databaseFile = 'metastore.db';
const siteFile = 'hive-site.xml';
const housekeepingMs = 60_000;

/** Opens the embedded home, makes it on first use, and cleans up after processes of it that died. */
export async function openHome(options: HomeOptions = {}): Promise<Home> {
  const env = options.env ?? process.env;
  const clock = options.clock ?? systemClock;
  const path = resolve(options.path ?? env.SKEP_HOME ?? '.skep');
  const warehouse = resolve(options.warehouse ?? `${path}/warehouse`);
  makeFolder(warehouse);
  const fs = localFileSystem();
  keepSmallFiles(fs);
  const conf = await loadConfiguration(fs, path, env, options.hiveconf ?? {});
  const warehouseUri = toFileUri(warehouse);
  const db = await openDatabase({
    url: `sqlite:${path}/${databaseFile}`,
    clock,
    migrations: [...catalogMigrations(warehouseUri), ...txnMigrations, ...lockMigrations, ...compactorMigrations],
  });
  const { txns, locks } = bindTransactions(db, clock, conf);
  const compactions = new CompactionQueue({
    db,
    clock,
    txns: () => txns,
    poolTimeoutMs: conf.getTimeMs('hive.compactor.worker.pool.timeout'),
    retention: {
      succeeded: conf.getInt('hive.compactor.history.retention.succeeded'),
      failed: conf.getInt('hive.compactor.history.retention.failed'),
      refused: conf.getInt('hive.compactor.history.retention.refused'),
      didNotInitiate: conf.getInt('hive.compactor.history.retention.did.not.initiate'),
      timeoutMs: conf.getTimeMs('hive.compactor.history.retention.timeout'),
    },
  });
  const identity = { user: userName(env), host: hostname(), agentInfo: currentAgentInfo() };
  const catalog = new Catalog(db);
  const log = options.log ?? (() => {});
  const background = options.backgroundCompaction ?? false;
  const compactorServices: CompactorServices = {
    txns,
    locks,
    catalog,
    compactions,
    fs,
    clock,
    conf: compactorConf(conf),
    ...identity,
    version,
    log,
  };
  const compactor = startCompactor(compactorServices, {
    background,
    workers: conf.getInt('hive.compactor.worker.threads'),
    pools: workerPools(conf),
    initiator: conf.getBoolean('hive.compactor.initiator.on'),
    cleaner: conf.getBoolean('hive.compactor.cleaner.on'),
  });
  let asked = false;
  const services: Services = {
    txns,
    locks,
    catalog,
    compactions,
    fs,
    clock,
    warehouse: warehouseUri,
    identity,
    ...(background
      ? {
          wakeCompactor: () => {
            asked = true;
            compactor.wake();
          },
        }
      : {}),
  };
  const stop = new AbortController();
  const keepHouse = async (): Promise<void> => {
    await txns.runHousekeeping({ abortDeadHolders: true });
    await locks.removeExpiredLocks({});
    await revokeDeadWorkers(services);
    await recoverAbandoned(compactorServices);
    await compactions.purgeHistory();
  };
  await keepHouse();
  const housekeeper = housekeeping(keepHouse, stop.signal, log);
  const sessions: Session[] = [];
  return {
    path,
    warehouse,
    conf,
    fs,
    services,
    compactor,
    newSession() {
      const variables = { hivevar: new Map(Object.entries(options.hivevar ?? {})), env };
      const session = new Session(services, conf.fork(), variables);
      sessions.push(session);
      return session;
    },
    async close() {
      stop.abort();
      await housekeeper;
      if (asked && conf.getInt('hive.compactor.worker.threads') > 0) await finishRequests(services);
      await compactor.stop();
      if (asked) await compactor.runCleanerOnce();
      for (const session of sessions) await session.close();
      await db.close();
    },
  };
}

const pollMs = 20;

/** What was asked for in this process is done before it ends: nobody else would do it. */
async function finishRequests({ compactions, clock, identity }: Services): Promise<void> {
  const own = `${identity.host}-${process.pid}`;
  for (;;) {
    const { compactions: all } = await compactions.showCompactions({ limit: 0n });
    const isPending = all.some(
      ({ state, workerId, poolName }) =>
        // Requests of named pools are for others' Workers.
        (state === CompactionState.COMPACTION_STATE_INITIATED && poolName === '') ||
        (state === CompactionState.COMPACTION_STATE_WORKING && workerId === own),
    );
    if (!isPending) return;
    await clock.sleep(pollMs);
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (cause) {
    throw new SkepError(
      'HOME_UNWRITABLE',
      'invalid',
      `the folder ${path} cannot be made (${String(cause)}): set SKEP_HOME or --warehouse to one that can be written`,
      { cause },
    );
  }
}

/** hive-site.xml in the home, SKEP_CONF_… of the environment, then --hiveconf. */
async function loadConfiguration(
  fs: FileSystem,
  path: string,
  env: Readonly<Record<string, string | undefined>>,
  hiveconf: Readonly<Record<string, string>>,
): Promise<Configuration> {
  const sitePath = `${path}/${siteFile}`;
  const found = await fs.stat(sitePath);
  const site =
    found === undefined ? [] : readSiteFile(new TextDecoder().decode(await readFile(fs, sitePath)), sitePath);
  const { conf } = Configuration.load({ site, env });
  for (const [name, value] of Object.entries(hiveconf)) conf.set(name, value);
  return conf;
}

/** The two services hold each other: locks end with their transactions, and only those of open transactions count. */
function bindTransactions(
  db: Database,
  clock: Clock,
  conf: Configuration,
): { txns: TransactionService; locks: LockService } {
  const txnTimeoutMs = conf.getTimeMs('hive.txn.timeout');
  const txns: TransactionService = new TxnManager({
    db,
    clock,
    locks: () => locks,
    conf: {
      txnTimeoutMs,
      replTxnTimeoutMs: conf.getTimeMs('hive.repl.txn.timeout'),
      maxOpenTxns: conf.getInt('hive.max.open.txns'),
      maxOpenBatch: conf.getInt('hive.txn.max.open.batch'),
      openTxnTimeoutMs: conf.getTimeMs('hive.txn.opentxn.timeout'),
    },
  });
  const locks: LockService = new LockManager({ db, clock, txns: () => txns, conf: { txnTimeoutMs } });
  return { txns, locks };
}

function compactorConf(conf: Configuration): CompactorConf {
  const delayed = conf.getBoolean('hive.compactor.delayed.cleanup.enabled');
  return {
    deltaNumThreshold: conf.getInt('hive.compactor.delta.num.threshold'),
    deltaPctThreshold: conf.getFloat('hive.compactor.delta.pct.threshold'),
    abortedTxnThreshold: conf.getInt('hive.compactor.abortedtxn.threshold'),
    abortedTxnTimeThresholdMs: conf.getTimeMs('hive.compactor.aborted.txn.time.threshold'),
    failedCompactsThreshold: conf.getInt('hive.compactor.initiator.failed.compacts.threshold'),
    failedRetryTimeMs: conf.getTimeMs('hive.compactor.initiator.failed.retry.time'),
    checkIntervalMs: conf.getTimeMs('hive.compactor.check.interval'),
    workerTimeoutMs: conf.getTimeMs('hive.compactor.worker.timeout'),
    workerSleepMs: conf.getTimeMs('hive.compactor.worker.sleep.time'),
    cleanerRunIntervalMs: conf.getTimeMs('hive.compactor.cleaner.run.interval'),
    cleanerRetryMaxAttempts: conf.getInt('hive.compactor.cleaner.retry.maxattempts'),
    cleanerRetryRetentionMs: conf.getTimeMs('hive.compactor.cleaner.retry.retention.time'),
    cleanerDelayMs: delayed ? conf.getTimeMs('hive.compactor.cleaner.retention.time.seconds') : 0,
    cleanAbortsUsingCleaner: conf.getBoolean('hive.compactor.clean.aborts.using.cleaner'),
    compactInsertOnly: conf.getBoolean('hive.compactor.compact.insert.only'),
    txnTimeoutMs: conf.getTimeMs('hive.txn.timeout'),
  };
}

/** hive.compactor.worker.POOL.threads: Workers of named pools. */
function workerPools(conf: Configuration): Record<string, number> {
  const pools: Record<string, number> = {};
  for (const [name, value] of conf.entries()) {
    const pool = /^hive\.compactor\.worker\.(.+)\.threads$/.exec(name)?.[1];
    if (pool !== undefined) pools[pool] = Number(value);
  }
  return pools;
}

/** Requests that Workers of dead processes on this host were at wait again. */
async function revokeDeadWorkers(services: Services): Promise<void> {
  const { compactions: working } = await services.compactions.showCompactions({
    state: CompactionState.COMPACTION_STATE_WORKING,
    limit: 0n,
  });
  if (working.length === 0) return;
  const { host } = services.identity;
  const isAlive = (workerId: string) => isHolderAlive(`skep:${workerId.slice(host.length + 1).split('-')[0]}:0`);
  const alive = working.map((c) => c.workerId).filter((id) => id.startsWith(`${host}-`) && isAlive(id));
  await services.compactions.revokeWorkers({ host, aliveWorkerIds: alive, olderThanMs: 0n });
}

async function housekeeping(
  round: () => Promise<void>,
  signal: AbortSignal,
  log: (message: string) => void,
): Promise<void> {
  for (;;) {
    await idle(housekeepingMs, signal);
    if (signal.aborted) return;
    try {
      await round();
    } catch (error) {
      log(`housekeeping: ${String(error)}`);
    }
  }
}

function userName(env: Readonly<Record<string, string | undefined>>): string {
  return env.SKEP_USER ?? userInfo().username;
}
