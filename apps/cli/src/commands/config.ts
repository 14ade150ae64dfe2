import { allParameters, effectText, findParameter, isReadAtStart, likeNames, otherNames } from '@skep/config';
import { UsageError } from '../error-line.js';
import { type CliIo, write } from '../io.js';

/** `skep config`: every parameter, or what one means. */
export async function showConfig(io: CliIo, name: string | undefined, list: boolean): Promise<void> {
  if (name !== undefined) {
    await write(io.stdout, describe(name));
    return;
  }
  if (!list) throw new UsageError('config takes a parameter name, or --list');
  const lines = allParameters().map((p) => `${p.name}=${p.default}\t${p.doc.replace(/\s+/g, ' ')}`);
  await write(io.stdout, `${lines.join('\n')}\n`);
}

function describe(name: string): string {
  const found = findParameter(name);
  if (found === undefined) throw new UsageError(`no parameter '${name}'${suggestion(name)}`);
  const { parameter, isDeprecated } = found;
  const names = [...otherNames(parameter), ...(parameter.deprecated ?? []).map((old) => `${old} (old)`)];
  const lines = [
    parameter.name,
    ...(isDeprecated ? [`  ${name} is an old name`] : []),
    `  ${parameter.doc}`,
    `  type: ${parameter.type}${parameter.unit === undefined ? '' : `, in ${parameter.unit} where no unit is given`}`,
    `  default: ${parameter.default === '' ? '(empty)' : parameter.default}${parameter.hiveDefault === undefined ? '' : ` (Hive: ${parameter.hiveDefault})`}`,
    ...(parameter.values === undefined ? [] : [`  values: ${parameter.values.join(', ')}`]),
    ...(names.length === 0 ? [] : [`  other names: ${names.join(', ')}`]),
    `  here: ${effectText(parameter)}`,
    ...(isReadAtStart(parameter.name)
      ? ['  read when the metastore (or the home, or the compactor) starts: SET in a session does not change it there']
      : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** The names that are most like the one asked for: a few letters apart, else with its last word. */
function suggestion(name: string): string {
  const wanted = name.toLowerCase();
  const word = wanted.slice(wanted.lastIndexOf('.') + 1);
  const near = likeNames(name);
  const names = allParameters().flatMap((parameter) => [parameter.name, ...otherNames(parameter)]);
  const like = near.length > 0 ? near : names.filter((known) => hasWord(known, word));
  return like.length === 0 ? '' : `; perhaps ${like.slice(0, MOST_SUGGESTED).join(', ')}`;
}

const MOST_SUGGESTED = 5;

const hasWord = (name: string, word: string): boolean => word.length > 2 && name.toLowerCase().includes(word);
