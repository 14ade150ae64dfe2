import type { CliStatement, Position, ResourceStatement } from './ast.js';
import { stripTrailingComments } from './script.js';

/**
 * The commands of Hive's CLI that are no HiveQL (CommandProcessorFactory, CliDriver): SET, RESET, dfs, !, ADD | LIST | DELETE
 * JAR, source, quit. `text` has no comments in front. Undefined where the text is a statement.
 */
export function parseCliCommand(text: string, position: Position): CliStatement | undefined {
  if (text.startsWith('!')) return { kind: 'shell', command: text.slice(1).trim(), position };
  const match = /^([A-Za-z]+)(?![\w.`])([\s\S]*)$/.exec(text);
  if (match === null) return undefined;
  const rest = stripTrailingComments(match[2]).trim();
  const next = /^[A-Za-z]+(?!\w)/.exec(rest)?.[0].toLowerCase();
  switch (match[1].toLowerCase()) {
    case 'set':
      return (next === 'role' || next === 'autocommit') && !/^\w+\s*=/.test(rest)
        ? undefined
        : parseSet(rest, position);
    case 'reset': {
      const words = splitWords(rest);
      const toDefault = words[0] === '-d';
      return { kind: 'reset', toDefault, keys: toDefault ? words.slice(1) : words, position };
    }
    case 'dfs':
      return { kind: 'dfs', arguments: splitWords(rest), position };
    case 'add':
    case 'list':
    case 'delete':
      return parseResource(match[1].toLowerCase() as ResourceStatement['action'], rest, position);
    case 'source':
      return { kind: 'source', path: unquote(rest), position };
    case 'quit':
    case 'exit':
      return rest === '' ? { kind: 'quit', position } : undefined;
    default:
      return undefined;
  }
}

function parseSet(rest: string, position: Position): CliStatement {
  if (rest === '' || rest === '-v') return { kind: 'set', verbose: rest === '-v', position };
  const equals = rest.indexOf('=');
  if (equals < 0) return { kind: 'set', verbose: false, key: rest, position };
  const key = rest.slice(0, equals).trim();
  return { kind: 'set', verbose: false, key, value: rest.slice(equals + 1).trim(), position };
}

const RESOURCE = /^(jar|file|archive)s?(?!\w)\s*([\s\S]*)$/i;

function parseResource(
  action: ResourceStatement['action'],
  rest: string,
  position: Position,
): CliStatement | undefined {
  const match = RESOURCE.exec(rest);
  if (match === null) return undefined;
  const type = match[1].toLowerCase() as ResourceStatement['type'];
  return { kind: 'resource', action, type, paths: splitWords(match[2]), position };
}

/** Words as a shell takes them: blanks divide, quotes keep together and vanish. */
function splitWords(text: string): string[] {
  const words = text.match(/(?:"[^"]*"|'[^']*'|\\.|[^\s"'\\])+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single));
}

function unquote(text: string): string {
  return /^(["']).*\1$/.test(text) ? text.slice(1, -1) : text;
}
