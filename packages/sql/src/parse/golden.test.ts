import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ParseError, parseStatement, splitStatements } from './index.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const golden = path.join(process.env.SKEP_SHARED ?? path.join(root, '../shared'), 'golden');
const cases = path.join(golden, 'hive-4.0.1/cases');
const verbatim = path.join(golden, 'verbatim');

describe.skipIf(!existsSync(cases))('statements of the recorded cases (needs ../shared/golden)', () => {
  interface Step {
    statement: string;
    error?: { message: string };
  }
  const names = existsSync(cases) ? readdirSync(cases).filter((name) => name.endsWith('.json')) : [];
  const steps = names.flatMap((name) => JSON.parse(readFileSync(path.join(cases, name), 'utf8')) as Step[]);

  it('has the cases', () => expect(steps.length).toBeGreaterThan(300));

  it.each(names)('%s: the script is cut into the steps that Hive ran', (name) => {
    const script = readFileSync(path.join(cases, name.replace('.json', '.sql')), 'utf8');
    const recorded = JSON.parse(readFileSync(path.join(cases, name), 'utf8')) as Step[];
    expect(splitStatements(script).map((s) => s.text)).toEqual(recorded.map((s) => s.statement));
  });

  it.each(steps)('$statement', ({ statement, error }) => {
    if (statement.startsWith('!')) return;
    if (error?.message.includes('ParseException')) {
      expect(() => parseStatement(statement)).toThrowError(error.message.replace('FAILED: ', ''));
    } else {
      expect(parseStatement(statement).position.end).toBeLessThanOrEqual(statement.length);
    }
  });
});

describe.skipIf(!existsSync(verbatim))('scripts as published (needs ../shared/golden)', () => {
  const names = existsSync(verbatim) ? readdirSync(verbatim) : [];

  it.each(names)('%s', (name) => {
    const script = readFileSync(path.join(verbatim, name), 'utf8');
    const statements = splitStatements(script);
    expect(statements.length).toBeGreaterThan(5);
    for (const { text } of statements) {
      const statement = parseStatement(text);
      // Comments between and behind the properties and settings must not have become part of them.
      expect(JSON.stringify(statement)).not.toMatch(/[\u1100-\u11ff\u3000-\u9fff\uac00-\ud7af]/);
    }
  });

  it('refuses what is broken in them', () => {
    expect(() => parseStatement('CREATE TABLE emp (id int, name string')).toThrow(ParseError);
  });
});
