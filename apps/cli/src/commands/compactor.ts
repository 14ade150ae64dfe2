import { startCompactorWorker } from '@skep/compactor-worker';
import type { Configuration } from '@skep/config';
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
  readonly threads: string;
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
  const threads = countOf('--threads', flags.threads, 1);
  const data = dataAddresses(flags.data ?? (env.SKEP_DATA || undefined));
  const logger = serviceLogger(io, 'compactor', flags);
  for (const note of notes) logger.warn({}, note);
  const metrics = flags.metrics === undefined ? undefined : await startMetrics(flags.metrics, logger);
  try {
    await serveCompactions(io, { flags, env, conf, metastore, data, threads, logger, metrics });
  } finally {
    await metrics?.close();
  }
}

interface Serving {
  readonly flags: CompactorFlags;
  readonly env: Environment;
  readonly conf: Configuration;
  readonly metastore: MetastoreAddress;
  readonly data: readonly [string, ...string[]] | undefined;
  readonly threads: number;
  readonly logger: Logger;
  readonly metrics: Awaited<ReturnType<typeof startMetrics>> | undefined;
}

async function serveCompactions(io: CliIo, serving: Serving): Promise<void> {
  const { flags, env, conf, metastore, data, threads, logger, metrics } = serving;
  const worker = await reaching(metastore.text, () =>
    startCompactorWorker({
      addresses: metastore.addresses,
      ...(data === undefined ? {} : { data }),
      connect: connectOptions(flags, env),
      conf,
      threads,
      pool: flags.pool ?? '',
      user: userName(env),
      version,
      log: logger,
    }),
  );
  metrics?.watch(worker.figures, conf);
  const ended = asked(io);
  const figures = metrics === undefined ? '' : `, metrics on ${metrics.address}`;
  const pool = flags.pool === undefined ? '' : `, pool ${flags.pool}`;
  const files = data === undefined ? '' : `, files at ${data.join(',')}`;
  io.stdout.write(`skep compactor ready: ${threads} thread(s)${pool}, metastore ${metastore.text}${files}${figures}\n`);
  logger.info({ threads, pool: flags.pool, metastore: metastore.text, data, metrics: metrics?.address }, 'ready');
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
