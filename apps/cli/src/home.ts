import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { Compactor } from '@skep/compactor';
import type { Configuration } from '@skep/config';
import { type Clock, makeFolder, SkepError, systemClock } from '@skep/core';
import { keepHouse, type OpenedServices, openServices } from '@skep/metastore';
import { CompactionState } from '@skep/rpc';
import { type Services, Session } from '@skep/sql';
import { type FileSystem, localFileSystem, parseLocation, toFileUri } from '@skep/storage';
import { type Logger, silentLogger } from '@skep/telemetry/log';
import { type Environment, homePath, loadConfiguration, userName } from './configuration.js';
import { version } from './version.js';

export interface HomeOptions {
  /** The embedded home: metastore database and warehouse. Absent: SKEP_HOME, or .skep in the current folder. */
  readonly path?: string;
  /** Where new databases get their folders, and `default` its tables in a new home; default: the home's own warehouse. */
  readonly warehouse?: string;
  readonly hiveconf?: Readonly<Record<string, string>>;
  readonly hivevar?: Readonly<Record<string, string>>;
  readonly env?: Environment;
  /** Initiator, Worker and Cleaner run in this process while it lives. */
  readonly backgroundCompaction?: boolean;
  readonly clock?: Clock;
  /** What is done in the background, and what goes wrong. */
  readonly log?: Logger;
  /** What the user should know at the start. */
  readonly notice?: (message: string) => void;
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
/** Statements may name it: `dfs -ls ${hiveconf:hive.metastore.warehouse.dir}`. */
const WAREHOUSE_DIR = 'hive.metastore.warehouse.dir';

/** Opens the embedded home, makes it on first use, and cleans up after processes of it that died. */
export async function openHome(options: HomeOptions = {}): Promise<Home> {
  const env = options.env ?? process.env;
  const clock = options.clock ?? systemClock;
  const path = options.path === undefined ? homePath(env) : resolve(options.path);
  makeHomeFolder(path);
  const fs = localFileSystem();
  const conf = await loadConfiguration(fs, path, { env, hiveconf: options.hiveconf ?? {}, notice: options.notice });
  const user = userName(env);
  const opened = await open(path, { options, conf, fs, clock, user });
  const warehouse = parseLocation(opened.warehouse).path;
  makeHomeFolder(warehouse);
  conf.set(WAREHOUSE_DIR, warehouse);
  if (opened.otherWarehouse !== undefined) {
    options.notice?.(
      `--warehouse ${warehouse} is where new databases go; default keeps its tables in ${opened.otherWarehouse}`,
    );
  }
  await keepHouse(opened.compactorServices);
  const loops = options.backgroundCompaction ?? false;
  const workers = conf.getInt('hive.compactor.worker.threads');
  const { compactor, stop } = opened.startBackground({ loops, workers, pools: true });
  let asked = false;
  const { catalog, txns, locks, compactions } = opened;
  const services: Services = {
    catalog,
    txns,
    locks,
    compactions,
    fs,
    clock,
    warehouse: opened.warehouse,
    identity: { user, host: hostname(), agentInfo: opened.compactorServices.agentInfo },
    ...(loops
      ? {
          wakeCompactor: () => {
            asked = true;
            compactor.wake();
          },
        }
      : {}),
  };
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
      if (asked && workers > 0) await finishRequests(services);
      await stop();
      if (asked) await compactor.cleanAll();
      for (const session of sessions) await session.close();
      await opened.close();
    },
  };
}

interface Opening {
  readonly options: HomeOptions;
  readonly conf: Configuration;
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly user: string;
}

async function open(path: string, { options, conf, fs, clock, user }: Opening): Promise<OpenedServices> {
  return await openServices({
    dbUrl: `sqlite:${path}/${databaseFile}`,
    conf,
    fs,
    clock,
    user,
    version,
    newWarehouse: toFileUri(`${path}/warehouse`),
    ...(options.warehouse === undefined ? {} : { warehouse: toFileUri(resolve(options.warehouse)) }),
    log: options.log ?? silentLogger,
  });
}

const pollMs = 20;

/** What was asked for in this process is done before it ends: nobody else would do it. */
async function finishRequests({ compactions, clock, identity }: Services): Promise<void> {
  const own = `${identity.host}-${process.pid}`;
  for (;;) {
    const { compactions: all } = await compactions.showCompactions({ limit: 0n });
    const isPending = all.some(
      ({ state, workerId, poolName, cleanerStartMs }) =>
        // Requests of named pools are for others' Workers, and one that rests waits for somebody's transaction.
        (state === CompactionState.COMPACTION_STATE_INITIATED && poolName === '' && cleanerStartMs === 0n) ||
        (state === CompactionState.COMPACTION_STATE_WORKING && workerId === own),
    );
    if (!isPending) return;
    await clock.sleep(pollMs);
  }
}

function makeHomeFolder(path: string): void {
  try {
    makeFolder(path);
  } catch (cause) {
    throw new SkepError(
      'HOME_UNWRITABLE',
      'invalid',
      `the folder ${path} cannot be made (${String(cause)}): set SKEP_HOME or --warehouse to one that can be written`,
      { cause },
    );
  }
}
