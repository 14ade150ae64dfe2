// npm run nightly [-- --seeds 1000 --from N --mariadb-seeds 50 --seconds 60 --files 100000 --only sim,chaos,fuzz]: what takes too long for CI.
// The first seeds are the day's when not said, so that each night tries others. All parts run, then a summary; ends with 1 if one
// of them failed. The log of each part is kept and named.
import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasMariadb } from './has-mariadb.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LOGS = join(ROOT, 'node_modules/.cache/skep/nightly');
const DAY_MS = 86_400_000;
const NUMBERS = { '--seeds': 1000, '--from': undefined, '--mariadb-seeds': 50, '--seconds': 60, '--files': 100_000 };
const USAGE = `npm run nightly -- ${Object.keys(NUMBERS)
  .map((name) => `[${name} N]`)
  .join(' ')} [--only sim,chaos,fuzz]\n`;

function parse(args) {
  const numbers = { ...NUMBERS };
  let only = ['sim', 'chaos', 'fuzz'];
  for (let i = 0; i < args.length; i += 2) {
    const [name, value = ''] = args.slice(i, i + 2);
    if (name === '--only' && value.split(',').every((part) => only.includes(part))) only = value.split(',');
    else if (name in NUMBERS && /^\d+$/.test(value)) numbers[name] = Number(value);
    else return undefined;
  }
  return { numbers, only };
}

function partsOf({ numbers, only }) {
  const day = Math.floor(Date.now() / DAY_MS) % 20_000;
  const seeds = numbers['--seeds'];
  // Nights overlap only where somebody asks for more than 10,000 seeds.
  const from = numbers['--from'] ?? 1_000_000 + day * 10_000;
  const part = (of, name, script, args, needsMariadb = false) => ({
    of,
    name,
    script,
    args: args.map(String),
    needsMariadb,
  });
  const parts = [
    part('sim', `simulation, seeds ${from} to ${from + seeds - 1}`, 'test/sim/run.mjs', [
      '--seeds',
      seeds,
      '--from',
      from,
    ]),
    part(
      'sim',
      `simulation on MariaDB, ${numbers['--mariadb-seeds']} seeds from ${from}`,
      'test/sim/run.mjs',
      ['--db', 'mariadb', '--seeds', numbers['--mariadb-seeds'], '--from', from],
      true,
    ),
    ...['sqlite', 'mariadb'].map((db) =>
      part(
        'chaos',
        `chaos on ${db}, ${numbers['--seconds']} s`,
        'test/chaos/run.mjs',
        ['--seconds', numbers['--seconds'], '--db', db, '--seed', from % 1_000_000],
        db === 'mariadb',
      ),
    ),
    part('fuzz', `${numbers['--files']} damaged ORC files`, 'scripts/fuzz-orc.mjs', [numbers['--files']]),
  ];
  return parts.filter(({ of }) => only.includes(of));
}

/** Runs it; what it prints goes to the terminal and into its log. */
async function run({ name, script, args }, number) {
  const log = join(LOGS, `${number}-${script.replace(/\W+/g, '-')}.log`);
  const file = createWriteStream(log);
  process.stdout.write(`\n=== ${name}: node ${script} ${args.join(' ')}\n`);
  const child = spawn(process.execPath, [join(ROOT, script), ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      process.stdout.write(chunk);
      file.write(chunk);
    });
  }
  const end = await new Promise((resolve) => {
    child.on('error', (error) => resolve(String(error)));
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  await new Promise((resolve) => file.end(resolve));
  return { isGood: end === 0, what: end === 0 ? 'passed' : `FAILED (${end}), see ${log}` };
}

async function main() {
  const wanted = parse(process.argv.slice(2));
  if (wanted === undefined) {
    process.stderr.write(USAGE);
    return 1;
  }
  mkdirSync(LOGS, { recursive: true });
  const lines = [];
  let isGood = true;
  for (const [number, part] of partsOf(wanted).entries()) {
    const startedMs = Date.now();
    const isSkipped = part.needsMariadb && !hasMariadb();
    const end = isSkipped ? { isGood: true, what: 'SKIPPED: MariaDB is not installed' } : await run(part, number + 1);
    isGood &&= end.isGood;
    lines.push(`${String(Math.round((Date.now() - startedMs) / 1000)).padStart(6)} s  ${part.name}: ${end.what}`);
  }
  process.stdout.write(`\n${lines.join('\n')}\n${isGood ? 'the night was quiet' : 'FAILED'}\n`);
  return isGood ? 0 : 1;
}

process.exitCode = await main();
