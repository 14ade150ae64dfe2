import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { formatRow, parseTypeName, type Session } from '@skep/sql';
import { openHome } from '../../apps/cli/src/home.js';
import {
  answerOf,
  FULL,
  NO_INITIATOR,
  preparedHome,
  type Shape,
  TABLES,
  type TableName,
} from './merge-on-read-data.js';
import { textTable, timingOf } from './statistics.js';

const GOAL = { ratio: 1.5, peakMb: 600 };
const root = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * A query over a table of many deltas and deletes, and over the same rows after a major compaction: times in turns, in one process,
 * and the peak memory (resident set) of a process that does nothing else.
 */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { rounds: { type: 'string' }, rows: { type: 'string' } } });
  const shape = values.rows === undefined ? FULL : scaled(FULL, Number(values.rows));
  const path = await preparedHome(`${root}.cache/bench`, shape);
  const peaks = TABLES.map((table) => measureAlone(path, table));
  const times = await measureInTurns(path, Number(values.rounds ?? 25));
  const rows = TABLES.map((table, i) => {
    const wall = times[table].map(({ ms }) => ms);
    return [
      table === 'deltas' ? `${shape.deltas} deltas, ${shape.deletes} delete deltas` : 'after a major compaction',
      timingOf(wall).median.toFixed(0),
      Math.min(...wall).toFixed(0),
      timingOf(times[table].map(({ cpuMs }) => cpuMs)).median.toFixed(0),
      peaks[i].ms.toFixed(0),
      peaks[i].peakMb.toFixed(0),
    ];
  });
  const head = [
    `${answerOf('deltas')}, ${shape.rows} rows, ${shape.deletedRows} deleted`,
    'median ms',
    'best ms',
    'CPU ms',
    'first ms',
    'peak MB',
  ];
  process.stdout.write(`${textTable(head, rows)}\n\n${await lookups(path, shape)}\n\n`);
  const ratioOf = (figure: keyof Measured): number =>
    timingOf(times.deltas.map((measured, i) => measured[figure] / times.compacted[i][figure])).median;
  const ratio = ratioOf('ms');
  const memory = peaks.map(({ peakMb }) => peakMb);
  process.stdout.write(
    `ratio ${ratio.toFixed(2)} (median of ${times.deltas.length} pairs; goal: at most ${GOAL.ratio}), of CPU time ${ratioOf('cpuMs').toFixed(2)}, ` +
      `peak ${Math.max(...memory).toFixed(0)} MB (goal: below ${GOAL.peakMb})\n`,
  );
  return ratio <= GOAL.ratio && Math.max(...memory) < GOAL.peakMb ? 0 : 1;
}

/**
 * The share of a table's bytes that a point lookup reads: by id, which ascends in each delta, and by v, which does not but has a bloom
 * filter of the default rate: 1.2 bytes of the 45 that a row takes.
 */
async function lookups(path: string, { rows }: Shape): Promise<string> {
  const home = await openHome({ path, hiveconf: NO_INITIATOR });
  const session = home.newSession();
  const lines: string[][] = [];
  try {
    for (const condition of [`id = ${Math.floor(rows / 3)}`, `v = 'row ${Math.floor(rows / 3)}'`]) {
      for (const table of TABLES) {
        const plan = await answer(session, `explain analyze select * from ${table} where ${condition}`);
        const bytes = Number(/ (\d+) bytes, /.exec(plan)?.[1]);
        const share = (100 * bytes) / folderBytes(join(path, 'warehouse', table));
        lines.push([`${table}: ${condition}`, bytes.toLocaleString('en'), share.toFixed(2)]);
      }
    }
  } finally {
    await home.close();
  }
  return textTable(['point lookup', 'bytes read', '% of the table'], lines);
}

const folderBytes = (dir: string): number =>
  readdirSync(dir, { withFileTypes: true }).reduce(
    (sum, entry) =>
      sum + (entry.isDirectory() ? folderBytes(join(dir, entry.name)) : statSync(join(dir, entry.name)).size),
    0,
  );

const scaled = (shape: Shape, rows: number): Shape => ({ ...shape, rows, deletedRows: rows / 10 });

async function answer(session: Session, statement: string): Promise<string> {
  const { columns = [], batches } = await session.execute(statement);
  const types = columns.map(({ type }) => parseTypeName(type));
  const lines: string[] = [];
  if (batches !== undefined) {
    for await (const batch of batches) {
      for (let row = 0; row < batch.length; row++) lines.push(formatRow(types, batch, row));
    }
  }
  return lines.join('\n');
}

/** CPU time is what stays the same on a busy machine. */
interface Measured {
  readonly ms: number;
  readonly cpuMs: number;
}

async function measureInTurns(path: string, rounds: number): Promise<Record<TableName, Measured[]>> {
  const home = await openHome({ path, hiveconf: NO_INITIATOR });
  const session = home.newSession();
  const times: Record<TableName, Measured[]> = { deltas: [], compacted: [] };
  const answers = new Set<string>();
  try {
    // The first round warms up: loading the engine, compiling the loops.
    for (let round = 0; round <= rounds; round++) {
      for (const table of round % 2 === 0 ? TABLES : [...TABLES].reverse()) {
        const [start, cpu] = [performance.now(), process.cpuUsage()];
        answers.add(await answer(session, answerOf(table)));
        const { user, system } = process.cpuUsage(cpu);
        if (round > 0) times[table].push({ ms: performance.now() - start, cpuMs: (user + system) / 1000 });
      }
    }
  } finally {
    await home.close();
  }
  if (answers.size !== 1) throw new Error(`the tables differ: ${[...answers].join(' and ')}`);
  return times;
}

interface Alone {
  readonly ms: number;
  readonly peakMb: number;
}

function measureAlone(path: string, table: TableName): Alone {
  const program = `import(${JSON.stringify(import.meta.url)}).then((bench) => bench.alone(...process.argv.slice(1)))`;
  const child = spawnSync(process.execPath, ['-e', program, '--', path, table], { encoding: 'utf8' });
  if (child.status !== 0) throw new Error(`the query of ${table} failed: ${child.stderr}`);
  return JSON.parse(child.stdout) as Alone;
}

/** Runs in a process of its own; prints its time and peak. */
export async function alone(path: string, table: TableName): Promise<void> {
  const home = await openHome({ path, hiveconf: NO_INITIATOR });
  const start = performance.now();
  await answer(home.newSession(), answerOf(table));
  const ms = performance.now() - start;
  await home.close();
  process.stdout.write(JSON.stringify({ ms, peakMb: process.resourceUsage().maxRSS / 1024 } satisfies Alone));
}
