import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCase } from '../../golden/src/case-file.js';
import { describeError } from '../../golden/src/golden-error.js';
import { ORACLE_SETTINGS, openHome } from '../../golden/src/home-port.js';
import { readCase } from '../../golden/src/read-snapshots.js';
import { type BuiltStage, buildTables } from './build-tables.js';
import { caseName, compareWithHive, runHive } from './hive.js';
import { compareWithPyarrow, orcFilesBelow } from './pyarrow.js';
import { INTEROP_TABLES, type InteropTable } from './tables.js';

export interface InteropTools {
  /** The folder of the oracle's run.sh. */
  readonly oracle: string;
  /** A Python that has pyarrow. */
  readonly python: string;
  readonly readOrc: string;
  /** Keeps the work folder, to look into. */
  readonly keep: boolean;
  /** Only the tables of these names. */
  readonly tables?: readonly string[] | undefined;
}

/** Counts and problems of one part. */
class Part {
  readonly problems: string[] = [];
  checks = 0;

  constructor(private readonly title: string) {}

  add(checks: number, problems: readonly string[]): void {
    this.checks += checks;
    this.problems.push(...problems);
  }

  print(): boolean {
    process.stdout.write(`${this.title}: ${this.checks - this.problems.length} of ${this.checks} passed\n`);
    for (const problem of this.problems) process.stderr.write(`  ${problem}\n`);
    return this.problems.length === 0 && this.checks > 0;
  }
}

/** skep's files in the hands of Hive and pyarrow, and Hive's in skep's. Answers the exit code. */
export async function main(tools: InteropTools): Promise<number> {
  const work = realpathSync(mkdtempSync(join(tmpdir(), 'skep-interop-')));
  try {
    const tables = INTEROP_TABLES.filter(({ name }) => tools.tables?.includes(name) ?? true);
    const stages = await build(tables, join(work, 'skep'), join(work, 'stages'));
    process.stdout.write(`skep wrote ${stages.length} stages of ${tables.length} tables\n`);
    const ok = [await withPyarrow(tools, stages).then((part) => part.print())];
    const out = await runHive(tools.oracle, stages, work);
    ok.push(withHive(stages, out).print(), (await backAgain(stages, out)).print());
    return ok.every(Boolean) ? 0 : 1;
  } finally {
    if (tools.keep) process.stdout.write(`kept ${work}\n`);
    else rmSync(work, { recursive: true, force: true });
  }
}

async function build(tables: readonly InteropTable[], path: string, out: string): Promise<BuiltStage[]> {
  mkdirSync(out, { recursive: true });
  const home = await openHome({ path, hiveconf: { ...ORACLE_SETTINGS }, backgroundCompaction: true });
  try {
    return await buildTables(home, tables, out);
  } finally {
    await home.close();
  }
}

async function withPyarrow(tools: InteropTools, stages: readonly BuiltStage[]): Promise<Part> {
  const part = new Part('pyarrow reads the same rows from the files skep wrote');
  const files = orcFilesBelow(stages.filter((built) => !built.table.beyondPyarrow).map((built) => built.dir));
  part.add(files.length, await compareWithPyarrow(tools.python, tools.readOrc, files));
  return part;
}

function withHive(stages: readonly BuiltStage[], out: string): Part {
  const part = new Part('Hive reads, changes and compacts the tables skep wrote');
  for (const built of stages) {
    const { checks, problems } = compareWithHive(built, out);
    part.add(checks, problems);
  }
  return part;
}

/** What Hive left is a recorded case: its snapshots are read under its lists of write ids. */
async function backAgain(stages: readonly BuiltStage[], out: string): Promise<Part> {
  const part = new Part('skep reads what Hive made of them');
  for (const built of stages.filter(({ stage }) => stage.hive.length > 0)) {
    try {
      const outcomes = await readCase(loadCase(join(out, `${caseName(built)}.json`)));
      const failed = outcomes.filter((outcome) => !outcome.passed);
      part.add(
        Math.max(outcomes.length, 1),
        failed.map((outcome) => `${caseName(built)}: ${outcome.problem}`),
      );
      if (outcomes.length === 0) part.add(0, [`${caseName(built)}: Hive made no snapshot`]);
    } catch (error) {
      part.add(1, [`${caseName(built)}: ${describeError(error)}`]);
    }
  }
  return part;
}
