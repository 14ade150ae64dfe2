import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { Configuration, readSiteFile } from '@skep/config';
import { systemClock } from '@skep/core';
import type { CallRecord } from '@skep/rpc';
import type { FigureSource } from '@skep/telemetry';
import { createLogger, type Logger, type LogLevel } from '@skep/telemetry/log';
import { type Environment, systemProperties } from '../configuration.js';
import { UsageError } from '../error-line.js';
import type { CliIo } from '../io.js';
import { serviceLogWriter } from '../log-file.js';

/** Parameters of a process that serves: of files like hive-site.xml, SKEP_CONF_… of the environment, --hiveconf. */
export function servingConfiguration(
  files: readonly string[],
  env: Environment,
  hiveconf: Readonly<Record<string, string>>,
): { readonly conf: Configuration; readonly notes: string[] } {
  const site = files.flatMap((file) => readSiteFile(readText(file, '--config'), file));
  const { conf, notes } = Configuration.load({ site, env, system: systemProperties(env) });
  for (const [name, value] of Object.entries(hiveconf)) notes.push(...conf.set(name, value));
  return { conf, notes };
}

export interface LogFlags {
  readonly logLevel: LogLevel;
  readonly logFile?: string;
}

/** The log of a process that serves. */
export function serviceLogger(io: CliIo, service: string, { logLevel, logFile }: LogFlags): Logger {
  return createLogger({
    level: logLevel,
    write: serviceLogWriter(logFile, io.stderr),
    fields: { service, host: hostname(), pid: process.pid },
    now: () => systemClock.now(),
  });
}

/** Calls that take longer are told of, but those with streams. (A lock that waits is polled: no call waits for it.) */
const SLOW_CALL_MS = 1000;

/** A line about each call, and its figures. */
export function callLogger(logger: Logger, metrics: { onCall(call: CallRecord): void } | undefined) {
  return (call: CallRecord): void => {
    metrics?.onCall(call);
    const { method, code, durationMs, queuedMs, isWait, isStream, user, requestId, peer, error } = call;
    const fields = { method, code, durationMs, queuedMs, user, requestId, peer, error };
    if (code === 'BUG') logger.error(fields, `${method} failed`);
    else if (durationMs >= SLOW_CALL_MS && !isWait && !isStream) logger.warn(fields, `${method} was slow`);
    else if (code !== 'OK') logger.info(fields, `${method} failed`);
    else logger.debug(fields, method);
  };
}

/** Figures over HTTP, of a process that serves. */
export async function startMetrics(address: string, log: Logger) {
  const { callMetrics, Metrics, serveMetrics } = await import('@skep/telemetry');
  const metrics = new Metrics(systemClock);
  const server = await serveMetrics(metrics, address);
  return {
    address: server.address,
    onCall: callMetrics(metrics),
    watch(
      sources: readonly FigureSource[],
      conf: Configuration,
      minAgeMs = conf.getTimeMs('metastore.acidmetrics.check.interval'),
    ) {
      const onFailure = (error: unknown) => log.warn({ error }, 'figures could not be read');
      for (const source of sources) metrics.add(source, minAgeMs, onFailure);
    },
    close: () => server.close(),
  };
}

export function readText(file: string, flag: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag}: cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A whole number from `least` to `most`. */
export function countOf(flag: string, text: string, least: number, most = 1024): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= least && count <= most) return count;
  throw new UsageError(`${flag} takes a whole number from ${least} to ${most}, not '${text}'`);
}

/** A process whose loops all rest would end by itself. */
const A_DAY_MS = 86_400_000;

/** Waits for SIGTERM or SIGINT: the process is to end in order. The second ends it at once. */
export async function asked(io: CliIo): Promise<void> {
  const ended = new AbortController();
  const end = () => {
    if (ended.signal.aborted) process.exit(1);
    ended.abort();
  };
  io.onInterrupt(end);
  process.on('SIGTERM', end);
  while (!ended.signal.aborted) {
    try {
      await systemClock.sleep(A_DAY_MS, ended.signal);
    } catch {
      // Asked to end.
    }
  }
}
