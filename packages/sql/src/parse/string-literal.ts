const SINGLE: Readonly<Record<string, string>> = { '0': '\0', b: '\b', n: '\n', r: '\r', t: '\t', Z: '\x1a' };
/** How a character is written; NUL in full, because digits may follow it. */
const NAMES = new Map(Object.entries(SINGLE).map(([name, c]) => [c, name === '0' ? '000' : name]));
const UNICODE = /^[0-9a-fA-F]{4}$/;
const OCTAL = /^[01][0-7][0-7]$/;

/**
 * The value of a quoted literal (Hive: BaseSemanticAnalyzer.unescapeSQLString): `\u0041`, `\101` (octal up to \177), `\n`, `\0`,
 * `\Z`; `\%` and `\_` keep their backslash for LIKE; a backslash before anything else vanishes. A doubled quote gives nothing
 * ('it''s' is "its"), because Hive sees two adjacent literals.
 */
export function unquoteString(literal: string): string {
  const quote = literal[0];
  const inner = literal.slice(1, -1);
  if (!inner.includes('\\') && !inner.includes(quote)) return inner;
  let value = '';
  for (let at = 0; at < inner.length; at++) {
    const c = inner[at];
    if (c === quote) continue;
    if (c !== '\\' || at + 1 === inner.length) {
      value += c;
      continue;
    }
    const next = inner[++at];
    const four = inner.slice(at + 1, at + 5);
    const three = inner.slice(at, at + 3);
    if (next === 'u' && UNICODE.test(four)) {
      value += String.fromCharCode(Number.parseInt(four, 16));
      at += 4;
    } else if (OCTAL.test(three)) {
      value += String.fromCharCode(Number.parseInt(three, 8));
      at += 2;
    } else if (next === '%' || next === '_') {
      value += `\\${next}`;
    } else {
      value += SINGLE[next] ?? next;
    }
  }
  return value;
}

/** A Hive literal whose value is `value`, in single quotes: the inverse of `unquoteString`, except that a backslash before % or _ stays. */
export function quoteString(value: string): string {
  let escaped = '';
  for (let at = 0; at < value.length; at++) {
    const c = value[at];
    const named = NAMES.get(c);
    const keeps = c === '\\' && (value[at + 1] === '%' || value[at + 1] === '_');
    escaped += named !== undefined ? `\\${named}` : (c === '\\' && !keeps) || c === "'" ? `\\${c}` : c;
  }
  return `'${escaped}'`;
}
