import type { XmlNode } from './xml-node.js';

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
const NAME = /[\p{L}_:][\p{L}\p{N}_:.\-\u00B7]*/uy;
const SPACE = /[ \t\r\n]*/y;
const DEEPEST = 1000;

/** A well-formed XML text as nodes; undefined where it is not well-formed. A document type is skipped, its entities are not read. */
export function parseXml(text: string): XmlNode | undefined {
  return new XmlParser(text.replace(/^\uFEFF/, '')).document();
}

class XmlParser {
  private at = 0;
  private order = 0;

  constructor(private readonly text: string) {}

  document(): XmlNode | undefined {
    const root = this.node('root', '', '', undefined);
    let elements = 0;
    if (this.text.startsWith('<?xml') && !this.skipPast('?>')) return undefined;
    for (;;) {
      this.match(SPACE);
      if (this.at >= this.text.length) return elements === 1 ? root : undefined;
      if (this.text.startsWith('<!DOCTYPE', this.at)) {
        if (elements > 0 || !this.doctype()) return undefined;
      } else if (this.text.startsWith('<!--', this.at) || this.text.startsWith('<?', this.at)) {
        if (!this.markup(root)) return undefined;
      } else if (this.text[this.at] !== '<' || ++elements > 1 || !this.element(root, 0)) return undefined;
    }
  }

  private node(kind: XmlNode['kind'], name: string, value: string, parent: XmlNode | undefined): XmlNode {
    return { kind, name, value, parent, children: [], attributes: [], order: this.order++ };
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? '';
    this.at += found.length;
    return found;
  }

  private skipPast(end: string): boolean {
    const found = this.text.indexOf(end, this.at);
    if (found < 0) return false;
    this.at = found + end.length;
    return true;
  }

  private doctype(): boolean {
    let depth = 0;
    for (; this.at < this.text.length; this.at++) {
      const c = this.text[this.at];
      if (c === '[') depth++;
      else if (c === ']') depth--;
      else if (c === '>' && depth === 0) {
        this.at++;
        return true;
      }
    }
    return false;
  }

  /** A comment or a processing instruction. */
  private markup(parent: XmlNode): boolean {
    const comment = this.text[this.at + 1] === '!';
    const start = this.at + (comment ? 4 : 2);
    const end = comment ? '-->' : '?>';
    this.at = start;
    if (!this.skipPast(end)) return false;
    const inner = this.text.slice(start, this.at - end.length);
    if (comment) parent.children.push(this.node('comment', '', inner, parent));
    else {
      const [name, ...rest] = inner.split(/[ \t\r\n]+/);
      parent.children.push(this.node('instruction', name, rest.join(' '), parent));
    }
    return true;
  }

  private element(parent: XmlNode, depth: number): boolean {
    if (depth > DEEPEST) return false;
    this.at++;
    const name = this.match(NAME);
    if (name === '') return false;
    const element = this.node('element', name, '', parent);
    parent.children.push(element);
    for (;;) {
      const space = this.match(SPACE);
      if (this.text.startsWith('/>', this.at)) {
        this.at += 2;
        return true;
      }
      if (this.text[this.at] === '>') break;
      if (space === '' || !this.attribute(element)) return false;
    }
    this.at++;
    return this.content(element, depth) && this.endTag(name);
  }

  private attribute(element: XmlNode): boolean {
    const name = this.match(NAME);
    this.match(SPACE);
    if (name === '' || this.text[this.at] !== '=') return false;
    this.at++;
    this.match(SPACE);
    const quote = this.text[this.at];
    if (quote !== '"' && quote !== "'") return false;
    const end = this.text.indexOf(quote, this.at + 1);
    if (end < 0) return false;
    const value = resolved(this.text.slice(this.at + 1, end));
    if (value === undefined || element.attributes.some((known) => known.name === name)) return false;
    this.at = end + 1;
    const attribute = this.node('attribute', name, value.replace(/[\t\r\n]/g, ' '), element);
    element.attributes.push(attribute);
    return true;
  }

  private content(element: XmlNode, depth: number): boolean {
    let text = '';
    const flush = () => {
      if (text !== '') element.children.push(this.node('text', '', text, element));
      text = '';
    };
    while (this.at < this.text.length) {
      if (this.text.startsWith('<![CDATA[', this.at)) {
        const start = this.at + 9;
        if (!this.skipPast(']]>')) return false;
        text += this.text.slice(start, this.at - 3);
      } else if (this.text.startsWith('</', this.at)) {
        flush();
        return true;
      } else if (this.text[this.at] === '<') {
        flush();
        const isMarkup = this.text.startsWith('<!--', this.at) || this.text.startsWith('<?', this.at);
        if (isMarkup ? !this.markup(element) : !this.element(element, depth + 1)) return false;
      } else {
        const end = this.text.indexOf('<', this.at);
        if (end < 0) return false;
        const part = resolved(this.text.slice(this.at, end).replace(/\r\n?/g, '\n'));
        if (part === undefined) return false;
        text += part;
        this.at = end;
      }
    }
    return false;
  }

  private endTag(name: string): boolean {
    this.at += 2;
    if (this.match(NAME) !== name) return false;
    this.match(SPACE);
    if (this.text[this.at] !== '>') return false;
    this.at++;
    return true;
  }
}

/** Text with its entities replaced; undefined where one is unknown or a bare < or & stands there. */
function resolved(text: string): string | undefined {
  if (text.includes('<')) return undefined;
  let known = true;
  const result = text.replace(/&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));|&/g, (_, decimal, hexadecimal, name) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hexadecimal !== undefined) return String.fromCodePoint(Number.parseInt(hexadecimal, 16));
    const value = ENTITIES[name ?? ''];
    if (value === undefined) known = false;
    return value ?? '';
  });
  return known ? result : undefined;
}
