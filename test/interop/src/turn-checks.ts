import type { RecordedStep } from '../../golden/src/case-file.js';

/** Rows as Hive's client prints them; those of the harness's own steps are objects. */
export const rowsOf = (step: RecordedStep | undefined): string[] =>
  (step?.rows ?? []).map((row) => (typeof row === 'string' ? row : JSON.stringify(row)));

/** What was looked at while systems took turns on one database, and what did not hold. */
export class TurnChecks {
  private checks = 0;
  private readonly problems: string[] = [];

  check(what: string, holds: boolean): void {
    this.checks++;
    if (!holds) this.problems.push(what);
  }

  same(what: string, got: readonly string[], expected: readonly string[]): void {
    this.check(`${what}: got ${JSON.stringify(got)}`, JSON.stringify(got) === JSON.stringify([...expected].sort()));
  }

  /** No statement failed, and those that begin with `select` answered these rows, in any order. */
  hiveSaid(steps: readonly RecordedStep[], expected: readonly (readonly string[])[]): void {
    for (const step of steps) {
      const failed = step.error?.message ?? step.harnessError;
      this.check(`Hive: ${step.statement}: ${failed}`, failed === undefined);
    }
    const reads = steps.filter((step) => step.statement.startsWith('select'));
    for (const [i, rows] of expected.entries()) {
      this.same(`Hive: ${reads[i]?.statement} (${i + 1})`, rowsOf(reads[i]).sort(), rows);
    }
  }

  /** Answers whether all held. */
  print(what: string): boolean {
    process.stdout.write(`${what}: ${this.checks - this.problems.length} of ${this.checks} passed\n`);
    for (const problem of this.problems) process.stderr.write(`  ${problem}\n`);
    return this.problems.length === 0;
  }
}
