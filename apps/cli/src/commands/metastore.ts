import { dirname, resolve } from 'node:path';
import type { Configuration } from '@skep/config';
import { parseAddresses, parseServices, SERVICE_NAMES, type ServiceName, serveMetastore } from '@skep/metastore';
import { toFileUri } from '@skep/storage';
import { userName } from '../configuration.js';
import { UsageError } from '../error-line.js';
import type { CliIo } from '../io.js';
import { version } from '../version.js';
import { warehouseUri } from '../warehouse-uri.js';
import { type ClientFlags, peerOptions, quietGrpc, withUser } from './client-flags.js';
import type { ServeFlags } from './serve-flags.js';
import { checkServeFlags, serveOptions } from './serve-options.js';
import {
  asked,
  callLogger,
  countOf,
  type LogFlags,
  readText,
  serviceLogger,
  servingConfiguration,
  startMetrics,
} from './serving.js';

type OnOff = 'on' | 'off';

export interface MetastoreFlags extends ClientFlags, ServeFlags, LogFlags {
  readonly db: string;
  readonly dbPasswordFile?: string;
  readonly warehouse?: string;
  readonly services: string;
  readonly peer?: readonly string[];
  readonly initiator?: OnOff;
  readonly cleaner?: OnOff;
  readonly housekeeping?: OnOff;
  readonly workers?: string;
  readonly metrics?: string;
  readonly config?: readonly string[];
  readonly hiveconf?: Readonly<Record<string, string>>;
}

const SWITCHES = [
  ['initiator', 'hive.compactor.initiator.on'],
  ['cleaner', 'hive.compactor.cleaner.on'],
  ['housekeeping', 'metastore.housekeeping.threads.on'],
] as const;

/** `skep metastore`: serves until it is asked to end. */
export async function runMetastore(io: CliIo, flags: MetastoreFlags): Promise<void> {
  quietGrpc();
  checkServeFlags(flags);
  const env = withUser(io.env, flags.user);
  const { conf, notes } = servingConfiguration(flags.config ?? [], env, flags.hiveconf ?? {});
  for (const [flag, parameter] of SWITCHES) {
    if (flags[flag] !== undefined) conf.set(parameter, String(flags[flag] === 'on'));
  }
  const logger = serviceLogger(io, 'metastore', flags);
  for (const note of notes) logger.warn({}, note);
  const services = parseServices(flags.services);
  refuseIdleFlags(flags, services);
  const peers = parseAddresses((flags.peer ?? []).join(','), '--peer');
  const metrics = flags.metrics === undefined ? undefined : await startMetrics(flags.metrics, logger);
  const onCall = callLogger(logger, metrics);
  try {
    const running = await serveMetastore({
      dbUrl: databaseUrl(flags, io),
      conf,
      services,
      peers,
      connect: peerOptions(flags, env),
      ...warehouses(flags),
      user: userName(env),
      version,
      log: logger,
      serve: { ...serveOptions(flags, conf.entries()), onCall },
      background: { loops: true, ...workersOf(flags, conf) },
    });
    const { address } = running;
    metrics?.watch(running.services.figures, conf);
    const { db, otherWarehouse, warehouse } = running.services;
    if (otherWarehouse !== undefined) {
      const where = `--warehouse ${warehouse} is where new databases go; default keeps its tables in ${otherWarehouse}`;
      logger.warn({ warehouse, otherWarehouse }, where);
    }
    if (services.length === SERVICE_NAMES.length && flags.peer !== undefined) {
      logger.warn({ peers: flags.peer }, '--peer: all services are here (--services), so nobody else is asked');
    }
    const ended = asked(io);
    const what = services.length === SERVICE_NAMES.length ? 'all services' : services.join(', ');
    const figures = metrics === undefined ? '' : `, metrics on ${metrics.address}`;
    io.stdout.write(`skep metastore ready on ${address}: ${what}, database ${db.path}${figures}\n`);
    logger.info({ address, services, database: db.path, metrics: metrics?.address }, 'ready');
    await ended;
    logger.info({}, 'ending');
    await running.close();
  } finally {
    await metrics?.close();
  }
}

/** What runs beside the calls runs where compaction is served: elsewhere these flags would do nothing. */
function refuseIdleFlags(flags: MetastoreFlags, services: readonly ServiceName[]): void {
  if (services.includes('compaction')) return;
  const idle = (['initiator', 'cleaner', 'housekeeping', 'workers'] as const).filter(
    (flag) => flags[flag] !== undefined,
  );
  if (idle.length === 0) return;
  const names = idle.map((flag) => `--${flag}`).join(', ');
  throw new UsageError(`${names}: for the process that serves compaction, and this one serves ${services.join(', ')}`);
}

/** By --workers, else those of the configuration if Hive's would run in its metastore, too. */
function workersOf({ workers }: MetastoreFlags, conf: Configuration): { workers: number; pools: boolean } {
  if (workers !== undefined) return { workers: countOf('--workers', workers, 0), pools: workers !== '0' };
  const isHere = conf.get('hive.metastore.runworker.in')?.toLowerCase() === 'metastore';
  return { workers: isHere ? conf.getInt('hive.compactor.worker.threads') : 0, pools: isHere };
}

/** With the password from where no list of processes shows it. */
function databaseUrl({ db, dbPasswordFile }: MetastoreFlags, io: CliIo): string {
  const password =
    dbPasswordFile === undefined
      ? io.env.SKEP_DB_PASSWORD
      : readText(dbPasswordFile, '--db-password-file').replace(/\r?\n$/, '');
  const match = /^((?:mysql|mariadb):\/\/[^/:@]+)(:[^@/]*)?@(.*)$/s.exec(db);
  if (match === null || password === undefined) return db;
  if (match[2] !== undefined) {
    throw new UsageError('--db has a password already: leave out SKEP_DB_PASSWORD and --db-password-file, or that one');
  }
  return `${match[1]}:${encodeURIComponent(password)}@${match[3]}`;
}

/** As given; a new SQLite database has its warehouse beside it. */
function warehouses({ db, warehouse }: MetastoreFlags): { warehouse?: string; newWarehouse?: string } {
  if (warehouse !== undefined) return { warehouse: warehouseUri(warehouse) };
  const file = /^sqlite:(?:\/\/)?(.+)$/.exec(db)?.[1];
  return file === undefined ? {} : { newWarehouse: toFileUri(`${dirname(resolve(file))}/warehouse`) };
}
