import { readFileSync } from 'node:fs';
import type { CaseOutcome } from './report.js';

/** Where another answer than the recorded one is right: test/golden/deviations.json. The list may only shrink. */
export interface Deviation {
  readonly case: string;
  readonly mode: 'read' | 'replay';
  /** From 1. */
  readonly step: number;
  readonly statement: string;
  /** Hive failed and must not have. */
  readonly succeeds?: boolean;
  /** Recorded rows and what must be there in their place, in pairs. */
  readonly rows: readonly { readonly recorded: string; readonly expected: string }[];
  readonly reason: string;
}

export interface DeviationRule {
  readonly rule: string;
  readonly reason: string;
}

export interface DeviationList {
  /** Single steps of the cases that are kept here. */
  readonly steps: readonly Deviation[];
  /** Mistakes of Hive that any case may show; the code of each is in this file. */
  readonly rules: readonly DeviationRule[];
}

export const readDeviations = (path: string): DeviationList => JSON.parse(readFileSync(path, 'utf8'));

/** The rows that are right in place of the recorded ones, where the list has the step. */
export function deviationOf(
  list: DeviationList,
  mode: Deviation['mode'],
  caseName: string,
  step: number,
  statement: string,
): Deviation | undefined {
  return list.steps.find(
    (d) => d.case === caseName && d.mode === mode && d.step === step + 1 && d.statement === statement,
  );
}

export function applyDeviation(deviation: Deviation, rows: readonly string[]): string[] {
  return rows.map((row) => deviation.rows.find((pair) => pair.recorded === row)?.expected ?? row);
}

/** Hive's failures that are its own mistake, wherever they occur. */
const SUCCESS_RULES: Readonly<Record<string, RegExp>> = {
  'merge-never-matches': /^\s*merge\b.*?\bon\b((?!\bwhen\b).)*\b(1\s*=\s*0|0\s*=\s*1|false)\b/is,
};

/** Why a statement that failed in Hive must succeed; undefined where it must not. */
export function mustSucceed(list: DeviationList, listed: Deviation | undefined, statement: string): string | undefined {
  if (listed?.succeeds === true) return listed.reason;
  return list.rules.find(({ rule }) => SUCCESS_RULES[rule]?.test(statement))?.reason;
}

/** Lines of SHOW and DESCRIBE as they are right, where a rule of the list knows that Hive's are not. */
export function rightLines(
  list: DeviationList,
  lines: readonly string[],
  database: string,
): { lines: string[]; reason?: string } {
  const known = list.rules.find(({ rule }) => rule === 'show-create-default-constraint');
  const wrong = /^ALTER TABLE `(\w+)`\.`\1` CHANGE COLUMN (.*) CONSTRAINT {2}DEFAULT /;
  if (known === undefined || !lines.some((line) => wrong.test(line))) return { lines: [...lines] };
  const right = `ALTER TABLE \`${database}\`.\`$1\` CHANGE COLUMN $2 CONSTRAINT \`dc_N\` DEFAULT `;
  return { lines: lines.map((line) => line.replace(wrong, right)), reason: known.reason };
}

/** Deviations of the list that no step used: they must go. */
export function unusedDeviations(list: DeviationList, outcomes: readonly CaseOutcome[]): Deviation[] {
  return list.steps.filter((deviation) => {
    const outcome = outcomes.find((candidate) => candidate.name === deviation.case);
    return (
      outcome?.error === undefined &&
      outcome !== undefined &&
      !outcome.steps.some(
        (s) => s.mode === deviation.mode && s.step + 1 === deviation.step && s.deviation !== undefined,
      )
    );
  });
}

interface CellContext {
  readonly statement: string;
  readonly type: string;
  readonly item: string;
}

/** A right value in place of a recorded one, by a rule that is not about one step. */
const CELL_RULES: Readonly<Record<string, (recorded: string, got: string, context: CellContext) => boolean>> = {
  'order-by-null-array': (recorded, got, { statement, type }) =>
    type.includes('array<') && isOrdered(statement) && nullArrays(got) === recorded,
  'order-by-empty-string-array': (recorded, got, { statement, type }) =>
    type.includes('array<') && isOrdered(statement) && got.replaceAll('[""]', '[]') === recorded,
  'trunc-date': (recorded, got, { item }) =>
    recorded === '1970-01-01' && /\btrunc\s*\(/i.test(item) && /^-?\d{4,}-\d\d-01$/.test(got),
  'last-second-before-1970': (recorded, got, { type }) =>
    type === 'timestamp' &&
    /^1970-01-01 00:00:00\.\d+$/.test(recorded) &&
    got === recorded.replace('1970-01-01 00:00:00', '1969-12-31 23:59:59'),
};

const isOrdered = (statement: string): boolean => /\border\s+by\b/i.test(statement);

/** How Hive prints arrays of one NULL that were on the way through its text files. */
function nullArrays(text: string): string {
  const nested = text.replaceAll('[null]', 'null');
  return nested === 'null' ? 'NULL' : nested;
}

/**
 * The recorded rows with the right values of `got` in place of recorded mistakes, where a rule of the list says so, and the
 * rule's reason. Rows are matched in order where there are as many cells.
 */
export function applyRules(
  list: DeviationList,
  statement: string,
  columns: readonly string[],
  items: readonly string[],
  recorded: readonly string[],
  got: readonly string[],
): { rows: string[]; reason: string } | undefined {
  if (recorded.length !== got.length) return undefined;
  const reasons = new Set<string>();
  const rows = recorded.map((row, i) => {
    const want = row.split('\t');
    const have = got[i].split('\t');
    if (row === got[i] || want.length !== columns.length || have.length !== columns.length) return row;
    return want
      .map((cell, c) => {
        if (cell === have[c]) return cell;
        const type = columns[c].slice(columns[c].indexOf(':') + 1);
        const context = { statement, type, item: items.length === columns.length ? items[c] : '' };
        const rule = list.rules.find((known) => CELL_RULES[known.rule]?.(cell, have[c], context));
        if (rule === undefined) return cell;
        reasons.add(rule.reason);
        return have[c];
      })
      .join('\t');
  });
  return reasons.size === 0 ? undefined : { rows, reason: [...reasons].join('; ') };
}
