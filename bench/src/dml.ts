import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openHome } from '../../apps/cli/src/home.js';
import { type Timing, textTable, timingOf } from './statistics.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** What the issue asks for and what was recorded of others on such a machine, in milliseconds. */
const REFERENCE: Readonly<Record<string, { goal: string; hive: string; trino: string }>> = {
  INSERT: { goal: '50', hive: '2100-3700', trino: '930' },
  UPDATE: { goal: '50', hive: '2100-3700', trino: '930' },
  DELETE: { goal: '50', hive: '2100-3700', trino: '930' },
  SELECT: { goal: '50', hive: '300', trino: '430' },
  'cold start': { goal: '1000', hive: '', trino: '' },
};

/** Warm single-row statements of one session on a small table, and `skep -e "select 1"` from a cold start. */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: 'string' }, starts: { type: 'string' }, oracle: { type: 'boolean' } },
  });
  const timings = await warmStatements(Number(values.rounds ?? 30));
  const starts = Number(values.starts ?? 5);
  if (starts > 0) timings.set('cold start', coldStarts(starts));
  const measuredHive = values.oracle ? hiveStatements() : undefined;
  const rows = [...timings].map(([name, timing]) => [
    name,
    timing.median.toFixed(1),
    timing.p90.toFixed(1),
    REFERENCE[name].goal,
    measuredHive?.get(name)?.toFixed(0) ?? REFERENCE[name].hive,
    REFERENCE[name].trino,
  ]);
  const hive = measuredHive === undefined ? 'Hive 4.0.1 (recorded)' : 'Hive 4.0.1 (this run)';
  process.stdout.write(`${textTable(['ms', 'median', 'p90', 'goal', hive, 'Trino 476 (recorded)'], rows)}\n`);
  return 0;
}

async function warmStatements(rounds: number): Promise<Map<string, Timing>> {
  const path = mkdtempSync(join(tmpdir(), 'skep-bench-'));
  const home = await openHome({ path, backgroundCompaction: true });
  const session = home.newSession();
  const run = async (statement: string): Promise<number> => {
    const start = performance.now();
    const { batches } = await session.execute(statement);
    if (batches !== undefined) for await (const _ of batches);
    return performance.now() - start;
  };
  try {
    await run("create table t (id int, v string, n int) stored as orc tblproperties ('transactional'='true')");
    await run("insert into t values (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)");
    const times: Record<string, number[]> = { INSERT: [], UPDATE: [], DELETE: [], SELECT: [] };
    const warmUp = 5;
    for (let i = 0; i < rounds + warmUp; i++) {
      const measured = {
        INSERT: await run(`insert into t values (${100 + i}, 'new', 0)`),
        UPDATE: await run(`update t set n = n + 1 where id = ${1 + (i % 3)}`),
        DELETE: await run(`delete from t where id = ${100 + i}`),
        SELECT: await run('select * from t order by id'),
      };
      if (i >= warmUp) for (const [name, time] of Object.entries(measured)) times[name].push(time);
      // A table of many deltas is another benchmark.
      if (i % 10 === 9) await run("alter table t compact 'major' and wait");
    }
    return new Map(Object.entries(times).map(([name, list]) => [name, timingOf(list)]));
  } finally {
    await home.close();
    rmSync(path, { recursive: true, force: true });
  }
}

function coldStarts(count: number): Timing {
  const skep = join(root, 'apps/cli/bin/skep.mjs');
  if (!existsSync(join(root, 'apps/cli/dist/main.js')))
    process.stderr.write('no build: run npm run build for the cold start\n');
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const home = mkdtempSync(join(tmpdir(), 'skep-bench-'));
    const env = { ...process.env, SKEP_HOME: home };
    const start = performance.now();
    const { status, stdout, stderr } = spawnSync(process.execPath, [skep, '-e', 'select 1'], { env, encoding: 'utf8' });
    times.push(performance.now() - start);
    rmSync(home, { recursive: true, force: true });
    if (status !== 0 || stdout !== '1\n') process.stderr.write(`select 1 answered '${stdout}' ${stderr}\n`);
  }
  return timingOf(times);
}

/** The same statements on the real Hive, timed by the times that its transactions and statements leave in the log of this run. */
function hiveStatements(): Map<string, number> | undefined {
  const work = mkdtempSync(join(tmpdir(), 'skep-bench-hive-'));
  try {
    const medians = new Map<string, number>();
    const base = oracleSeconds(work, 'base', statements('', 0));
    const count = 5;
    for (const [name, statement] of HIVE_STATEMENTS) {
      const seconds = oracleSeconds(work, name.toLowerCase(), statements(statement, count));
      if (base === undefined || seconds === undefined) return undefined;
      medians.set(name, ((seconds - base) * 1000) / count);
    }
    return medians;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const HIVE_STATEMENTS: readonly (readonly [string, string])[] = [
  ['INSERT', "insert into t values (100, 'new', 0);"],
  ['UPDATE', 'update t set n = n + 1 where id = 1;'],
  ['DELETE', 'delete from t where id = 3;'],
  ['SELECT', 'select * from t;'],
];

const statements = (repeated: string, count: number): string =>
  [
    "create table t (id int, v string, n int) stored as orc tblproperties ('transactional'='true');",
    "insert into t values (1, 'a', 1), (2, 'b', 2), (3, 'c', 3);",
    ...Array.from({ length: count }, () => repeated),
    '',
  ].join('\n');

/** Seconds of a whole run of the oracle; runs differ only in the statements, so their difference is the statements' time. */
function oracleSeconds(work: string, name: string, script: string): number | undefined {
  mkdirSync(work, { recursive: true });
  const file = join(work, `bench_${name}.sql`);
  writeFileSync(file, script);
  const start = performance.now();
  const oracle = join(root, 'test/interop/oracle/run.sh');
  const { status, stderr } = spawnSync(oracle, [join(work, `home-${name}`), join(work, 'out'), file], {
    encoding: 'utf8',
  });
  const seconds = (performance.now() - start) / 1000;
  if (status !== 0) {
    process.stderr.write(`the oracle did not run: ${stderr.slice(-500)}\n`);
    return undefined;
  }
  const failed = /"error"/.test(readFileSync(join(work, 'out', `bench_${name}.json`), 'utf8'));
  if (failed) process.stderr.write(`Hive failed in bench_${name}\n`);
  return seconds;
}
