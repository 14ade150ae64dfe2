import { readFileSync } from 'node:fs';
import { Configuration, readSiteFile } from '@skep/config';
import { systemClock } from '@skep/core';
import type { Environment } from '../configuration.js';
import { UsageError } from '../error-line.js';
import type { CliIo } from '../io.js';

/** Parameters of a process that serves: of files like hive-site.xml, SKEP_CONF_… of the environment, --hiveconf. */
export function servingConfiguration(
  files: readonly string[],
  env: Environment,
  hiveconf: Readonly<Record<string, string>>,
): Configuration {
  const site = files.flatMap((file) => readSiteFile(readText(file, '--config'), file));
  const { conf } = Configuration.load({ site, env });
  for (const [name, value] of Object.entries(hiveconf)) conf.set(name, value);
  return conf;
}

export function readText(file: string, flag: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag}: cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A whole number of at least `least`. */
export function countOf(flag: string, text: string, least: number): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= least && count <= 1024) return count;
  throw new UsageError(`${flag} takes a whole number from ${least} to 1024, not '${text}'`);
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
