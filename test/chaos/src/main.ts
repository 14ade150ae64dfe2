import { systemClock } from '@skep/core';
import { startMariadb } from '../../../packages/metadb/test/mariadb-server.js';
import { type ChaosReport, chaos } from './chaos.js';
import { newDatabase } from './new-database.js';

/** On a busy machine it takes longer until so many transfers were made, within bounds. */
const AT_LEAST = 20;
const USAGE =
  'npm run chaos -- [--seconds 60] [--db sqlite|mariadb] [--clients 8] [--seed N] (odd: a table with partitions)\n';

/** npm run chaos */
export async function main(bundle: string, args: readonly string[]): Promise<number> {
  const given = new Map<string, string>();
  for (let i = 0; i < args.length; i += 2) given.set(args[i], args[i + 1] ?? '');
  const number = (name: string, otherwise: number) => Number(given.get(name) ?? otherwise);
  const [seconds, clients, seed] = [
    number('--seconds', 60),
    number('--clients', 8),
    number('--seed', systemClock.now() % 1_000_000),
  ];
  const db = given.get('--db') ?? 'sqlite';
  const isKnown = [...given.keys()].every((name) => ['--seconds', '--db', '--clients', '--seed'].includes(name));
  if (
    !isKnown ||
    !['sqlite', 'mariadb'].includes(db) ||
    ![seconds, clients, seed].every((n) => Number.isFinite(n) && n >= 0)
  ) {
    process.stderr.write(USAGE);
    return 1;
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const log = (line: string) => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
  const options = { bundle, seconds, clients, seed, log, isPartitioned: seed % 2 === 1, atLeast: AT_LEAST };
  const report = db === 'sqlite' ? await chaos(options) : await onMariadb((dbUrl) => chaos({ ...options, dbUrl }));
  process.stdout.write(`${db}, seed ${seed}: ${JSON.stringify(report.figures, undefined, 1)}\n`);
  for (const problem of report.problems) process.stdout.write(`PROBLEM ${problem}\n`);
  process.stdout.write(report.problems.length === 0 ? 'the sum never changed\n' : 'FAILED\n');
  return report.problems.length === 0 ? 0 : 1;
}

async function onMariadb(run: (url: string) => Promise<ChaosReport>): Promise<ChaosReport> {
  const server = await startMariadb({ flush: 1 });
  try {
    return await run(await newDatabase(server.url, 'chaos'));
  } finally {
    await server.stop();
  }
}
