import { semantic } from '../expressions/errors.js';
import { javaRegex, javaReplace, matchesRegex } from '../expressions/java-regex.js';
import { likeSql } from '../expressions/pattern-match.js';
import { arrayOf, BOOLEAN, STRING } from '../types/hive-type.js';
import { convertArguments, customFunction, jsFunction, result } from './builder.js';
import type { ScalarFunction } from './definition.js';

/** Java's String.split with a limit (-1: none): an empty match at the start splits nothing off. */
export function javaSplit(text: string, pattern: string, limit = -1): string[] {
  const regex = javaRegex(pattern, 'g');
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(regex)) {
    const { index } = match;
    if (match[0] === '' && index === 0) continue;
    if (limit > 0 && parts.length === limit - 1) break;
    parts.push(text.slice(from, index));
    from = index + match[0].length;
  }
  parts.push(text.slice(from));
  return parts;
}

export const regexFunctions: readonly ScalarFunction[] = [
  jsFunction('string', 'regexp_replace', ['string', 'string', 'string'], STRING, (s, p, r) =>
    javaReplace(s as string, p as string, r as string),
  ),
  jsFunction('string', 'regexp_extract', ['string', 'string', 'int?'], STRING, (s, p, group) => {
    const index = group === undefined ? 1 : (group as number);
    const match = javaRegex(p as string).exec(s as string);
    if (match === null) return '';
    if (index < 0 || index >= match.length)
      throw semantic(`REGEXP_EXTRACT: no group ${index} in '${p}'`, undefined, 10014);
    return match[index] ?? null;
  }),
  jsFunction('string', 'split', ['string', 'string'], arrayOf(STRING), (s, p) => javaSplit(s as string, p as string)),
  customFunction('string', 'regexp rlike', 'string, pattern', (call) => {
    const [s, p] = convertArguments(call, ['string', 'string']);
    const sql = call.analysis.udfs.call('regexp_matches', [STRING, STRING], BOOLEAN, [s.sql, p.sql], (text, pattern) =>
      matchesRegex(text as string, pattern as string),
    );
    return result(call, BOOLEAN, sql);
  }),
  customFunction('string', 'like', 'string, pattern', (call) => {
    const [s, p] = convertArguments(call, ['string', 'string']);
    return result(call, BOOLEAN, likeSql(call.analysis, s.sql, p));
  }),
];
