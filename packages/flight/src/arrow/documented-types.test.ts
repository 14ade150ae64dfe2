import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseType } from '@skep/orc';
import { Schema } from 'apache-arrow';
import { expect, it } from 'vitest';
import { toArrowField, toArrowType, toTypeDescription } from './arrow-type.js';

const page = readFileSync(fileURLToPath(new URL('../../../../docs/flight.md', import.meta.url)), 'utf8');
const rows = [...page.slice(page.indexOf('## Types')).matchAll(/^\| `([^`]+)` \| `([^`]+)` \|/gm)].map(
  ([, hive, arrow]) => [hive, arrow.replaceAll('\\|', '|')] as const,
);

it('docs/flight.md has every kind of type', () => {
  const kinds = new Set(rows.map(([hive]) => parseType(hive).kind));
  expect(kinds.size).toBe(rows.length);
  expect(kinds.size).toBe(19);
});

it.each(rows)('%s is %s, and back', (hive, arrow) => {
  expect(toArrowType(parseType(hive)).toString()).toBe(arrow);
  expect(toTypeDescription(new Schema([toArrowField('c', parseType(hive))])).children[0]).toMatchObject({
    kind: parseType(hive).kind,
  });
});
