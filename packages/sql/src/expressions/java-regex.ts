import { semantic } from './errors.js';

const CACHE_LIMIT = 200;
const cache = new Map<string, RegExp>();

const CLASSES: Readonly<Record<string, string>> = {
  Lower: 'a-z',
  Upper: 'A-Z',
  ASCII: '\\x00-\\x7F',
  Alpha: 'a-zA-Z',
  Digit: '0-9',
  Alnum: 'a-zA-Z0-9',
  Punct: '!-\\/:-@\\[-`{-~',
  Graph: '!-~',
  Print: ' -~',
  Blank: ' \\t',
  Cntrl: '\\x00-\\x1F\\x7F',
  XDigit: '0-9a-fA-F',
  Space: ' \\t\\n\\x0B\\f\\r',
};

/** A java.util.regex pattern as a JavaScript one. What JavaScript cannot express is an error that names the pattern. */
export function javaRegex(pattern: string, flags = ''): RegExp {
  const key = `${flags}/${pattern}`;
  const known = cache.get(key);
  if (known !== undefined) {
    known.lastIndex = 0;
    return known;
  }
  const compiled = compile(pattern, flags);
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(key, compiled);
  return compiled;
}

function compile(pattern: string, flags: string): RegExp {
  const { source: translated, inline } = translate(pattern);
  // What && cuts has to be a class itself.
  const source = translated.replace(/\[(\^?)([^[\]&]+)&&/g, '[$1[$2]&&');
  // Classes with && are those of the newer Unicode mode.
  const all = [...new Set(`${flags}${inline}${source.includes('&&') ? 'v' : 'u'}`)].join('');
  try {
    return new RegExp(source, all);
  } catch {
    try {
      // Unicode mode refuses escapes that Java takes, such as \- and \_.
      return new RegExp(source, all.replace(/[uv]/, ''));
    } catch (error) {
      throw semantic(`Invalid regular expression '${pattern}': ${error instanceof Error ? error.message : ''}`);
    }
  }
}

function translate(pattern: string): { source: string; inline: string } {
  let inline = '';
  let source = '';
  let inClass = 0;
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i];
    if (c === '\\') {
      const next = pattern[i + 1] ?? '';
      i++;
      if (next === 'Q') {
        const end = pattern.indexOf('\\E', i + 1);
        const quoted = pattern.slice(i + 1, end < 0 ? pattern.length : end);
        source += quoted.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
        i = end < 0 ? pattern.length : end + 1;
      } else if (next === 'A') source += '^';
      else if (next === 'Z' || next === 'z') source += '$';
      else if (next === 'h') source += inClass > 0 ? ' \\t\\xA0' : '[ \\t\\xA0]';
      else if ((next === 'p' || next === 'P') && pattern[i + 1] === '{') {
        const end = pattern.indexOf('}', i);
        const name = pattern.slice(i + 2, end).replace(/^Is|^java/, '');
        const ascii = CLASSES[name];
        if (ascii === undefined) source += `\\${next}{${name}}`;
        else if (inClass > 0) source += ascii;
        else source += next === 'p' ? `[${ascii}]` : `[^${ascii}]`;
        i = end;
      } else source += /[A-Za-z0-9]/.test(next) || '\\^$.*+?()[]{}|/-'.includes(next) ? `\\${next}` : next;
      continue;
    }
    if (c === '[') inClass++;
    if (c === ']' && inClass > 0) inClass--;
    const flag = c === '(' ? /^\(\?([ims]+)\)/.exec(pattern.slice(i)) : null;
    if (flag !== null) {
      inline += flag[1];
      i += flag[0].length - 1;
      continue;
    }
    source += c;
  }
  return { source, inline };
}

/** RLIKE: an empty pattern matches nothing (GenericUDFRegExp). */
export const matchesRegex = (text: string, pattern: string): boolean => pattern !== '' && javaRegex(pattern).test(text);

/** Java's replacement text ($1, ${name}, \x) as a function of the match. */
export function javaReplace(subject: string, pattern: string, replacement: string): string {
  return subject.replace(javaRegex(pattern, 'g'), (...match: unknown[]) => {
    const groups = match as (string | undefined)[];
    let out = '';
    for (let i = 0; i < replacement.length; i++) {
      const c = replacement[i];
      if (c === '\\') out += replacement[++i] ?? '';
      else if (c === '$' && /\d/.test(replacement[i + 1] ?? '')) out += groups[Number(replacement[++i])] ?? '';
      else out += c;
    }
    return out;
  });
}
