import { otherNames, PARAMETER_GROUPS } from './catalogue.js';
import type { Parameter } from './parameter.js';

/** docs/configuration.md: every parameter, made from the tables that the program itself uses. */
export function configurationMarkdown(): string {
  const sections = PARAMETER_GROUPS.map(([title, parameters]) => {
    const rows = parameters.map(
      (parameter) =>
        `| \`${parameter.name}\`${names(parameter)} | ${parameter.type} | ${code(parameter.default)}${hive(parameter)} | ${cell(parameter.doc)} | ${cell(effectText(parameter))} |`,
    );
    return `## ${title}\n\n| Name | Type | Default | Meaning | In skep |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `# Configuration

Made by \`@skep/config\`; do not edit. Set parameters with \`SET name=value\`, \`--hiveconf name=value\`, in \`hive-site.xml\`, or
in the environment as \`SKEP_CONF_\` and the name with \`_\` for \`.\`. Times take a unit (\`300s\`, \`5min\`, \`12h\`, \`7d\`). In \`hive-site.xml\`
\`\${name}\` is another parameter, \`user.name\`, \`user.home\`, \`java.io.tmpdir\`, or \`env.VARIABLE\`. Known are also
\`hive.compactor.worker.POOL.threads\`, \`hadoop.proxyuser.USER.hosts|users|groups\`, \`compactor.…\`, \`compactorthreshold.…\` and
\`tblprops.…\` of any name: \`skep config NAME\` explains each.

${sections.join('\n')}`;
}

function names(parameter: Parameter): string {
  const also = otherNames(parameter).map((name) => `\`${name}\``);
  const old = (parameter.deprecated ?? []).map((name) => `old: \`${name}\``);
  const all = [...also, ...old];
  return all.length === 0 ? '' : `<br>${all.join('<br>')}`;
}

const hive = (parameter: Parameter): string =>
  parameter.hiveDefault === undefined ? '' : ` (Hive: ${code(parameter.hiveDefault)})`;

const code = (text: string): string => (text === '' ? 'empty' : `\`${text}\``);

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** What becomes of a parameter in skep, in a few words. */
export function effectText(parameter: Parameter): string {
  switch (parameter.effect) {
    case 'yes':
      return 'as in Hive';
    case 'accepted':
      return 'accepted, changes nothing';
    case 'fixed':
      return `fixed: ${parameter.why ?? ''}`;
    case 'none':
      return `no effect: ${parameter.why ?? ''}`;
  }
}
