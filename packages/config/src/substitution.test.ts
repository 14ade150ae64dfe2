import { expect, it } from 'vitest';
import { substituteVariables } from './substitution.js';

/** Variables are written `@{name}` here. */
const written = (text: string): string => text.replaceAll('@{', '$'.concat('{'));

const sources = {
  env: { HOME: '/root', EMPTY: '' },
  system: { 'user.name': 'ann' },
  parameter: (name: string) =>
    new Map(
      [
        ['a.b', 'x@{user.name}'],
        ['self', 'a @{self}'],
        ['loop.1', '@{loop.2}'],
        ['loop.2', '@{loop.1}'],
      ].map(([key, text]) => [key, written(text)]),
    ).get(name),
};

it.each([
  ['plain', 'plain'],
  ['/tmp/@{user.name}/x', '/tmp/ann/x'],
  ['@{a.b}-@{a.b}', 'xann-xann'],
  ['@{env.HOME}', '/root'],
  ['@{env.NONE}', '@{env.NONE}'],
  ['@{env.NONE-other}', 'other'],
  ['@{env.EMPTY-other}', ''],
  ['@{env.EMPTY:-other}', 'other'],
  ['@{nobody.knows}', '@{nobody.knows}'],
  ['@{self}', '@{self}'],
  ['$5 {x} @{}', '$5 {x} @{}'],
])('%s becomes %s', (text, expected) => {
  expect(substituteVariables(written(text), sources)).toBe(written(expected));
});

it('ends where variables need one another', () => {
  expect(substituteVariables(written('@{loop.1}'), sources)).toMatch(/^\$\{loop\.[12]\}$/);
});
