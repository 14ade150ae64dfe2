import type { Identifier, Position, Query, TableName } from './ast.js';
import { beginsClause, RESERVED } from './keywords.js';
import { lineIndexOf, TokenKind, type Tokens, tokenize } from './lexer.js';
import { ParseError } from './parse-error.js';
import { unquoteString } from './string-literal.js';

/** Some ten JavaScript frames a level: far below Node's default stack. */
const MAX_DEPTH = 500;

const LEFT_OUT = new Set(['by', 'set', 'from', 'table']);

/** A place in the tokens of one statement, with the few moves the grammar is written in. Rules are free functions over it. */
export class Cursor {
  readonly text: string;
  /** Parses a query: expressions hold queries and queries expressions, so the expression rules get the query rule here. */
  readonly parseQuery: (cursor: Cursor) => Query;
  index = 0;
  private readonly tokens: Tokens;
  private line = 0;
  private depth = 0;

  constructor(text: string, parseQuery: (cursor: Cursor) => Query) {
    this.text = text;
    this.tokens = tokenize(text);
    this.parseQuery = parseQuery;
  }

  /** The word or symbol `ahead` tokens from here, '' for literals, quoted names and the end. */
  word(ahead = 0): string {
    return this.tokens.words[this.index + ahead] ?? '';
  }

  kind(ahead = 0): TokenKind {
    return this.tokens.kinds[this.index + ahead] ?? TokenKind.end;
  }

  /** Whether the words from here on are these. */
  at(...words: readonly string[]): boolean {
    for (let i = 0; i < words.length; i++) if (this.word(i) !== words[i]) return false;
    return true;
  }

  atOneOf(words: readonly string[]): boolean {
    return words.includes(this.word());
  }

  get ended(): boolean {
    return this.kind() === TokenKind.end;
  }

  /** Steps over these words if all of them are next. */
  accept(...words: readonly string[]): boolean {
    if (!this.at(...words)) return false;
    this.index += words.length;
    return true;
  }

  /** Steps over the one of the words that is next, and tells which. */
  acceptOneOf<W extends string>(words: readonly W[]): W | undefined {
    const word = this.word();
    const found = words.find((w) => w === word);
    if (found !== undefined) this.index++;
    return found;
  }

  /** Steps over these words or fails in Hive's form. */
  expect(rule: string, ...words: readonly string[]): void {
    for (const word of words) {
      if (!this.accept(word)) this.mismatch(word, rule);
    }
  }

  /** The text of the token `ahead` tokens from here as written. */
  raw(ahead = 0): string {
    const i = Math.min(this.index + ahead, this.tokens.kinds.length - 1);
    return this.tokens.kinds[i] === TokenKind.end
      ? '<EOF>'
      : this.text.slice(this.tokens.starts[i], this.tokens.ends[i]);
  }

  startOffset(): number {
    return this.tokens.starts[this.index];
  }

  previousEnd(): number {
    return this.index === 0 ? 0 : this.tokens.ends[this.index - 1];
  }

  /** From the token at `startIndex` to the last token read. */
  position(startIndex: number): Position {
    const { starts, lineStarts } = this.tokens;
    const start = starts[startIndex];
    if (lineStarts[this.line] > start || (lineStarts[this.line + 1] ?? Number.POSITIVE_INFINITY) <= start) {
      this.line = lineIndexOf(lineStarts, start);
    }
    return {
      line: this.line + 1,
      column: start - lineStarts[this.line],
      start,
      end: Math.max(start, this.previousEnd()),
    };
  }

  isIdentifier(ahead = 0): boolean {
    const kind = this.kind(ahead);
    return kind === TokenKind.quoted || (kind === TokenKind.word && !RESERVED.has(this.word(ahead)));
  }

  /** Whether a name without AS stands here that is not the start of a clause. */
  isAlias(): boolean {
    return this.isIdentifier() && !beginsClause(this.word(), this.word(1), this.kind(1) === TokenKind.number);
  }

  identifier(rule: string): Identifier {
    if (!this.isIdentifier()) this.fail(rule);
    return this.anyWord();
  }

  /** The word here as a name, reserved or not: the caller has looked. */
  anyWord(): Identifier {
    const quoted = this.kind() === TokenKind.quoted;
    const raw = this.raw();
    const name = quoted ? raw.slice(1, -1).replaceAll('``', '`') : raw;
    return { name, quoted, position: this.position(this.index++) };
  }

  /** `AS x`, or x alone. */
  alias(rule: string): Identifier | undefined {
    if (this.at('as')) {
      if (!this.isIdentifier(1)) this.failAfter(rule);
      this.index++;
      return this.anyWord();
    }
    return this.isAlias() ? this.anyWord() : undefined;
  }

  tableName(rule = 'table name'): TableName {
    const start = this.index;
    const parts = [this.identifier(rule)];
    while (parts.length < 3 && this.at('.')) {
      this.index++;
      parts.push(this.identifier(rule));
    }
    const position = this.position(start);
    if (parts.length === 1) return { name: parts[0], position };
    return { database: parts[0], name: parts[1], ...(parts.length === 3 ? { metadataTable: parts[2] } : {}), position };
  }

  /** One literal; where Hive takes adjacent ones (expressions) see `literal`. */
  string(rule: string): string {
    if (this.kind() !== TokenKind.string) this.mismatch('StringLiteral', rule);
    const literal = this.raw();
    this.index++;
    return unquoteString(literal);
  }

  acceptString(): string | undefined {
    return this.kind() === TokenKind.string ? this.string('') : undefined;
  }

  integer(rule: string): number {
    if (this.kind() !== TokenKind.number || !/^\d+$/.test(this.raw())) this.mismatch('Number', rule);
    const value = Number(this.raw());
    this.index++;
    return value;
  }

  /** One or more, separated by commas. */
  list<T>(item: () => T): T[] {
    const items = [item()];
    while (this.accept(',')) items.push(item());
    return items;
  }

  /** A list in parentheses. */
  parenthesised<T>(rule: string, item: () => T): T[] {
    this.expect(rule, '(');
    const items = this.list(item);
    this.expect(rule, ')');
    return items;
  }

  /** Runs a rule that contains itself: text nested too deeply is an error of the text, not of the stack. */
  nested<T>(rule: (cursor: Cursor) => T): T {
    if (++this.depth > MAX_DEPTH) this.error(`nested more than ${MAX_DEPTH} levels deep at '${this.raw()}'`);
    const result = rule(this);
    this.depth--;
    return result;
  }

  /** The index of the parenthesis that closes the one at `open` (indexes of tokens), or of the end. */
  closingIndex(open: number): number {
    const { words, kinds } = this.tokens;
    let depth = 0;
    for (let i = open; i < kinds.length; i++) {
      if (words[i] === '(') depth++;
      else if (words[i] === ')' && --depth === 0) return i;
    }
    return kinds.length - 1;
  }

  /** "cannot recognize input near …": three tokens from `decision` (default here), as ANTLR names the place where it had to choose. */
  fail(rule: string, decision = this.index): never {
    const back = decision - this.index;
    const near = [0, 1, 2].map((i) => `'${this.raw(back + i)}'`).join(' ');
    this.error(`cannot recognize input near ${near}${rule === '' ? '' : ` in ${rule}`}`);
  }

  /** The same where the word here is known but nothing fits behind it: points at the next token, and names this one first. */
  failAfter(rule: string): never {
    this.index++;
    return this.fail(rule, this.index - 1);
  }

  mismatch(expected: string, rule: string): never {
    const name = /^[a-z_]+$/.test(expected) ? expected.toUpperCase() : expected;
    if (this.word(1) === expected)
      this.error(`extraneous input '${this.raw()}' expecting ${name} near '${this.raw(2)}'`);
    // Where the word itself is only left out, Hive's parser sees that the rest fits.
    if (LEFT_OUT.has(expected) && this.isIdentifier()) this.error(`missing ${name} at '${this.raw()}' near '<EOF>'`);
    this.error(
      `mismatched input '${this.raw()}' expecting ${name} near '${this.before()}'${rule === '' ? '' : ` in ${rule}`}`,
    );
  }

  /** Nothing may follow. */
  expectEnd(): void {
    if (this.ended) return;
    if (this.kind(1) === TokenKind.end) this.error(`extraneous input '${this.raw()}' expecting EOF near '<EOF>'`);
    this.error(`missing EOF at '${this.raw()}' near '${this.before()}'`);
  }

  error(what: string): never {
    const { line, column } = this.position(this.index);
    throw new ParseError(line, column, this.raw(), what);
  }

  private before(): string {
    return this.index === 0 ? '<EOF>' : this.raw(-1);
  }
}
