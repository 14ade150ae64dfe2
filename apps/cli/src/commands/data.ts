import { systemClock } from '@skep/core';
import { type RunningData, serveData } from '@skep/data';
import { whenThere } from '@skep/metastore';
import { localFileSystem } from '@skep/storage';
import type { Logger } from '@skep/telemetry/log';
import { UsageError } from '../error-line.js';
import { openHome } from '../home.js';
import type { CliIo } from '../io.js';
import { metastoreAddresses } from '../metastore-address.js';
import { openRemoteHome } from '../remote-home.js';
import { type ClientFlags, connectOptions, quietGrpc, withUser } from './client-flags.js';
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

export interface DataFlags extends ClientFlags, ServeFlags, LogFlags {
  readonly home?: string;
  readonly advertise?: readonly string[];
  readonly ticketKey?: string;
  readonly ticketMinutes: string;
  readonly maxHeld: string;
  readonly compactions: string;
  readonly streamMemory?: string;
  readonly metrics?: string;
  readonly config?: readonly string[];
  readonly hiveconf?: Readonly<Record<string, string>>;
}

const MINUTE_MS = 60_000;
const LEAST_KEY_BYTES = 16;
/** Each is an open transaction of the metastore, with its heartbeats. */
const MOST_HELD = 100_000;
const MIB = 1 << 20;
const MOST_MIB = 1 << 20;

/** `skep data`: Arrow Flight until it is asked to end. */
export async function runData(io: CliIo, flags: DataFlags): Promise<void> {
  quietGrpc();
  checkServeFlags(flags);
  const env = withUser(io.env, flags.user);
  const logger = serviceLogger(io, 'data', flags);
  const ticketMs = countOf('--ticket-minutes', flags.ticketMinutes, 1) * MINUTE_MS;
  const compactions = countOf('--compactions', flags.compactions, 0);
  const maxHeld = countOf('--max-held', flags.maxHeld, 1, MOST_HELD);
  const streamBytes =
    flags.streamMemory === undefined ? undefined : countOf('--stream-memory', flags.streamMemory, 16, MOST_MIB) * MIB;
  const advertise = (flags.advertise ?? []).map(checkedLocation);
  const key = flags.ticketKey === undefined ? undefined : keyOf(flags.ticketKey);
  const { services, conf, where, close } = await openTables(flags, env, logger);
  const metrics = flags.metrics === undefined ? undefined : await startMetrics(flags.metrics, logger);
  let running: RunningData;
  try {
    running = await serveData({
      services,
      conf,
      serve: { ...serveOptions(flags, conf.entries()), onCall: callLogger(logger, metrics) },
      ticketMs,
      maxHeld,
      compactions,
      ...(streamBytes === undefined ? {} : { streamBytes }),
      advertise,
      ...(key === undefined ? {} : { ticketKey: key }),
      log: logger,
    });
  } catch (error) {
    await metrics?.close();
    await close();
    throw error;
  }
  // Figures from memory: each scrape is new.
  metrics?.watch(running.figures, conf, 0);
  const figures = metrics === undefined ? '' : `, metrics on ${metrics.address}`;
  const ended = asked(io);
  io.stdout.write(`skep data ready on ${running.address}: ${where}${figures}\n`);
  logger.info({ address: running.address, where, metrics: metrics?.address }, 'ready');
  await ended;
  logger.info({}, 'ending');
  await running.close();
  await metrics?.close();
  await close();
}

/** The metastore that is named, or the embedded home. */
async function openTables(flags: DataFlags, env: CliIo['env'], log: Logger) {
  const notice = (message: string) => log.warn({}, message);
  const { conf, notes } = servingConfiguration(flags.config ?? [], env, flags.hiveconf ?? {});
  const metastore = flags.home === undefined ? metastoreAddresses(flags.metastore, env, conf) : undefined;
  for (const note of notes) notice(note);
  if (metastore === undefined) {
    const path = flags.home === undefined ? {} : { path: flags.home };
    const hiveconf = flags.hiveconf ?? {};
    const home = await openHome({ ...path, env, hiveconf, backgroundCompaction: true, log, notice });
    return { services: home.services, conf: home.conf, where: `home ${home.path}`, close: () => home.close() };
  }
  const connect = connectOptions(flags, env);
  const fs = localFileSystem();
  const remote = await openRemoteHome({
    ...{ metastore, connect, conf, fs, hivevar: {}, env, notice },
    first: (ask) => whenThere(ask, { clock: systemClock, log }),
  });
  return { services: remote.services, conf, where: `metastore ${metastore.text}`, close: () => remote.close() };
}

function checkedLocation(uri: string): string {
  if (/^grpc(\+tls|\+tcp)?:\/\/[^/]+$/.test(uri)) return uri;
  throw new UsageError(`--advertise takes grpc://HOST:PORT or grpc+tls://HOST:PORT, not '${uri}'`);
}

/** The file's text without the line's end. */
function keyOf(file: string): Buffer {
  const key = Buffer.from(readText(file, '--ticket-key').replace(/\r?\n$/, ''));
  if (key.length >= LEAST_KEY_BYTES) return key;
  throw new UsageError(
    `--ticket-key ${file}: a key has at least ${LEAST_KEY_BYTES} characters, this has ${key.length}`,
  );
}
