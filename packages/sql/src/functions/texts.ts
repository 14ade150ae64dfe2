import { javaDouble } from '../text/java-number.js';
import { STRING } from '../types/hive-type.js';
import { jsFunction } from './builder.js';
import type { ScalarFunction } from './definition.js';

/** get_json_object, parse_url: text with an inner form. */
export const textFunctions: readonly ScalarFunction[] = [
  jsFunction('string', 'get_json_object', ['string', 'string'], STRING, (json, path) =>
    jsonPath(json as string, path as string),
  ),
  jsFunction('string', 'parse_url', ['string', 'string', 'string?'], STRING, (url, part, key) =>
    urlPart(url as string, part as string, key as string | undefined),
  ),
];

/** UDFJson: `$`, `.name`, `[n]`, `[*]`; text comes without quotes, the rest as JSON. */
export function jsonPath(json: string, path: string): string | null {
  if (!path.startsWith('$')) return null;
  const root = parseJson(json);
  if (root === undefined) return null;
  const steps = [...path.slice(1).matchAll(/\.([^.[\]]+)|\[(\*|\d+)\]/g)];
  if (steps.map(([step]) => step).join('') !== path.slice(1)) return null;
  let values: unknown[] = [root];
  let many = false;
  for (const [, name, index] of steps) {
    const next: unknown[] = [];
    for (const value of values) {
      if (name !== undefined) {
        const targets = Array.isArray(value) ? value : [value];
        if (Array.isArray(value)) many = true;
        for (const target of targets) {
          if (typeof target === 'object' && target !== null && name in target)
            next.push((target as Record<string, unknown>)[name]);
        }
      } else if (Array.isArray(value)) {
        if (index === '*') {
          next.push(...value);
          many = true;
        } else if (Number(index) < value.length) next.push(value[Number(index)]);
      }
    }
    values = next;
    if (values.length === 0) return null;
  }
  if (many) return values.length === 1 ? jsonText(values[0]) : jsonOf(values);
  return jsonText(values[0]);
}

/** A number is kept as text behind this mark. */
const RAW = '\u0001';

function parseJson(json: string): unknown {
  const marked = json.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) => {
    if (token.startsWith('"')) return token;
    // A number with a fraction or an exponent comes back as Java writes doubles.
    if (/[.eE]/.test(token)) return `"\\u0001${javaDouble(Number(token))}"`;
    return token.length < 16 ? token : `"\\u0001${token}"`;
  });
  try {
    return JSON.parse(marked);
  } catch {
    return undefined;
  }
}

const jsonOf = (value: unknown): string => JSON.stringify(value).replace(/"\\u0001(-?[\d.E-]+|-?Infinity)"/g, '$1');

function jsonText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value.startsWith(RAW) ? value.slice(1) : value;
  return jsonOf(value);
}

/** java.net.URL's parts (UDFParseUrl). */
export function urlPart(url: string, part: string, key: string | undefined): string | null {
  const match = /^([a-zA-Z][a-zA-Z0-9+.-]*):(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(url);
  if (match === null || !/^(https?|ftp|file|jar|mailto)$/i.test(match[1])) return null;
  const [, protocol, authority = '', path, query, ref] = match;
  const at = authority.lastIndexOf('@');
  switch (part) {
    case 'HOST':
      return authority.slice(at + 1).replace(/:\d*$/, '');
    case 'PATH':
      return path;
    case 'QUERY':
      if (query === undefined) return null;
      return key === undefined ? query : queryValue(query, key);
    case 'REF':
      return ref ?? null;
    case 'PROTOCOL':
      return protocol;
    case 'FILE':
      return query === undefined ? path : `${path}?${query}`;
    case 'AUTHORITY':
      return authority === '' ? null : authority;
    case 'USERINFO':
      return at < 0 ? null : authority.slice(0, at);
    default:
      return null;
  }
}

function queryValue(query: string, key: string): string | null {
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals) === key) return pair.slice(equals + 1);
  }
  return null;
}
