import { loadCase } from './case-file.js';
import { readDeviations } from './deviations.js';
import { describeError } from './golden-error.js';
import type { CaseOutcome, StepOutcome } from './report.js';

export interface CaseRequest {
  readonly path: string;
  readonly deviations: string;
  readonly only?: 'read' | 'replay';
}

/** Runs one case; what goes wrong in it is the case's failure. */
export async function runCase(request: CaseRequest): Promise<CaseOutcome> {
  const start = performance.now();
  const steps: StepOutcome[] = [];
  const outcome = (name: string, error?: string): CaseOutcome => ({
    name,
    path: request.path,
    passed: error === undefined && (steps.length > 0 || request.only === 'read') && steps.every((step) => step.passed),
    durationMs: Math.round(performance.now() - start),
    ...(error === undefined ? {} : { error }),
    steps,
  });
  let name = request.path.replace(/^.*\//, '').replace(/\.\w+$/, '');
  try {
    const golden = loadCase(request.path);
    name = golden.name;
    const deviations = readDeviations(request.deviations);
    // Loaded late, so that a part of skep that does not even load fails cases, not the runner.
    if (request.only !== 'replay')
      steps.push(...(await (await import('./read-snapshots.js')).readCase(golden, deviations)));
    if (request.only !== 'read' && golden.kind === 'hive') {
      const { replayCase } = await import('./replay.js');
      steps.push(...(await replayCase(golden.name, golden.steps, deviations)));
    }
    return outcome(name);
  } catch (error) {
    return outcome(name, describeError(error));
  }
}

/** The child's side: one case a message. */
function serveCases(): void {
  let current: CaseRequest | undefined;
  const onStray = (error: unknown): void => {
    process.send?.({ stray: describeError(error), path: current?.path });
    process.exit(1);
  };
  process.on('uncaughtException', onStray);
  process.on('unhandledRejection', onStray);
  process.on('message', (request: CaseRequest) => {
    current = request;
    void runCase(request).then((outcome) => process.send?.({ outcome }));
  });
  process.on('disconnect', () => process.exit(0));
}

if (process.send !== undefined) serveCases();
