import { SiteFileError } from './errors.js';

/** One `<property>` of hive-site.xml. */
export interface SiteProperty {
  readonly name: string;
  readonly value: string;
  readonly isFinal: boolean;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function decodeText(text: string): string {
  const plain = text.replace(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex: string, decimal: string, name: string) => {
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
      return ENTITIES[name] ?? whole;
    },
  );
  return plain;
}

interface Token {
  readonly at: number;
  readonly open?: string;
  readonly close?: string;
  readonly text?: string;
}

/** Tags and text; comments, declarations and attributes are passed over. */
function* tokens(xml: string, path: string): Generator<Token> {
  const pattern =
    /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<!DOCTYPE[^>]*>|<(\/?)([\w:.-]+)[^>]*?(\/?)>|[^<]+/gy;
  let at = 0;
  while (at < xml.length) {
    pattern.lastIndex = at;
    const match = pattern.exec(xml);
    if (match === null) throw new SiteFileError(path, at, `not XML: '${xml.slice(at, at + 20)}'`);
    const [whole, cdata, slash, tag, empty] = match;
    if (cdata !== undefined) yield { at, text: cdata };
    else if (tag !== undefined) {
      if (slash === '/') yield { at, close: tag };
      else {
        yield { at, open: tag };
        if (empty === '/') yield { at, close: tag };
      }
    } else if (!whole.startsWith('<')) yield { at, text: decodeText(whole) };
    at = pattern.lastIndex;
  }
}

/**
 * Reads the properties of a Hadoop configuration file: `<configuration><property><name/><value/><final/>`. A property
 * without a value is passed over, as Hadoop does. `path` is for errors only.
 */
export function readSiteFile(xml: string, path = 'hive-site.xml'): SiteProperty[] {
  const properties: SiteProperty[] = [];
  const stack: string[] = [];
  let fields: Record<string, string> = {};
  for (const token of tokens(xml.replace(/^\ufeff/, ''), path)) {
    if (token.open !== undefined) {
      stack.push(token.open);
      if (token.open === 'property') fields = {};
      else if (stack.at(-2) === 'property') fields[token.open] = '';
    } else if (token.close !== undefined) {
      const opened = stack.pop();
      if (opened !== token.close) throw new SiteFileError(path, token.at, `</${token.close}> closes <${opened ?? ''}>`);
      if (token.close === 'property') {
        const name = fields.name?.trim() ?? '';
        if (name === '') throw new SiteFileError(path, token.at, 'a property without a name');
        const isFinal = fields.final?.trim().toLowerCase() === 'true';
        if (fields.value !== undefined) properties.push({ name, value: fields.value.trim(), isFinal });
      }
    } else if (token.text !== undefined && stack.at(-2) === 'property') {
      const tag = stack[stack.length - 1];
      fields[tag] += token.text;
    }
  }
  if (stack.length > 0) throw new SiteFileError(path, xml.length, `<${stack[stack.length - 1]}> is not closed`);
  return properties;
}
