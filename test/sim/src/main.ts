import { openDatabase } from '@skep/metadb';
import { startMariadb } from '../../../packages/metadb/test/mariadb-server.js';
import { SABOTAGES, type Sabotage } from './sabotage.js';
import { type SimReport, simulate } from './simulate.js';

interface Wanted {
  readonly seeds: readonly number[];
  readonly trace: boolean;
  readonly sabotage: Sabotage | undefined;
  readonly onMariadb: boolean;
}

const USAGE = `npm run sim -- [--seed N | --seeds COUNT [--from N]] [--trace] [--db sqlite|mariadb] [--sabotage NAME]
NAME: ${Object.keys(SABOTAGES).join(' | ')}
`;

function parse(args: readonly string[]): Wanted | undefined {
  let first = 1;
  let count = 50;
  let trace = false;
  let sabotage: Sabotage | undefined;
  let onMariadb = false;
  for (let i = 0; i < args.length; i++) {
    const value = Number(args[i + 1]);
    if (args[i] === '--trace') trace = true;
    else if (args[i] === '--db' && ['sqlite', 'mariadb'].includes(args[i + 1])) onMariadb = args[++i] === 'mariadb';
    else if (args[i] === '--sabotage' && args[i + 1] in SABOTAGES) sabotage = SABOTAGES[args[++i]];
    else if (['--seed', '--seeds', '--from'].includes(args[i]) && Number.isSafeInteger(value) && value >= 0) {
      if (args[i] === '--seeds') count = value;
      else first = value;
      if (args[i] === '--seed') count = 1;
      i++;
    } else return undefined;
  }
  return { seeds: Array.from({ length: count }, (_, i) => first + i), trace, sabotage, onMariadb };
}

export function describe({ seed, violations, lastLines, figures }: SimReport): string {
  const trace = lastLines.map((line) => `    ${line}`).join('\n');
  const list = violations.map((violation) => `  - ${violation}`).join('\n');
  return `seed ${seed} FAILED (${JSON.stringify(figures)})\n${list}\n  the end of its trace (all: npm run sim -- --seed ${seed} --trace):\n${trace}\n`;
}

/** npm run sim. `--sabotage`: with a broken rule, which is to be noticed. */
export async function main(args: readonly string[]): Promise<number> {
  const wanted = parse(args);
  if (wanted === undefined) {
    process.stderr.write(USAGE);
    return 1;
  }
  if (!wanted.onMariadb) return await runSeeds(wanted, (seed, options) => simulate(seed, options));
  const server = await startMariadb();
  try {
    return await runSeeds(wanted, async (seed, options) => {
      const dbUrl = `${server.url}/sim_${seed}`;
      const report = await simulate(seed, { ...options, dbUrl });
      const database = await openDatabase({ url: dbUrl });
      await database.transaction((tx) => tx.run(`DROP DATABASE sim_${seed}`));
      await database.close();
      return report;
    });
  } finally {
    await server.stop();
  }
}

/** So often it is said how far it is. */
const TELL_EVERY_MS = 60_000;

async function runSeeds(wanted: Wanted, run: typeof simulate): Promise<number> {
  const startedMs = performance.now();
  let toldMs = startedMs;
  const failed: number[] = [];
  const sums: Record<string, number> = {};
  for (const [done, seed] of wanted.seeds.entries()) {
    const echo = (line: string) => void process.stdout.write(`${line}\n`);
    const report = await run(seed, { sabotage: wanted.sabotage, ...(wanted.trace ? { echo } : {}) });
    for (const [name, figure] of Object.entries(report.figures)) sums[name] = (sums[name] ?? 0) + figure;
    if (performance.now() > toldMs + TELL_EVERY_MS) {
      toldMs = performance.now();
      process.stderr.write(`${done + 1} of ${wanted.seeds.length} seeds, ${failed.length} failed\n`);
    }
    if (report.violations.length === 0) continue;
    failed.push(seed);
    process.stdout.write(describe(report));
    if (wanted.onMariadb) continue;
    const again = await run(seed, { sabotage: wanted.sabotage });
    const isSame = again.digest === report.digest;
    process.stdout.write(
      `  seed ${seed} once more: ${isSame ? 'the same' : 'ANOTHER TRACE: something goes by real time or chance'}\n`,
    );
  }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  process.stdout.write(
    `${wanted.seeds.length} seeds in ${seconds} s, ${failed.length} failed${failed.length > 0 ? `: ${failed.join(' ')}` : ''}; ${JSON.stringify(sums)}\n`,
  );
  return failed.length > 0 ? 1 : 0;
}
