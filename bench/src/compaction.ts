import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openHome } from '../../apps/cli/src/home.js';
import { bytesOf, COLUMNS, FULL_ROWS, preparedTable, type Shape, shapesOf } from './compaction-data.js';
import { findOracle } from './hive-metastore.js';
import { textTable, timingOf } from './statistics.js';

const GOAL = 10;
const root = fileURLToPath(new URL('../../../', import.meta.url));
const TYPES = ['minor', 'major'] as const;
type Type = (typeof TYPES)[number];

/** Of one compaction: from when a Worker took the request until its transaction committed; and the processor's time meanwhile. */
interface Measured {
  readonly seconds: number;
  readonly cpuSeconds?: number;
}
type Found = Readonly<Record<Type, Measured[]>>;

/** A table to be compacted. */
interface Table {
  readonly shape: Shape;
  readonly folder: string;
  readonly megabytes: number;
}

/**
 * Minor and major compaction of tables of many deltas and deletes, by our Worker and by Hive's on copies of the same files. Both
 * are timed by the queue's own columns, CQ_START and CQ_COMMIT_TIME, so that neither the wait for a Worker nor a start counts.
 */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '3' },
      rows: { type: 'string', default: String(FULL_ROWS) },
      shape: { type: 'string', multiple: true },
      'no-hive': { type: 'boolean', default: false },
    },
  });
  const rounds = Number(values.rounds);
  const shapes = shapesOf(Number(values.rows)).filter(({ name }) => values.shape?.includes(name) ?? true);
  const tables: Table[] = [];
  for (const shape of shapes) {
    const folder = await preparedTable(join(root, '.cache/bench'), shape);
    tables.push({ shape, folder, megabytes: bytesOf(folder) / 1e6 });
  }
  const work = mkdtempSync(join(tmpdir(), 'skep-bench-compaction-'));
  try {
    const oracle = values['no-hive'] ? undefined : findOracle(root);
    // Ours before and after, so that a change of the machine's load shows.
    const before = await compactHere(join(work, 'before'), tables, rounds);
    const hive = oracle === undefined ? undefined : await compactByHive(oracle, work, tables);
    const after = hive === undefined ? undefined : await compactHere(join(work, 'after'), tables, rounds);
    return report(tables, { before, after, hive });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const nothingYet = (): Found => ({ minor: [], major: [] });

/** By the Worker of a home, each time on a fresh copy; by shape. */
async function compactHere(path: string, tables: readonly Table[], rounds: number): Promise<Found[]> {
  mkdirSync(path, { recursive: true });
  const home = await openHome({ path, hiveconf: { 'hive.compactor.initiator.on': 'false' } });
  const found = tables.map(nothingYet);
  try {
    const session = home.newSession();
    for (let round = 0; round < rounds; round++) {
      for (const [i, { shape, folder }] of tables.entries()) {
        for (const type of TYPES) {
          const name = `${shape.name}_${type}_${round}`;
          await session.execute(
            `create table ${name} (${COLUMNS}) stored as orc tblproperties ('transactional'='true')`,
          );
          cpSync(folder, join(home.warehouse, name), { recursive: true });
          const seedWriteId = BigInt(shape.deltas + shape.deletes);
          await home.services.txns.seedWriteId({ database: 'default', table: name, seedWriteId });
          await session.execute(`alter table ${name} compact '${type}'`);
          const cpu = process.cpuUsage();
          await home.compactor.runWorkerOnce();
          const { user, system } = process.cpuUsage(cpu);
          const { compactions } = await home.services.compactions.showCompactions({ table: name, limit: 0n });
          const [{ startMs, commitTimeMs, errorMessage }] = compactions;
          if (commitTimeMs === undefined) throw new TypeError(`${name} was not compacted: ${errorMessage}`);
          const seconds = Number(commitTimeMs - startMs) / 1000;
          found[i][type].push({ seconds, cpuSeconds: (user + system) / 1e6 });
          rmSync(join(home.warehouse, name), { recursive: true });
          progress(`skep, ${name}`, seconds);
        }
      }
    }
    return found;
  } finally {
    await home.close();
  }
}

/** Three of each type and shape in one start: the first is not warm. */
async function compactByHive(oracle: string, work: string, tables: readonly Table[]): Promise<Found[]> {
  const jobs = [0, 1, 2].flatMap((round) =>
    tables.flatMap((table, i) =>
      TYPES.map((type) => ({ i, table, type, name: `${table.shape.name}_${type}_${round}` })),
    ),
  );
  const lines = jobs.flatMap(({ table: { shape, folder }, type, name }) => [
    `create table ${name} (${COLUMNS}) stored as orc tblproperties ('transactional'='true');`,
    `!adopt ${name} ${folder} ${shape.deltas + shape.deletes}`,
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
  const found = tables.map(nothingYet);
  for (const { i, type, name } of jobs) {
    const row = rows.find((candidate) => candidate.CQ_TABLE === name && candidate.CQ_STATE === 'r');
    if (row === undefined) throw new TypeError(`Hive did not compact ${name}: ${JSON.stringify(steps)} ${tail}`);
    const seconds = (Number(row.CQ_COMMIT_TIME) - Number(row.CQ_START)) / 1000;
    found[i][type].push({ seconds });
    progress(`Hive, ${name}`, seconds);
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

interface AllFound {
  readonly before: readonly Found[];
  readonly after: readonly Found[] | undefined;
  readonly hive: readonly Found[] | undefined;
}

const WHERE: Record<Shape['deleted'], string> = { everywhere: 'in every delta', recent: 'in the last tenth' };

/** Of one start of a program, the first is when its code is loaded and compiled: left out of both sides where there are others. */
const warm = <T>(found: readonly T[]): readonly T[] => (found.length > 1 ? found.slice(1) : found);

/** Medians of warm ones; MB/s are of the bytes that were read. */
function report(tables: readonly Table[], { before, after, hive }: AllFound): number {
  const ratios: number[] = [];
  const rows = tables.flatMap(({ shape, megabytes }, i) =>
    TYPES.map((type) => {
      const all = [...warm(before[i][type]), ...warm(after?.[i][type] ?? [])];
      const ours = timingOf(all.map(({ seconds }) => seconds)).median;
      const cpu = timingOf(all.map(({ cpuSeconds = 0 }) => cpuSeconds)).median;
      const theirs =
        hive === undefined ? undefined : timingOf(warm(hive[i][type]).map(({ seconds }) => seconds)).median;
      if (theirs !== undefined) ratios.push(theirs / ours);
      const speed = (seconds: number | undefined) => (seconds === undefined ? '' : (megabytes / seconds).toFixed(1));
      return [
        `${megabytes.toFixed(0)} MB, deletes ${WHERE[shape.deleted]}, ${type}`,
        ours.toFixed(2),
        cpu.toFixed(2),
        speed(ours),
        theirs?.toFixed(2) ?? '',
        speed(theirs),
        theirs === undefined ? '' : (theirs / ours).toFixed(1),
      ];
    }),
  );
  const head = ['40 deltas, 10 delete deltas', 'skep s', 'CPU s', 'MB/s', 'Hive s', 'MB/s', 'times Hive'];
  process.stdout.write(`${textTable(head, rows)}\n`);
  const missed = ratios.some((ratio) => ratio < GOAL);
  if (missed) process.stdout.write(`goal missed: ${GOAL} times Hive\n`);
  return missed ? 1 : 0;
}
