import { type SimReport, simulate } from './simulate.js';

interface Wanted {
  readonly seeds: readonly number[];
  readonly trace: boolean;
}

function parse(args: readonly string[]): Wanted | undefined {
  let first = 1;
  let count = 50;
  let trace = false;
  for (let i = 0; i < args.length; i++) {
    const value = Number(args[i + 1]);
    if (args[i] === '--trace') trace = true;
    else if (['--seed', '--seeds', '--from'].includes(args[i]) && Number.isSafeInteger(value) && value >= 0) {
      if (args[i] === '--seeds') count = value;
      else first = value;
      if (args[i] === '--seed') count = 1;
      i++;
    } else return undefined;
  }
  return { seeds: Array.from({ length: count }, (_, i) => first + i), trace };
}

export function describe({ seed, violations, lastLines, figures }: SimReport): string {
  const trace = lastLines.map((line) => `    ${line}`).join('\n');
  const list = violations.map((violation) => `  - ${violation}`).join('\n');
  return `seed ${seed} FAILED (${JSON.stringify(figures)})\n${list}\n  the end of its trace (all: npm run sim -- --seed ${seed} --trace):\n${trace}\n`;
}

/** npm run sim -- [--seed N | --seeds COUNT [--from N]] [--trace] */
export async function main(args: readonly string[]): Promise<number> {
  const wanted = parse(args);
  if (wanted === undefined) {
    process.stderr.write('npm run sim -- [--seed N | --seeds COUNT [--from N]] [--trace]\n');
    return 1;
  }
  const startedMs = performance.now();
  const failed: number[] = [];
  const sums: Record<string, number> = {};
  for (const seed of wanted.seeds) {
    const report = await simulate(seed, wanted.trace ? { echo: (line) => void process.stdout.write(`${line}\n`) } : {});
    for (const [name, figure] of Object.entries(report.figures)) sums[name] = (sums[name] ?? 0) + figure;
    if (report.violations.length === 0) continue;
    failed.push(seed);
    process.stdout.write(describe(report));
  }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  process.stdout.write(
    `${wanted.seeds.length} seeds in ${seconds} s, ${failed.length} failed${failed.length > 0 ? `: ${failed.join(' ')}` : ''}; ${JSON.stringify(sums)}\n`,
  );
  return failed.length > 0 ? 1 : 0;
}
