import { expect, it } from 'vitest';
import { requireCommitted } from './older-snapshot.js';

const NOW = 'default.t:9:7:7,9:3';
const check = (given: string) => () => requireCommitted('default.t', given, NOW);

it('takes older snapshots, and lists of committed write ids only', () => {
  expect(check('default.t:2:9223372036854775807::')).not.toThrow();
  expect(check('DEFAULT.T:9:7:7,9:3')).not.toThrow();
  expect(check('default.t:8:4:4,7:3')).not.toThrow();
});

it('refuses what is open, rolled back, or of another table', () => {
  expect(check('default.t:7:9223372036854775807::3')).toThrow('write id 7 of default.t, which is open or aborted');
  expect(check('default.t:5:9223372036854775807::')).toThrow('write id 3 of default.t');
  expect(check('default.other:1:9223372036854775807::')).toThrow('of default.other, not of default.t');
  expect(() => requireCommitted('default.t', NOW, undefined)).toThrow('not transactional');
});
