import { hostname } from 'node:os';
import { keepSmallFiles } from '@skep/acid';
import { Catalog, catalogMigrations } from '@skep/catalog';
import {
  CompactionQueue,
  CompactorMeter,
  type CompactorServices,
  compactorMigrations,
  DeltaCounts,
  localCompactionFiles,
} from '@skep/compactor';
import type { Configuration } from '@skep/config';
import { type Clock, SkepError, systemClock } from '@skep/core';
import { lockMigrations } from '@skep/lock-manager';
import { type Database, type Migration, openDatabase, type Tx } from '@skep/metadb';
import { type ConnectOptions, InvalidRequestError } from '@skep/rpc';
import { type FileSystem, localFileSystem } from '@skep/storage';
import type { FigureSource, Logger } from '@skep/telemetry';
import { currentAgentInfo, isHolderAlive, txnMigrations } from '@skep/txn-manager';
import { type Background, type BackgroundOptions, startBackground } from './background.js';
import { catalogFacts } from './catalog-facts.js';
import { loggedCompactions } from './compaction-log.js';
import { figuresOf } from './figures.js';
import { leaseMigrations } from './lease.js';
import { loggedLocks } from './lock-log.js';
import { openManagers } from './open-managers.js';
import { closeAll, connectSome } from './remote-services.js';
import {
  compactorConf,
  deltaCountOptions,
  historyRetention,
  retryableMessages,
  serverParameters,
  txnConf,
} from './service-conf.js';
import { SERVICE_NAMES, type ServiceAddresses, type ServiceName } from './service-names.js';
import type { MetastoreServices } from './services.js';
import { loggedTxns } from './txn-log.js';
import { WritesToDisabled } from './writes-to-disabled.js';

export interface OpenServicesOptions {
  /** `sqlite:PATH` or `mysql://USER:PASSWORD@HOST:PORT/DB`. */
  readonly dbUrl: string;
  readonly conf: Configuration;
  /** Which of them live here; default all. */
  readonly services?: readonly ServiceName[];
  /** Where the others are. */
  readonly peers?: ServiceAddresses;
  /** How the others are reached: TLS, identity. */
  readonly connect?: ConnectOptions;
  /** Where new databases get their folders, a URI. Absent: where `default` keeps its tables. */
  readonly warehouse?: string;
  /** Where `default` keeps its tables if the metastore database is new and no warehouse was given. */
  readonly newWarehouse?: string;
  readonly user: string;
  readonly version: string;
  readonly clock?: Clock;
  readonly fs?: FileSystem;
  /** What the services do, with ids, and what goes wrong in the background. */
  readonly log: Logger;
}

/** The services of a metastore: those that live here, and clients of the others. */
export interface OpenedServices extends MetastoreServices {
  readonly hosted: readonly ServiceName[];
  readonly db: Database;
  /** Where new databases get their folders. Empty where the catalog is elsewhere. */
  readonly warehouse: string;
  /** Where `default` keeps its tables, if it is not the warehouse that was asked for. */
  readonly otherWarehouse: string | undefined;
  readonly compactorServices: CompactorServices;
  /** What the services that live here measure, as Hive's AcidMetricService does. */
  readonly figures: readonly FigureSource[];
  /** Initiator, Cleaner, Workers and housekeepers of this process. */
  startBackground(options: BackgroundOptions): Background;
  close(): Promise<void>;
}

/** The database is new, and nobody said where tables are to be. */
class WarehouseMissingError extends SkepError {
  constructor(db: string) {
    super(
      'WAREHOUSE_MISSING',
      'invalid',
      `the metastore database ${db} is new: --warehouse URI says where its tables go`,
    );
  }
}

/** Opens the database and composes what lives here with what lives elsewhere. */
export async function openServices(options: OpenServicesOptions): Promise<OpenedServices> {
  const { conf, services: hosted = SERVICE_NAMES, peers = {}, log } = options;
  const clock = options.clock ?? systemClock;
  const missing = SERVICE_NAMES.filter((name) => !hosted.includes(name) && peers[name] === undefined);
  if (missing.length > 0) {
    const flags = missing.map((name) => `--peer ${name}=HOST:PORT`).join(' ');
    const addresses = missing.length === 1 ? 'its address is' : 'their addresses are';
    throw new InvalidRequestError(
      `${missing.join(', ')}: not served here (--services), so ${addresses} needed: ${flags}`,
    );
  }
  const migrations = migrationsOf(hosted, options);
  const db = await openDatabase({ url: options.dbUrl, clock, migrations, retryable: retryableMessages(conf) });
  const isHere = (name: ServiceName) => hosted.includes(name);
  const elsewhere = Object.fromEntries(Object.entries(peers).filter(([name]) => !isHere(name as ServiceName)));
  const connections = connectSome(elsewhere, options.connect);
  try {
    const { catalog, warehouse, otherWarehouse } = isHere('catalog')
      ? await openCatalog(db, options)
      : { catalog: connections.catalog?.service, warehouse: '', otherWarehouse: undefined };
    const { txnManager: manager, lockManager } = openManagers(db, {
      clock,
      isHere,
      txns: () => services.txns,
      locks: () => services.locks,
      conf: txnConf(conf),
    });
    const deltaCounts = isHere('compaction') ? new DeltaCounts({ db, log, ...deltaCountOptions(conf) }) : undefined;
    const writes = new WritesToDisabled(() => services.catalog);
    const meter = new CompactorMeter(clock);
    // Services hold each other: locks end with their transactions, and only those of open transactions count.
    const services: MetastoreServices = {
      catalog: given(catalog),
      txns:
        manager === undefined ? given(connections.transactions?.service) : loggedTxns(manager, { log, clock, writes }),
      locks: lockManager === undefined ? given(connections.locks?.service) : loggedLocks(lockManager, log, clock),
      compactions: isHere('compaction')
        ? loggedCompactions(
            new CompactionQueue({
              db,
              clock,
              txns: () => services.txns,
              poolTimeoutMs: conf.getTimeMs('hive.compactor.worker.pool.timeout'),
              retention: historyRetention(conf),
            }),
            log,
            clock,
            deltaCounts,
          )
        : given(connections.compaction?.service),
    };
    const fs = options.fs ?? localFileSystem();
    keepSmallFiles(fs);
    const compactorServices: CompactorServices = {
      ...services,
      fs,
      files: localCompactionFiles(fs),
      clock,
      conf: compactorConf(conf),
      user: options.user,
      host: hostname(),
      agentInfo: currentAgentInfo(),
      version: options.version,
      log,
      meter,
      deltaCounts,
    };
    const figures = figuresOf({ hosted, db, conf, totals: manager?.totals, writes, meter, deltaCounts });
    return {
      ...services,
      hosted,
      db,
      warehouse,
      otherWarehouse,
      compactorServices,
      figures,
      startBackground: (background) =>
        startBackground({ services: compactorServices, db, conf, isAlive: isHolderAlive, figures, ...background }),
      async close() {
        closeAll(connections);
        await db.close();
      },
    };
  } catch (error) {
    closeAll(connections);
    await db.close();
    throw error;
  }
}

/** The tables of the services that live here, and AUX_TABLE. */
function migrationsOf(hosted: readonly ServiceName[], { dbUrl, ...options }: OpenServicesOptions): Migration[] {
  const warehouse = options.warehouse ?? options.newWarehouse;
  const known: Readonly<Record<ServiceName, readonly Migration[]>> = {
    catalog: catalogMigrations(warehouse ?? ''),
    transactions: txnMigrations,
    locks: lockMigrations,
    compaction: compactorMigrations,
  };
  const migrations = SERVICE_NAMES.filter((name) => hosted.includes(name)).flatMap((name) => known[name]);
  const all = [...migrations, ...(hosted.includes('compaction') ? leaseMigrations : [])];
  if (warehouse !== undefined) return all;
  // The first is where `default` gets its place, unless a Hive has given it one.
  const name = dbUrl.replace(/\/\/.*@/, '//');
  const first: Migration = {
    ...known.catalog[0],
    async up(tx) {
      if (!(await hasDefaultDatabase(tx))) throw new WarehouseMissingError(name);
      await known.catalog[0].up(tx);
    },
  };
  return all.map((migration) => (migration.id === first.id ? first : migration));
}

async function hasDefaultDatabase(tx: Tx): Promise<boolean> {
  if ((await tx.get(tx.dialect.tableExists, ['DBS'])) === undefined) return false;
  return (await tx.get("SELECT 1 AS N FROM DBS WHERE NAME = 'default' LIMIT 1")) !== undefined;
}

async function openCatalog(db: Database, { conf, warehouse, version }: OpenServicesOptions) {
  const { database } = await new Catalog(db).getDatabase({ name: 'default' });
  const found = database?.locationUri ?? '';
  const warehouseUri = warehouse ?? found;
  const catalog = new Catalog(db, { version, warehouseUri, parameters: serverParameters(conf) }, catalogFacts);
  return { catalog, warehouse: warehouseUri, otherWarehouse: found === warehouseUri ? undefined : found };
}

function given<T>(service: T | undefined): T {
  if (service === undefined) throw new TypeError('a service without an address');
  return service;
}
