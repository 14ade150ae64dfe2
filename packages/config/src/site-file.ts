import { SiteFileError } from './errors.js';

/** One `<property>` of hive-site.xml. */
export interface SiteProperty {
  readonly name: string;
  readonly value: string;
  readonly isFinal: boolean;
  /** The file it is in, for errors. */
  readonly file: string;
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
  readonly attributes?: string;
  readonly close?: string;
  readonly text?: string;
}

/** Tags and text; comments and declarations are passed over. */
function* tokens(xml: string, path: string): Generator<Token> {
  const pattern =
    /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<!DOCTYPE[^>]*>|<(\/?)([\w:.-]+)((?:"[^"]*"|'[^']*'|[^>"'])*?)(\/?)>|[^<]+/gy;
  let at = 0;
  while (at < xml.length) {
    pattern.lastIndex = at;
    const match = pattern.exec(xml);
    if (match === null) throw new SiteFileError(path, at, `not XML: '${xml.slice(at, at + 20)}'`);
    const [whole, cdata, slash, tag, attributes, empty] = match;
    if (cdata !== undefined) yield { at, text: cdata };
    else if (tag !== undefined) {
      if (slash === '/') yield { at, close: tag };
      else {
        yield { at, open: tag, attributes };
        if (empty === '/') yield { at, close: tag };
      }
    } else if (!whole.startsWith('<')) yield { at, text: decodeText(whole) };
    at = pattern.lastIndex;
  }
}

/** `name="a" value='b'`. */
function attributesOf(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, name, double, single] of text.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    found[name] = decodeText(double ?? single);
  }
  return found;
}

/**
 * Reads the properties of a Hadoop configuration file: `<configuration><property><name/><value/><final/>`, or the same as
 * attributes of `property`. One without a value is passed over, as Hadoop does. `path` is for errors only.
 */
export function readSiteFile(xml: string, path = 'hive-site.xml'): SiteProperty[] {
  const properties: SiteProperty[] = [];
  const stack: string[] = [];
  let fields: Record<string, string> = {};
  for (const token of tokens(xml.replace(/^\ufeff/, ''), path)) {
    if (token.open !== undefined) {
      if (/^(?:\w+:)?include$/.test(token.open) && stack.at(-1) !== 'property') {
        const { href = '?' } = attributesOf(token.attributes ?? '');
        throw new SiteFileError(path, token.at, `files are not included (${href}): write its properties here`);
      }
      stack.push(token.open);
      if (token.open === 'property') fields = attributesOf(token.attributes ?? '');
      else if (stack.at(-2) === 'property') fields[token.open] = '';
    } else if (token.close !== undefined) {
      const opened = stack.pop();
      if (opened !== token.close) throw new SiteFileError(path, token.at, `</${token.close}> closes <${opened ?? ''}>`);
      if (token.close === 'property') {
        const name = fields.name?.trim() ?? '';
        if (name === '') throw new SiteFileError(path, token.at, 'a property without a name');
        const isFinal = fields.final?.trim().toLowerCase() === 'true';
        if (fields.value !== undefined) properties.push({ name, value: fields.value.trim(), isFinal, file: path });
      }
    } else if (token.text !== undefined && stack.at(-2) === 'property') {
      const tag = stack[stack.length - 1];
      fields[tag] += token.text;
    }
  }
  if (stack.length > 0) throw new SiteFileError(path, xml.length, `<${stack[stack.length - 1]}> is not closed`);
  return properties;
}
