import { systemClock } from '@skep/core';
import { type RunningData, serveData } from '@skep/data';
import type { CallRecord } from '@skep/rpc';
import { localFileSystem } from '@skep/storage';
import { createLogger, type LogLevel } from '@skep/telemetry';
import { UsageError } from '../error-line.js';
import { openHome } from '../home.js';
import type { CliIo } from '../io.js';
import { metastoreAddresses } from '../metastore-address.js';
import { openRemoteHome } from '../remote-home.js';
import { type ClientFlags, connectOptions, quietGrpc, withUser } from './client-flags.js';
import { type ServeFlags, serveOptions } from './serve-options.js';
import { asked, countOf, readText, servingConfiguration } from './serving.js';

export interface DataFlags extends ClientFlags, ServeFlags {
  readonly home?: string;
  readonly advertise?: readonly string[];
  readonly ticketKey?: string;
  readonly ticketMinutes: string;
  readonly logLevel: LogLevel;
  readonly config?: readonly string[];
  readonly hiveconf?: Readonly<Record<string, string>>;
}

const MINUTE_MS = 60_000;
const LEAST_KEY_BYTES = 16;

/** `skep data`: Arrow Flight until it is asked to end. */
export async function runData(io: CliIo, flags: DataFlags): Promise<void> {
  quietGrpc();
  const env = withUser(io.env, flags.user);
  const logger = createLogger({
    level: flags.logLevel,
    write: (line) => io.stderr.write(line),
    fields: { service: 'data', pid: process.pid },
    now: () => systemClock.now(),
  });
  const log = (message: string) => logger.warn({}, message);
  const ticketMs = countOf('--ticket-minutes', flags.ticketMinutes, 1) * MINUTE_MS;
  const advertise = (flags.advertise ?? []).map(checkedLocation);
  const key = flags.ticketKey === undefined ? undefined : keyOf(flags.ticketKey);
  const { services, conf, where, close } = await openTables(flags, env, log);
  let running: RunningData;
  try {
    running = await serveData({
      services,
      conf,
      serve: { ...serveOptions(flags, conf.entries()), onCall: callLogger(logger) },
      ticketMs,
      advertise,
      ...(key === undefined ? {} : { ticketKey: key }),
      log,
    });
  } catch (error) {
    await close();
    throw error;
  }
  const ended = asked(io);
  io.stdout.write(`skep data ready on ${running.address}: ${where}\n`);
  logger.info({ address: running.address, where }, 'ready');
  await ended;
  logger.info({}, 'ending');
  await running.close();
  await close();
}

/** The metastore that is named, or the embedded home. */
async function openTables(flags: DataFlags, env: CliIo['env'], log: (message: string) => void) {
  const conf = servingConfiguration(flags.config ?? [], env, flags.hiveconf ?? {});
  const metastore = flags.home === undefined ? metastoreAddresses(flags.metastore, env, conf) : undefined;
  if (metastore === undefined) {
    const path = flags.home === undefined ? {} : { path: flags.home };
    const hiveconf = flags.hiveconf ?? {};
    const home = await openHome({ ...path, env, hiveconf, backgroundCompaction: true, log, notice: log });
    return { services: home.services, conf: home.conf, where: `home ${home.path}`, close: () => home.close() };
  }
  const connect = connectOptions(flags, env);
  const fs = localFileSystem();
  const remote = await openRemoteHome({ metastore, connect, conf, fs, hivevar: {}, env, notice: log });
  return { services: remote.services, conf, where: `metastore ${metastore.text}`, close: () => remote.close() };
}

function callLogger(logger: ReturnType<typeof createLogger>) {
  return ({ method, code, durationMs, user, requestId, peer, error }: CallRecord) => {
    const fields = { method, code, durationMs, user, requestId, peer, error };
    if (code === 'BUG') logger.error(fields, `${method} failed`);
    else logger.debug(fields, method);
  };
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
