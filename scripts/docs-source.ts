import { configurationMarkdown } from '../packages/config/src/index.js';
import { descriptions } from '../packages/sql/src/functions/descriptions.js';
import { missingByReason } from '../packages/sql/src/functions/missing.js';
import { allFunctions } from '../packages/sql/src/functions/registry.js';

const titles: Readonly<Record<string, string>> = {
  operator: 'Operators (as functions too: `` `+`(1, 2) ``)',
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
        const more = others.map((other) => `\`${other}\``).join(', ');
        return `| \`${call}\` | ${more} | ${descriptions[name].replaceAll('|', '\\|')} |`;
      })
      .sort();
    return rows.length === 0
      ? []
      : [`## ${title}\n\n| Function | Other names | What it gives |\n|---|---|---|\n${rows.join('\n')}\n`];
  });
  const missing = [...missingByReason()]
    .map(([reason, names]) => `- ${names.map((name) => `\`${name}\``).join(', ')}: ${reason}`)
    .join('\n');
  return `# Functions\n\nMade from the table in \`packages/sql/src/functions\`; do not edit. A function that is not here is an error that names it.\n\n${sections.join('\n')}
## What Hive 4.0.1 has and skep has not

\`GROUPING(a, …)\` and \`GROUPING__ID\` are part of GROUP BY. A call of one of these is an error that says why:

${missing}
`;
}

export { configurationMarkdown };
