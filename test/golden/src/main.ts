import { type ChildProcess, fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findCases } from './case-file.js';
import type { CaseRequest } from './child.js';
import { readDeviations, unusedDeviations } from './deviations.js';
import { describeError } from './golden-error.js';
import { type CaseOutcome, caseDetails, caseLine, type Report } from './report.js';

const USAGE = `npm run golden -- [--json REPORT] [--verbose] [--quiet] [--only read|replay] [--jobs N] [--timeout SECONDS] CASE.sql|DIR…

Runs recorded cases of Hive: reads the files of each snapshot, and replays the script on a fresh home. One line a case;
what differs in a failing step is on stderr. The last line is 'N passed, N failed'; the exit code is 1 if any failed.`;

interface Settings {
  readonly deviations: string;
  readonly only?: 'read' | 'replay';
  readonly timeoutMs: number;
  /** The program that runs cases (child.ts, bundled). */
  readonly child: string;
}

/** The runner: cases are run in child processes, so that none can take it down or hold it up. */
export async function main(args: string[], child: string): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: 'string' },
      verbose: { type: 'boolean' },
      quiet: { type: 'boolean' },
      only: { type: 'string' },
      jobs: { type: 'string' },
      timeout: { type: 'string' },
      deviations: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help || positionals.length === 0) {
    (values.help ? process.stdout : process.stderr).write(`${USAGE}\n`);
    return values.help ? 0 : 1;
  }
  const deviations =
    values.deviations ?? fileURLToPath(new URL('../../../test/golden/deviations.json', import.meta.url));
  const only = values.only === 'read' || values.only === 'replay' ? values.only : undefined;
  const settings: Settings = {
    deviations,
    child,
    timeoutMs: Number(values.timeout ?? 300) * 1000,
    ...(only === undefined ? {} : { only }),
  };
  const { paths, missing } = collect(positionals);
  const jobs = Math.max(1, Math.min(Number(values.jobs ?? Math.min(availableParallelism(), 4)), paths.length));
  const outcomes: CaseOutcome[] = [...missing];
  const show = (outcome: CaseOutcome): void => {
    process.stdout.write(`${caseLine(outcome)}\n`);
    const details = caseDetails(outcome);
    if (details !== '' && !values.quiet) process.stderr.write(`${details}\n`);
  };
  missing.forEach(show);
  const queue = [...paths];
  await Promise.all(
    Array.from({ length: jobs }, async () => {
      await runQueue(queue, settings, (outcome) => {
        outcomes.push(outcome);
        show(outcome);
      });
    }),
  );
  outcomes.sort((a, b) => (a.path < b.path ? -1 : 1));
  if (only !== 'read') {
    for (const unused of unusedDeviations(readDeviations(deviations), outcomes)) {
      process.stderr.write(`deviation not needed: ${unused.case} step ${unused.step}: ${unused.statement}\n`);
    }
  }
  const passed = outcomes.filter((outcome) => outcome.passed).length;
  const report: Report = { passed, failed: outcomes.length - passed, cases: outcomes };
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  process.stdout.write(`${report.passed} passed, ${report.failed} failed\n`);
  return report.failed > 0 || outcomes.length === 0 ? 1 : 0;
}

/** Paths of the cases; an argument that names none is a failed case. */
function collect(positionals: readonly string[]): { paths: string[]; missing: CaseOutcome[] } {
  const paths = new Set<string>();
  const missing: CaseOutcome[] = [];
  for (const argument of positionals) {
    try {
      const found = findCases(argument);
      if (found.length === 0) missing.push(broken(argument, 'no case there'));
      for (const path of found) paths.add(path);
    } catch (error) {
      missing.push(broken(argument, describeError(error)));
    }
  }
  return { paths: [...paths], missing };
}

const broken = (path: string, error: string): CaseOutcome => ({
  name: basename(path).replace(/\.\w+$/, ''),
  path,
  passed: false,
  durationMs: 0,
  error,
  steps: [],
});

async function runQueue(queue: string[], settings: Settings, done: (outcome: CaseOutcome) => void): Promise<void> {
  let child: ChildProcess | undefined;
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    child ??= fork(settings.child, [], {
      env: { ...process.env, TZ: 'UTC' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const outcome = await runInChild(child, path, settings);
    if (child.exitCode !== null || child.signalCode !== null || !child.connected) child = undefined;
    done(outcome);
  }
  if (child?.connected) child.disconnect();
}

function runInChild(child: ChildProcess, path: string, settings: Settings): Promise<CaseOutcome> {
  const { deviations, only, timeoutMs } = settings;
  return new Promise((resolve) => {
    const start = performance.now();
    let stray: string | undefined;
    const finish = (outcome: CaseOutcome): void => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
      resolve(outcome);
    };
    const fail = (why: string): void =>
      finish({ ...broken(path, why), durationMs: Math.round(performance.now() - start) });
    const onMessage = (message: { outcome?: CaseOutcome; stray?: string }): void => {
      if (message.outcome !== undefined) finish(message.outcome);
      stray = message.stray ?? stray;
    };
    const onExit = (code: number | null, signal: string | null): void =>
      fail(stray ?? `its process ended (${signal ?? `exit code ${code}`})`);
    const timer = setTimeout(() => {
      child.off('exit', onExit);
      child.once('exit', () => fail(`took longer than ${timeoutMs / 1000} s`));
      child.kill('SIGKILL');
    }, timeoutMs);
    child.on('message', onMessage);
    child.on('exit', onExit);
    child.send({ path, deviations, ...(only === undefined ? {} : { only }) } satisfies CaseRequest);
  });
}
