import { configurationMarkdown } from '../packages/config/src/index.js';
import { allFunctions } from '../packages/sql/src/functions/registry.js';

const titles: Readonly<Record<string, string>> = {
  string: 'Text',
  date: 'Dates and times',
  math: 'Numbers',
  conditional: 'Conditionals',
  collection: 'Arrays, maps, structs',
  conversion: 'Conversions',
  hash: 'Hashes',
  misc: 'Others',
  aggregate: 'Aggregates',
  window: 'Windows (with OVER)',
  table: 'Table-generating (LATERAL VIEW)',
};

/** docs/functions.md: what the registry has. */
export function functionsMarkdown(): string {
  const functions = allFunctions();
  const sections = Object.entries(titles).flatMap(([category, title]) => {
    const rows = functions
      .filter((fn) => fn.category === category)
      .map((fn) => {
        const [name, ...others] = fn.names;
        const call = `${name}(${fn.usage})`.replaceAll('|', '\\|');
        return `| \`${call}\` | ${others.map((other) => `\`${other}\``).join(', ')} |`;
      })
      .sort();
    return rows.length === 0 ? [] : [`## ${title}\n\n| Function | Other names |\n|---|---|\n${rows.join('\n')}\n`];
  });
  return `# Functions\n\nMade from the table in \`packages/sql/src/functions\`; do not edit. A function that is not here is an error that names it.\n\n${sections.join('\n')}`;
}

export { configurationMarkdown };
