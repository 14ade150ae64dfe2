import { startCompactorWorker } from '@skep/compactor-worker';
import type { Configuration } from '@skep/config';
import { workerPools } from '@skep/metastore';
import { parseAddress } from '@skep/rpc';
import type { Logger } from '@skep/telemetry/log';
import { type Environment, userName } from '../configuration.js';
import { UsageError } from '../error-line.js';
import type { CliIo } from '../io.js';
import { type MetastoreAddress, metastoreAddresses, reaching } from '../metastore-address.js';
import { version } from '../version.js';
import { type ClientFlags, connectOptions, quietGrpc, withUser } from './client-flags.js';
import { asked, countOf, type LogFlags, serviceLogger, servingConfiguration, startMetrics } from './serving.js';

export interface CompactorFlags extends ClientFlags, LogFlags {
  readonly data?: string;
  readonly threads?: string;
  readonly pool?: string;
  readonly metrics?: string;
  readonly config?: readonly string[];
  readonly hiveconf?: Readonly<Record<string, string>>;
}

/** `skep compactor`: carries out compactions until it is asked to end. */
export async function runCompactor(io: CliIo, flags: CompactorFlags): Promise<void> {
  quietGrpc();
  const env = withUser(io.env, flags.user);
  const { conf, notes } = servingConfiguration(flags.config ?? [], env, flags.hiveconf ?? {});
  const metastore = metastoreAddresses(flags.metastore, env, conf);
  if (metastore === undefined)
    throw new UsageError('--metastore HOST:PORT (or SKEP_METASTORE) says whose requests to carry out');
  const pool = flags.pool ?? '';
  const threads = flags.threads === undefined ? threadsOf(conf, pool) : countOf('--threads', flags.threads, 1);
  const pools = pool === '' ? workerPools(conf) : {};
  if (threads + Object.values(pools).reduce((sum, count) => sum + count, 0) === 0) {
    throw new UsageError('the configuration leaves no Worker to run (hive.compactor.worker.threads): say --threads N');
  }
  const data = dataAddresses(flags.data ?? (env.SKEP_DATA || undefined));
  const logger = serviceLogger(io, 'compactor', flags);
  for (const note of notes) logger.warn({}, note);
  const metrics = flags.metrics === undefined ? undefined : await startMetrics(flags.metrics, logger);
  try {
    await serveCompactions(io, { flags, env, conf, metastore, data, threads, pools, logger, metrics });
  } finally {
    await metrics?.close();
  }
}

/** Of a pool its own threads, where the configuration has some, else as many as of the default pool. */
function threadsOf(conf: Configuration, pool: string): number {
  const own = workerPools(conf)[pool];
  return own ?? conf.getInt('hive.compactor.worker.threads');
}

interface Serving {
  readonly flags: CompactorFlags;
  readonly env: Environment;
  readonly conf: Configuration;
  readonly metastore: MetastoreAddress;
  readonly data: readonly [string, ...string[]] | undefined;
  readonly threads: number;
  /** Workers of named pools, as the configuration has them. */
  readonly pools: Readonly<Record<string, number>>;
  readonly logger: Logger;
  readonly metrics: Awaited<ReturnType<typeof startMetrics>> | undefined;
}

async function serveCompactions(io: CliIo, serving: Serving): Promise<void> {
  const { flags, env, conf, metastore, data, threads, pools, logger, metrics } = serving;
  const worker = await reaching(metastore.text, () =>
    startCompactorWorker({
      addresses: metastore.addresses,
      ...(data === undefined ? {} : { data }),
      connect: connectOptions(flags, env),
      conf,
      threads,
      pool: flags.pool ?? '',
      pools,
      user: userName(env),
      version,
      log: logger,
    }),
  );
  metrics?.watch(worker.figures, conf);
  const ended = asked(io);
  const figures = metrics === undefined ? '' : `, metrics on ${metrics.address}`;
  const named = Object.entries(pools).map(([name, count]) => `, ${count} of pool ${name}`);
  const pool = flags.pool === undefined ? named.join('') : `, pool ${flags.pool}`;
  const files = data === undefined ? '' : `, files at ${data.join(',')}`;
  io.stdout.write(`skep compactor ready: ${threads} thread(s)${pool}, metastore ${metastore.text}${files}${figures}\n`);
  logger.info(
    { threads, pool: flags.pool, pools, metastore: metastore.text, data, metrics: metrics?.address },
    'ready',
  );
  await ended;
  logger.info({}, 'ending');
  await worker.stop();
}

/** HOST:PORT, or several with commas. */
function dataAddresses(text: string | undefined): readonly [string, ...string[]] | undefined {
  if (text === undefined) return undefined;
  const [first, ...more] = text.split(',').map((address) => address.trim());
  for (const address of [first, ...more]) parseAddress(address);
  return [first, ...more];
}
