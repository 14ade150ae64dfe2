/** What one comparison of a case gave. */
export interface StepOutcome {
  readonly mode: 'read' | 'replay';
  /** Index in the recording, from 0. */
  readonly step: number;
  readonly statement: string;
  readonly passed: boolean;
  /** What is different, for people; absent where it passed. */
  readonly problem?: string;
  readonly expected?: readonly string[];
  readonly got?: readonly string[];
  /** Why another answer than the recorded one is the right one. */
  readonly deviation?: string;
}

export interface CaseOutcome {
  readonly name: string;
  readonly path: string;
  readonly passed: boolean;
  readonly durationMs: number;
  /** A failure of the case as a whole: it could not be loaded, or it took its process down. */
  readonly error?: string;
  readonly steps: readonly StepOutcome[];
}

export interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly cases: readonly CaseOutcome[];
}

const count = (steps: readonly StepOutcome[], mode: StepOutcome['mode']): string => {
  const of = steps.filter((step) => step.mode === mode);
  return `${mode} ${of.filter((step) => step.passed).length}/${of.length}`;
};

/** The one line of a case. */
export function caseLine(outcome: CaseOutcome): string {
  const state = outcome.passed ? 'pass' : 'FAIL';
  const deviations = outcome.steps.filter((step) => step.deviation !== undefined).length;
  const extras = [
    ...(deviations > 0 ? [`${deviations} deviation${deviations > 1 ? 's' : ''}`] : []),
    `${(outcome.durationMs / 1000).toFixed(1)} s`,
  ];
  const counts = [count(outcome.steps, 'read'), count(outcome.steps, 'replay')].join(', ');
  return `${state} ${outcome.name}: ${counts}, ${extras.join(', ')}${outcome.error === undefined ? '' : ` - ${outcome.error}`}`;
}

const MOST_LINES = 40;

/** The failing steps in full. */
export function caseDetails(outcome: CaseOutcome): string {
  const failed = outcome.steps.filter((step) => !step.passed);
  return failed
    .map((step) =>
      [
        `  ${outcome.name} ${step.mode} step ${step.step + 1}: ${step.statement}`,
        `    ${step.problem ?? 'differs'}`,
        ...listing('expected', step.expected),
        ...listing('got', step.got),
      ].join('\n'),
    )
    .join('\n');
}

function listing(title: string, lines: readonly string[] | undefined): string[] {
  if (lines === undefined) return [];
  const shown = lines.slice(0, MOST_LINES).map((line) => `      | ${line}`);
  if (lines.length > MOST_LINES) shown.push(`      … ${lines.length - MOST_LINES} more`);
  return [`    ${title} (${lines.length}):`, ...shown];
}
