import { allParameters, effectText, findParameter, isReadAtStart, otherNames } from '@skep/config';
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

/** Names that have the last word of the one asked for. */
function suggestion(name: string): string {
  const word = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  const like = allParameters().filter((p) => word.length > 2 && p.name.toLowerCase().includes(word));
  return like.length === 0
    ? ''
    : `; perhaps ${like
        .slice(0, 5)
        .map((p) => p.name)
        .join(', ')}`;
}
