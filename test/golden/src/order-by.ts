/** The outermost ORDER BY of a statement, found in its text: which result columns decide the order of the rows. */

/** Calls `visit` with every position outside strings, comments and parentheses. */
function topLevel(text: string): string {
  let out = '';
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "'" || c === '"' || c === '`') {
      const start = i;
      for (i++; i < text.length && text[i] !== c; i++) if (text[i] === '\\' && c !== '`') i++;
      out += blank(text.slice(start, i + 1), depth);
      continue;
    }
    if (c === '-' && text[i + 1] === '-') {
      const end = text.indexOf('\n', i);
      const stop = end < 0 ? text.length : end;
      out += ' '.repeat(stop - i);
      i = stop - 1;
      continue;
    }
    if (c === '(') depth++;
    out += depth > 0 ? '\u0001' : c;
    if (c === ')') depth--;
  }
  return out;
}

/** A quoted text keeps its length but none of its words. */
const blank = (quoted: string, depth: number): string =>
  depth > 0 ? '\u0001'.repeat(quoted.length) : `\u0002${'\u0001'.repeat(Math.max(quoted.length - 1, 0))}`;

/** Splits at the commas outside parentheses and quotes. */
function splitList(text: string): string[] {
  const mask = topLevel(text);
  const parts: string[] = [];
  let start = 0;
  for (let i = 0; i <= mask.length; i++) {
    if (i === mask.length || mask[i] === ',') {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  return parts;
}

/** The sort keys of the outermost ORDER BY without their direction; undefined where there is none. */
export function outermostOrderBy(statement: string): string[] | undefined {
  const mask = topLevel(statement);
  let at: RegExpExecArray | undefined;
  for (const match of mask.matchAll(/\border\s+by\b/gi)) at = match;
  if (at === undefined) return undefined;
  const from = at.index + at[0].length;
  const end = /\b(limit|offset|union|fetch)\b/i.exec(mask.slice(from));
  const list = statement.slice(from, end === null ? undefined : from + end.index);
  return splitList(list).map((key) =>
    key
      .replace(/\s+nulls\s+(first|last)\s*$/i, '')
      .replace(/\s+(asc|desc)\s*$/i, '')
      .trim(),
  );
}

/** The select list of the outermost query; empty where it cannot be told. */
export function selectItems(statement: string): string[] {
  const mask = topLevel(statement);
  const select = /\bselect\b(\s+(?:distinct|all)\b)?/i.exec(mask);
  if (select === null) return [];
  const from = select.index + select[0].length;
  const end = /\bfrom\b/i.exec(mask.slice(from));
  return splitList(statement.slice(from, end === null ? undefined : from + end.index));
}

const plain = (text: string): string => text.replaceAll('`', '').replace(/\s+/g, ' ').toLowerCase();

/**
 * Which result columns the keys are, by position, name, or the expression's own text; undefined where a key is not among the
 * columns, so that ties cannot be told from the rows.
 */
export function orderColumns(statement: string, columns: readonly string[]): number[] | undefined {
  const keys = outermostOrderBy(statement);
  if (keys === undefined) return undefined;
  const names = columns.map((column) => plain(column.slice(0, column.indexOf(':'))));
  const items = selectItems(statement);
  const hasStar = items.some((item) => /(^|\.)\*$/.test(item));
  const found = keys.map((key) => {
    if (/^\d+$/.test(key)) return Number(key) - 1;
    const text = plain(key);
    const last = text.slice(text.lastIndexOf('.') + 1);
    const byName = names.findIndex((name) => name === text || name === last || name.endsWith(`.${text}`));
    if (byName >= 0) return byName;
    const byItem = hasStar ? -1 : items.findIndex((item) => plain(item).replace(/\s+as\s+\S+$/, '') === text);
    return byItem;
  });
  return found.every((index) => index >= 0 && index < columns.length) ? found : undefined;
}
