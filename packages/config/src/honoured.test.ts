import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { allParameters, otherNames } from './catalogue.js';
import type { Parameter } from './parameter.js';

const root = resolve(import.meta.dirname, '../../..');

/** The sources of a workspace, without the tables of this package and without tests. */
function sourcesIn(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths
    .filter((path) => /\.ts$/.test(path) && !/\.(test|d)\.ts$/.test(path))
    .map((path) => readFileSync(join(folder, path), 'utf8'));
}

const sources = ['packages', 'apps'].flatMap((kind) =>
  readdirSync(join(root, kind))
    .filter((name) => name !== 'config')
    .flatMap((name) => sourcesIn(join(root, kind, name, 'src'))),
);
// Comments speak of parameters, too.
const code = sources.join('\n').replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A string that names it, or (properties of tables) a member of that name; prefixes are taken off where they are read. */
function isRead(parameter: Parameter): boolean {
  return [parameter.name, ...otherNames(parameter)].some((name) => {
    const short = name.replace(/^(compactorthreshold\.hive\.compactor|tblprops)\./, '');
    const asMember = parameter.place === undefined || short.includes('.') ? '' : `|\\.${escaped(short)}\\b`;
    return new RegExp(`['"\`]${escaped(short)}['"\`]${asMember}`).test(code);
  });
}

it('a parameter that is said to have its effect is read by somebody', () => {
  expect(sources.length).toBeGreaterThan(300);
  // Those of any user are taken by a pattern (`hadoop.proxyuser.…`).
  const named = allParameters().filter(({ name }) => !name.startsWith('hadoop.proxyuser.'));
  const unread = named.filter((parameter) => parameter.effect === 'yes' && !isRead(parameter));
  expect(unread.map(({ name }) => name)).toEqual([]);
});

it('a parameter that is said to change nothing is read by nobody', () => {
  // These two are given when skep starts, as their descriptions say; SET has no effect.
  const atStart = ['hive.metastore.warehouse.dir', 'hive.metastore.uris'];
  const none = allParameters().filter(
    ({ name, effect }) => (effect === 'none' || effect === 'accepted') && !atStart.includes(name),
  );
  const read = none.filter(isRead).map(({ name }) => name);
  expect(read).toEqual([]);
});
