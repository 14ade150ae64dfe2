import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openHome } from '../../apps/cli/src/home.js';
import { bytesOf, COLUMNS, FULL, preparedTable, type Shape } from './compaction-data.js';
import { findOracle } from './hive-metastore.js';
import { textTable, timingOf } from './statistics.js';

const GOAL = 10;
const root = fileURLToPath(new URL('../../../', import.meta.url));
const TYPES = ['minor', 'major'] as const;
type Type = (typeof TYPES)[number];

/** Of one compaction: from when a Worker took the request until its transaction committed. */
type Seconds = Readonly<Record<Type, readonly number[]>>;

/**
 * Minor and major compaction of a table of many deltas and deletes, by our Worker and by Hive's on copies of the same files. Both
 * are timed by the queue's own columns, CQ_START and CQ_COMMIT_TIME, so that neither the wait for a Worker nor a start counts.
 */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '3' },
      rows: { type: 'string', default: String(FULL.rows) },
      'no-hive': { type: 'boolean', default: false },
    },
  });
  const shape = { ...FULL, rows: Number(values.rows) };
  const rounds = Number(values.rounds);
  const table = await preparedTable(join(root, '.cache/bench'), shape);
  const megabytes = bytesOf(table) / 1e6;
  const work = mkdtempSync(join(tmpdir(), 'skep-bench-compaction-'));
  try {
    const oracle = values['no-hive'] ? undefined : findOracle(root);
    // Ours before and after, so that a change of the machine's load shows.
    const before = await compactHere(join(work, 'before'), table, shape, rounds);
    const hive = oracle === undefined ? undefined : await compactByHive(oracle, work, table, shape);
    const after = hive === undefined ? undefined : await compactHere(join(work, 'after'), table, shape, rounds);
    return report(megabytes, shape, { before, after, hive });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** By the Worker of a home, each time on a fresh copy. */
async function compactHere(path: string, table: string, shape: Shape, rounds: number): Promise<Seconds> {
  mkdirSync(path, { recursive: true });
  const home = await openHome({ path, hiveconf: { 'hive.compactor.initiator.on': 'false' } });
  const found: Record<Type, number[]> = { minor: [], major: [] };
  try {
    const session = home.newSession();
    for (let round = 0; round < rounds; round++) {
      for (const type of TYPES) {
        const name = `${type}_${round}`;
        await session.execute(`create table ${name} (${COLUMNS}) stored as orc tblproperties ('transactional'='true')`);
        cpSync(table, join(home.warehouse, name), { recursive: true });
        const seedWriteId = BigInt(shape.deltas + shape.deletes);
        await home.services.txns.seedWriteId({ database: 'default', table: name, seedWriteId });
        await session.execute(`alter table ${name} compact '${type}'`);
        await home.compactor.runWorkerOnce();
        const { compactions } = await home.services.compactions.showCompactions({ table: name, limit: 0n });
        const [{ startMs, commitTimeMs, errorMessage }] = compactions;
        if (commitTimeMs === undefined) throw new TypeError(`${name} was not compacted: ${errorMessage}`);
        found[type].push(Number(commitTimeMs - startMs) / 1000);
        rmSync(join(home.warehouse, name), { recursive: true });
        progress(`skep, ${name}`, found[type].at(-1) ?? 0);
      }
    }
    return found;
  } finally {
    await home.close();
  }
}

/** Two of each type in one start, so that the second of them is warm. */
async function compactByHive(oracle: string, work: string, table: string, shape: Shape): Promise<Seconds> {
  const names = [0, 1].flatMap((round) => TYPES.map((type) => ({ type, name: `${type}_${round}` })));
  const lines = names.flatMap(({ type, name }) => [
    `create table ${name} (${COLUMNS}) stored as orc tblproperties ('transactional'='true');`,
    `!adopt ${name} ${table} ${shape.deltas + shape.deletes}`,
    `alter table ${name} compact '${type}';`,
    '!worker',
  ]);
  lines.push('!sql-metastore select CQ_TABLE, CQ_STATE, CQ_START, CQ_COMMIT_TIME from COMPACTION_QUEUE');
  const script = join(work, 'compaction.sql');
  writeFileSync(script, `${lines.join('\n')}\n`);
  // Hive's client looks whether its job is done every 5 s: that is not what is to be compared.
  const poll = '-Dconf.mapreduce.client.completion.pollinterval=20';
  const tail = await run(join(oracle, 'run.sh'), [poll, join(work, 'hive'), join(work, 'out'), script]);
  const steps = JSON.parse(readFileSync(join(work, 'out/compaction.json'), 'utf8'));
  const rows: readonly Record<string, string>[] = steps.at(-1).rows ?? [];
  const found: Record<Type, number[]> = { minor: [], major: [] };
  for (const { type, name } of names) {
    const row = rows.find((candidate) => candidate.CQ_TABLE === name && candidate.CQ_STATE === 'r');
    if (row === undefined) throw new TypeError(`Hive did not compact ${name}: ${JSON.stringify(steps)} ${tail}`);
    found[type].push((Number(row.CQ_COMMIT_TIME) - Number(row.CQ_START)) / 1000);
    progress(`Hive, ${name}`, found[type].at(-1) ?? 0);
  }
  return found;
}

function run(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let tail = '';
  child.stderr.on('data', (chunk) => {
    tail = (tail + String(chunk)).slice(-2000);
  });
  return new Promise((resolve) => {
    child.on('close', () => resolve(tail));
  });
}

function progress(what: string, seconds: number): void {
  process.stderr.write(`  ${what}: ${seconds.toFixed(2)} s (load ${loadavg()[0].toFixed(1)})\n`);
}

interface Found {
  readonly before: Seconds;
  readonly after: Seconds | undefined;
  readonly hive: Seconds | undefined;
}

function report(megabytes: number, shape: Shape, { before, after, hive }: Found): number {
  const ratios: number[] = [];
  const rows = TYPES.map((type) => {
    const ours = timingOf([...before[type], ...(after?.[type] ?? [])]).median;
    const theirs = hive === undefined ? undefined : Math.min(...hive[type]);
    if (theirs !== undefined) ratios.push(theirs / ours);
    const speed = (seconds: number | undefined) => (seconds === undefined ? '' : (megabytes / seconds).toFixed(1));
    return [
      type,
      ours.toFixed(2),
      speed(ours),
      theirs?.toFixed(2) ?? '',
      speed(theirs),
      ratios.at(-1)?.toFixed(1) ?? '',
    ];
  });
  const what = `${megabytes.toFixed(0)} MB, ${shape.rows} rows, ${shape.deltas} deltas, ${shape.deletes} delete deltas`;
  const head = [what, 'skep s (median)', 'MB/s', 'Hive s (best)', 'MB/s', 'times Hive'];
  process.stdout.write(`${textTable(head, rows)}\n`);
  const missed = ratios.some((ratio) => ratio < GOAL);
  if (missed) process.stdout.write(`goal missed: ${GOAL} times Hive\n`);
  return missed ? 1 : 0;
}
