import { ParseError } from './parse-error.js';

/** What a token is. Keywords are plain identifiers here: which word is reserved depends on the place (keywords.ts). */
export const TokenKind = {
  word: 0,
  quoted: 1,
  string: 2,
  /** 1, 1.5, 1e10 */
  number: 3,
  /** 1L, 1S, 1Y, 1.5D, 1BD */
  suffixed: 4,
  /** 100M of TABLESAMPLE */
  byteLength: 5,
  /** `_utf8`, `0xAB`: Hive's character set literals, which skep refuses */
  characterSet: 6,
  symbol: 7,
  hint: 8,
  end: 9,
} as const;
export type TokenKind = (typeof TokenKind)[keyof typeof TokenKind];

/**
 * All tokens of a text, as parallel arrays: a bulk INSERT has hundreds of thousands. `words` has what a token compares by:
 * a word in lower case, a symbol (`==` as `=`, `!=` as `<>`), '' for everything else, so that `` `select` `` equals no keyword.
 */
export interface Tokens {
  readonly text: string;
  readonly kinds: TokenKind[];
  readonly starts: number[];
  readonly ends: number[];
  readonly words: string[];
  /** Offsets of the lines' first characters. */
  readonly lineStarts: number[];
}

const WORD = 1;
const DIGIT = 2;
const SPACE = 3;
const classes = characterClasses();

function characterClasses(): Uint8Array {
  const table = new Uint8Array(128);
  for (let c = 0x30; c <= 0x39; c++) table[c] = DIGIT;
  for (let c = 0x41; c <= 0x5a; c++) table[c] = table[c + 32] = WORD;
  for (const c of [0x20, 0x09, 0x0a, 0x0d]) table[c] = SPACE;
  return table;
}

const SYMBOLS = new Set('( ) [ ] { } , . ; : + - * / % & | ^ ~ = < > ! ? $'.split(' '));
const LONG_SYMBOLS = ['<=>', '<=', '<>', '>=', '==', '!=', '||'];
const SAME_AS: ReadonlyMap<string, string> = new Map([
  ['==', '='],
  ['!=', '<>'],
  ['!', 'not'],
]);

const isWordPart = (c: number): boolean => c === 0x5f || (c < 128 && (classes[c] === WORD || classes[c] === DIGIT));
const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39;

/**
 * Cuts a text into tokens by the rules of Hive's lexer (HiveLexerParent.g, HiveLexerStandard.g): words start with a letter or
 * a digit (`1t` is a name), `--` and slash-star comments vanish, quoted text keeps its quotes until it is used.
 */
export function tokenize(text: string): Tokens {
  const tokens: Tokens = { text, kinds: [], starts: [], ends: [], words: [], lineStarts: lineStartsOf(text) };
  const { kinds, starts, ends, words } = tokens;
  const length = text.length;
  const push = (kind: TokenKind, start: number, end: number, word: string) => {
    kinds.push(kind);
    starts.push(start);
    ends.push(end);
    words.push(word);
  };
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < length) {
    const c = text.charCodeAt(at);
    const kind = c < 128 ? classes[c] : 0;
    if (kind === SPACE) {
      at++;
    } else if (kind === WORD) {
      let end = at + 1;
      while (end < length && isWordPart(text.charCodeAt(end))) end++;
      push(TokenKind.word, at, end, text.slice(at, end).toLowerCase());
      at = end;
    } else if (kind === DIGIT) {
      at = scanNumber(tokens, at);
    } else if (c === 0x27 || c === 0x22) {
      const end = scanString(tokens, at, c);
      push(TokenKind.string, at, end, '');
      at = end;
    } else if (c === 0x60) {
      const end = scanBackquoted(tokens, at);
      push(TokenKind.quoted, at, end, '');
      at = end;
    } else if (c === 0x2d && text.charCodeAt(at + 1) === 0x2d) {
      const newline = text.indexOf('\n', at);
      at = newline < 0 ? length : newline + 1;
    } else if (c === 0x2f && text.charCodeAt(at + 1) === 0x2a) {
      const close = text.indexOf('*/', at + 2);
      if (close < 0) throw errorAt(tokens, length, "mismatched character '<EOF>' expecting '*'", at, 'comment');
      if (text.charCodeAt(at + 2) === 0x2b && words[words.length - 1] === 'select')
        push(TokenKind.hint, at, close + 2, '');
      at = close + 2;
    } else if (c === 0x5f) {
      let end = at + 1;
      while (end < length && (isWordPart(text.charCodeAt(end)) || '-.:'.includes(text[end]))) end++;
      push(TokenKind.characterSet, at, end, '');
      at = end;
    } else {
      const symbol = symbolAt(text, at) ?? unknownCharacter(tokens, at);
      push(TokenKind.symbol, at, at + symbol.length, SAME_AS.get(symbol) ?? symbol);
      at += symbol.length;
    }
  }
  push(TokenKind.end, length, length, '');
  return tokens;
}

const WHOLE_WORD = /^(?:(\d+e\d+)|(\d+(?:[lsyd]|bd)|\d+e\d+(?:d|bd))|(\d+[bkmg])|(0x[0-9a-f]+))$/i;
const WHOLE_WORD_KINDS: readonly TokenKind[] = [
  TokenKind.number,
  TokenKind.suffixed,
  TokenKind.byteLength,
  TokenKind.characterSet,
];

function symbolAt(text: string, at: number): string | undefined {
  const one = text[at];
  const long = '<>=!|'.includes(one) ? LONG_SYMBOLS.find((symbol) => text.startsWith(symbol, at)) : undefined;
  return long ?? (SYMBOLS.has(one) ? one : undefined);
}

function unknownCharacter(tokens: Tokens, at: number): never {
  const character = String.fromCodePoint(tokens.text.codePointAt(at) ?? 0);
  throw errorAt(tokens, at, `character '${character}' not supported here`);
}

/** A number, or a word that begins with digits. */
function scanNumber(tokens: Tokens, start: number): number {
  const { text } = tokens;
  let end = start + 1;
  while (isDigit(text.charCodeAt(end))) end++;
  let kind: TokenKind = TokenKind.number;
  let word = '';
  if (isWordPart(text.charCodeAt(end))) {
    while (isWordPart(text.charCodeAt(end))) end++;
    const whole = text.slice(start, end);
    const match = WHOLE_WORD.exec(whole);
    const exponent = match === null && /^\d+e$/i.test(whole) ? scanExponent(text, end - 1) : end;
    if (match !== null) {
      kind = WHOLE_WORD_KINDS[match.findIndex((part, i) => i > 0 && part !== undefined) - 1];
    } else if (exponent > end) {
      end = exponent;
      ({ kind, end } = withSuffix(text, end));
    } else {
      kind = TokenKind.word;
      word = whole.toLowerCase();
    }
  } else if (text.charCodeAt(end) === 0x2e) {
    end++;
    while (isDigit(text.charCodeAt(end))) end++;
    ({ kind, end } = withSuffix(text, scanExponent(text, end)));
  }
  tokens.kinds.push(kind);
  tokens.starts.push(start);
  tokens.ends.push(end);
  tokens.words.push(word);
  return end;
}

/** A D or BD behind a number with a point or an exponent. */
function withSuffix(text: string, at: number): { kind: TokenKind; end: number } {
  const suffix = /^(?:bd|d)(?![A-Za-z0-9_])/i.exec(text.slice(at, at + 3));
  return suffix === null
    ? { kind: TokenKind.number, end: at }
    : { kind: TokenKind.suffixed, end: at + suffix[0].length };
}

/** The end of `e+12` at `at`, or `at` where there is none. */
function scanExponent(text: string, at: number): number {
  if ((text.charCodeAt(at) | 32) !== 0x65) return at;
  const sign = text.charCodeAt(at + 1);
  let end = at + (sign === 0x2b || sign === 0x2d ? 2 : 1);
  if (!isDigit(text.charCodeAt(end))) return at;
  while (isDigit(text.charCodeAt(end))) end++;
  return end;
}

/** A backslash keeps the next character from closing; a doubled quote continues the same token. */
function scanString(tokens: Tokens, start: number, quote: number): number {
  const { text } = tokens;
  for (let at = start + 1; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === 0x5c) at++;
    else if (c === quote) {
      if (text.charCodeAt(at + 1) !== quote) return at + 1;
      at++;
    }
  }
  throw errorAt(tokens, text.length, "character '<EOF>' not supported here", start, 'string');
}

function scanBackquoted(tokens: Tokens, start: number): number {
  const { text } = tokens;
  let at = start;
  do {
    at = text.indexOf('`', at + 1);
    if (at < 0) throw errorAt(tokens, text.length, "character '<EOF>' not supported here", start, 'quoted name');
  } while (text.charCodeAt(at + 1) === 0x60 && ++at > 0);
  return at + 1;
}

function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The index of the line that has `offset`. */
export function lineIndexOf(lineStarts: readonly number[], offset: number): number {
  let low = 0;
  let high = lineStarts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (lineStarts[middle] <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function errorAt(tokens: Tokens, offset: number, what: string, openedAt?: number, opened?: string): ParseError {
  const place = (at: number): [number, number] => {
    const line = lineIndexOf(tokens.lineStarts, at);
    return [line + 1, at - tokens.lineStarts[line]];
  };
  const [line, column] = place(offset);
  const hint =
    openedAt === undefined ? '' : ` (the ${opened} that begins at line ${place(openedAt).join(':')} is not closed)`;
  return new ParseError(line, column, tokens.text[offset] ?? '<EOF>', what + hint);
}
