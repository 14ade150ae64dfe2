import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedStep } from '../../golden/src/case-file.js';
import type { BuiltStage } from './build-tables.js';

export const caseName = (built: BuiltStage): string => `interop_${built.table.name}_${built.stage.name}`;

/** The script of a stage for the oracle: adopt, read, then change and compact, reading after each. */
function caseScript(built: BuiltStage): string {
  const { table, stage, dir, highWatermark } = built;
  const lines = [
    // Hive's MSCK refuses names of partitions that its own INSERT makes.
    'set hive.msck.path.validation=ignore;',
    `${table.create};`,
    `!adopt ${table.name} ${dir} ${highWatermark}`,
    `select ROW__ID, * from ${table.name};`,
  ];
  for (const step of stage.hive) {
    lines.push(`${step.statement};`);
    if (step.compaction) lines.push('!worker', '!cleaner', `!ls ${table.name}`);
    lines.push(`select * from ${table.name};`);
  }
  if (stage.hive.length > 0) lines.push('!snapshot after');
  return `${lines.join('\n')}\n`;
}

/** Runs all stages in one start of Hive; answers the folder with what it recorded. */
export async function runHive(oracle: string, stages: readonly BuiltStage[], work: string): Promise<string> {
  const cases = join(work, 'cases');
  const out = join(work, 'hive-out');
  mkdirSync(cases, { recursive: true });
  const files = stages.map((built) => {
    const file = join(cases, `${caseName(built)}.sql`);
    writeFileSync(file, caseScript(built));
    return file;
  });
  await run(join(oracle, 'run.sh'), [join(work, 'hive-home'), out, ...files]);
  return out;
}

function run(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'pipe'] });
    let tail = '';
    child.stderr.on('data', (chunk: Buffer) => {
      tail = (tail + chunk.toString('utf8')).slice(-4000);
      for (const line of chunk.toString('utf8').split('\n'))
        if (/^recorded /.test(line)) process.stdout.write(`  ${line}\n`);
    });
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new HiveRunError(`the oracle ended with ${code}\n${tail}`)),
    );
  });
}

export class HiveRunError extends Error {
  override readonly name = 'HiveRunError';
}

/** What Hive answered about a stage against what is right; one line a difference. */
export function compareWithHive(built: BuiltStage, out: string): { problems: string[]; checks: number } {
  const file = join(out, `${caseName(built)}.json`);
  if (!existsSync(file)) return { problems: [`${caseName(built)}: Hive recorded nothing`], checks: 1 };
  const steps: RecordedStep[] = JSON.parse(readFileSync(file, 'utf8'));
  const problems: string[] = [];
  for (const step of steps) {
    const failed = step.error?.message ?? step.harnessError;
    if (failed !== undefined) problems.push(`${caseName(built)}: ${step.statement}: ${failed}`);
  }
  const reads = steps.filter((step) => step.statement.startsWith('select'));
  const expected = [built.rows, ...built.stage.hive.map((step) => step.rows)];
  expected.forEach((rows, i) => {
    const got = [...(reads[i]?.rows ?? [])].sort();
    const want = [...rows].sort();
    const at = want.findIndex((row, r) => row !== got[r]);
    if (want.length === got.length && at < 0) return;
    const after = i === 0 ? 'adopted' : built.stage.hive[i - 1].statement;
    const where =
      at < 0 ? `${got.length} rows instead of ${want.length}` : `'${want[at]}' expected, Hive has '${got[at]}'`;
    problems.push(`${caseName(built)}: after ${after}: ${where}`);
  });
  return { problems, checks: expected.length };
}
