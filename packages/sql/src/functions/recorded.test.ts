import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkepError } from '@skep/core';
import { afterAll, describe, expect, test } from 'vitest';
import { MemoryHive } from '../testing/memory-hive.js';
import { deviations } from './recorded/deviations.js';

/*
 * What the real Hive 4.0.1 answered (recorded with shared/oracle), asked of us: CREATE TABLE, INSERT and SELECT over
 * tables in memory. A case stops at the first statement that changes rows otherwise.
 */

interface Step {
  readonly statement: string;
  readonly columns?: readonly string[];
  readonly rows?: readonly string[];
  readonly error?: { readonly code: number; readonly message: string };
}

const folder = join(import.meta.dirname, 'recorded');
const golden = join(import.meta.dirname, '../../../../test/golden/recorded/hive-4.0.1/cases');
const files = [
  ...jsonFiles(folder),
  // The others use statements beyond these: npm run golden replays them.
  ...(existsSync(golden)
    ? jsonFiles(golden).filter((file) => /\/(queries|types_all|errors|large)\.json$/.test(file))
    : []),
];

function jsonFiles(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(directory, name));
}

const isQuery = (text: string): boolean => /^\s*(select|with|values)\b/i.test(text);
const isSetUp = (text: string): boolean => /^\s*(create table|insert into)\b/i.test(text);
const changes = (text: string): boolean =>
  /^\s*(update|delete|merge|from|truncate|alter|load|insert overwrite)\b/i.test(text);

/** The steps before rows change, with tables that hold what the set-up inserted. */
function steps(file: string): Step[] {
  const all = JSON.parse(readFileSync(file, 'utf8')) as Step[];
  const end = all.findIndex((step) => changes(step.statement));
  return (end < 0 ? all : all.slice(0, end)).filter((step) => isQuery(step.statement) || isSetUp(step.statement));
}

async function problem(hive: MemoryHive, step: Step): Promise<string | undefined> {
  try {
    const answer = await hive.execute(step.statement);
    if (answer === undefined || answer === 'done') return undefined;
    if (step.error !== undefined) return `no error, Hive: ${step.error.message}`;
    if (JSON.stringify(answer.columns) !== JSON.stringify(step.columns)) {
      return `columns ${answer.columns.join(' ')}, Hive: ${step.columns?.join(' ')}`;
    }
    // ORDER BY may leave ties: rows are compared as a multiset (that they are sorted has tests of its own).
    const [ours, theirs] = [answer.rows, step.rows ?? []].map((rows) => [...rows].sort().join('\n'));
    return ours === theirs ? undefined : `rows\n${ours}\nHive:\n${theirs}`;
  } catch (error) {
    if (!(error instanceof SkepError)) throw error;
    if (step.error === undefined) return `error ${error.message}`;
    // The same number, or where Hive has none, a refusal too.
    const number = /\[Error (\d+)\]/.exec(step.error.message)?.[1];
    if (number === undefined || number === String(error.hiveCode)) return undefined;
    return `error ${error.hiveCode} ${error.message}, Hive: ${step.error.message}`;
  }
}

describe.each(files)('%s', (file) => {
  const name = file.replace(/.*\/|\.json$/g, '');
  const hive = new MemoryHive(name);
  afterAll(async () => {
    await hive.engine.close();
  });

  test('answers as Hive did', async () => {
    const failed: Record<string, string> = {};
    for (const step of steps(file)) {
      const found = await problem(hive, step);
      if (found !== undefined) failed[step.statement] = found;
    }
    const known = deviations[name] ?? {};
    const news = Object.fromEntries(Object.entries(failed).filter(([statement]) => !(statement in known)));
    expect(news).toEqual({});
    // The list may only shrink: what is right by now must leave it.
    expect(Object.keys(known).filter((statement) => !(statement in failed))).toEqual([]);
  });
});
