import { startCompactorWorker } from '@skep/compactor-worker';
import { systemClock } from '@skep/core';
import { createLogger, type LogLevel } from '@skep/telemetry';
import { userName } from '../configuration.js';
import { UsageError } from '../error-line.js';
import type { CliIo } from '../io.js';
import { metastoreAddresses, reaching } from '../metastore-address.js';
import { version } from '../version.js';
import { type ClientFlags, connectOptions, quietGrpc, withUser } from './client-flags.js';
import { asked, countOf, servingConfiguration } from './serving.js';

export interface CompactorFlags extends ClientFlags {
  readonly threads: string;
  readonly pool?: string;
  readonly logLevel: LogLevel;
  readonly config?: readonly string[];
  readonly hiveconf?: Readonly<Record<string, string>>;
}

/** `skep compactor`: carries out compactions until it is asked to end. */
export async function runCompactor(io: CliIo, flags: CompactorFlags): Promise<void> {
  quietGrpc();
  const env = withUser(io.env, flags.user);
  const conf = servingConfiguration(flags.config ?? [], env, flags.hiveconf ?? {});
  const metastore = metastoreAddresses(flags.metastore, env, conf);
  if (metastore === undefined)
    throw new UsageError('--metastore HOST:PORT (or SKEP_METASTORE) says whose requests to carry out');
  const threads = countOf('--threads', flags.threads, 1);
  const logger = createLogger({
    level: flags.logLevel,
    write: (line) => io.stderr.write(line),
    fields: { service: 'compactor', pid: process.pid },
    now: () => systemClock.now(),
  });
  const worker = await reaching(metastore.text, () =>
    startCompactorWorker({
      addresses: metastore.addresses,
      connect: connectOptions(flags, env),
      conf,
      threads,
      pool: flags.pool ?? '',
      user: userName(env),
      version,
      log: (message) => logger.warn({}, message),
    }),
  );
  const ended = asked(io);
  const pool = flags.pool === undefined ? '' : `, pool ${flags.pool}`;
  io.stdout.write(`skep compactor ready: ${threads} thread(s)${pool}, metastore ${metastore.text}\n`);
  logger.info({ threads, pool: flags.pool, metastore: metastore.text }, 'ready');
  await ended;
  logger.info({}, 'ending');
  await worker.stop();
}
