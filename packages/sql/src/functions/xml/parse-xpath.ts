/** What an XPath 1.0 expression is made of (https://www.w3.org/TR/1999/REC-xpath-19991116). */
export type XPath =
  | { readonly kind: 'binary'; readonly operator: string; readonly left: XPath; readonly right: XPath }
  | { readonly kind: 'negate'; readonly operand: XPath }
  | { readonly kind: 'literal'; readonly value: string | number }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly XPath[] }
  | { readonly kind: 'path'; readonly from: 'root' | 'context' | XPath; readonly steps: readonly Step[] }
  | { readonly kind: 'filter'; readonly base: XPath; readonly predicates: readonly XPath[] };

export interface Step {
  readonly axis: string;
  /** A name, `*`, or a type of node with parentheses: `text()`. */
  readonly test: string;
  readonly predicates: readonly XPath[];
}

const TOKEN =
  /\s*(?:(\d+(?:\.\d*)?|\.\d+)|"([^"]*)"|'([^']*)'|(\.\.|::|\/\/|!=|<=|>=|[()[\].@,|+\-=<>/*$])|([\p{L}_][\p{L}\p{N}_.-]*(?::(?:[\p{L}_][\p{L}\p{N}_.-]*|\*))?))/uy;

interface Token {
  readonly kind: 'number' | 'string' | 'symbol' | 'name';
  readonly text: string;
}

const BINARY: readonly (readonly string[])[] = [
  ['or'],
  ['and'],
  ['=', '!='],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*', 'div', 'mod'],
];
const NODE_TYPES = ['text', 'node', 'comment', 'processing-instruction'];
const SELF: Step = { axis: 'self', test: 'node()', predicates: [] };
const DESCENDANT: Step = { axis: 'descendant-or-self', test: 'node()', predicates: [] };

/** undefined where the text is no expression. */
export function parseXPath(text: string): XPath | undefined {
  const tokens = tokenize(text);
  if (tokens === undefined) return undefined;
  const parser = new XPathParser(tokens);
  const parsed = parser.binary(0);
  return parser.ended ? parsed : undefined;
}

function tokenize(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  let at = 0;
  while (text.slice(at).trim() !== '') {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) return undefined;
    at = TOKEN.lastIndex;
    const [, number, double, single, symbol, name] = match;
    if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (symbol !== undefined) tokens.push({ kind: 'symbol', text: symbol });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else tokens.push({ kind: 'string', text: double ?? single });
  }
  return tokens;
}

class XPathParser {
  private at = 0;
  constructor(private readonly tokens: readonly Token[]) {}

  get ended(): boolean {
    return this.at === this.tokens.length;
  }

  private is(text: string, ahead = 0): boolean {
    const token = this.tokens[this.at + ahead];
    return token !== undefined && token.text === text && token.kind !== 'string';
  }

  private accept(text: string): boolean {
    if (!this.is(text)) return false;
    this.at++;
    return true;
  }

  binary(level: number): XPath | undefined {
    const operators = BINARY[level];
    if (operators === undefined) return this.unary();
    let left = this.binary(level + 1);
    while (left !== undefined) {
      const operator = operators.find((text) => this.is(text));
      if (operator === undefined) return left;
      this.at++;
      const right = this.binary(level + 1);
      if (right === undefined) return undefined;
      left = { kind: 'binary', operator, left, right };
    }
    return left;
  }

  private unary(): XPath | undefined {
    if (this.accept('-')) {
      const operand = this.unary();
      return operand === undefined ? undefined : { kind: 'negate', operand };
    }
    let left = this.path();
    while (left !== undefined && this.accept('|')) {
      const right = this.path();
      if (right === undefined) return undefined;
      left = { kind: 'binary', operator: '|', left, right };
    }
    return left;
  }

  private path(): XPath | undefined {
    const primary = this.primary();
    if (primary === null) return undefined;
    if (primary !== undefined) {
      const predicates = this.predicates();
      if (predicates === undefined) return undefined;
      const base: XPath = predicates.length === 0 ? primary : { kind: 'filter', base: primary, predicates };
      return this.is('/') || this.is('//') ? this.steps(base, []) : base;
    }
    if (this.is('//')) return this.steps('root', []);
    if (this.accept('/')) {
      const steps = this.startsStep()
        ? this.firstStep('root')
        : { kind: 'path' as const, from: 'root' as const, steps: [] };
      return steps;
    }
    return this.firstStep('context');
  }

  private firstStep(from: 'root' | 'context'): XPath | undefined {
    const step = this.step();
    return step === undefined ? undefined : this.steps(from, [step]);
  }

  private steps(from: 'root' | 'context' | XPath, before: Step[]): XPath | undefined {
    const steps = before;
    for (;;) {
      if (this.accept('//')) steps.push(DESCENDANT);
      else if (!this.accept('/')) return { kind: 'path', from, steps };
      const step = this.step();
      if (step === undefined) return undefined;
      steps.push(step);
    }
  }

  private startsStep(): boolean {
    const token = this.tokens[this.at];
    return token !== undefined && (token.kind === 'name' || ['*', '@', '.', '..'].includes(token.text));
  }

  /** undefined: it is a location path; null: it is nothing. */
  private primary(): XPath | null | undefined {
    const token = this.tokens[this.at];
    if (token === undefined || token.text === '$') return null;
    if (token.kind === 'number' || token.kind === 'string') {
      this.at++;
      return { kind: 'literal', value: token.kind === 'number' ? Number(token.text) : token.text };
    }
    if (this.accept('(')) {
      const inner = this.binary(0);
      return inner !== undefined && this.accept(')') ? inner : null;
    }
    if (token.kind !== 'name' || !this.is('(', 1) || NODE_TYPES.includes(token.text)) return undefined;
    this.at += 2;
    const args: XPath[] = [];
    if (!this.accept(')')) {
      do {
        const arg = this.binary(0);
        if (arg === undefined) return null;
        args.push(arg);
      } while (this.accept(','));
      if (!this.accept(')')) return null;
    }
    return { kind: 'call', name: token.text, args };
  }

  private predicates(): XPath[] | undefined {
    const found: XPath[] = [];
    while (this.accept('[')) {
      const predicate = this.binary(0);
      if (predicate === undefined || !this.accept(']')) return undefined;
      found.push(predicate);
    }
    return found;
  }

  private step(): Step | undefined {
    if (this.accept('.')) return SELF;
    if (this.accept('..')) return { axis: 'parent', test: 'node()', predicates: [] };
    let axis = 'child';
    if (this.accept('@')) axis = 'attribute';
    else if (this.tokens[this.at]?.kind === 'name' && this.is('::', 1)) {
      axis = this.tokens[this.at].text;
      this.at += 2;
    }
    const token = this.tokens[this.at];
    if (token === undefined || (token.kind !== 'name' && !this.is('*'))) return undefined;
    this.at++;
    let test = token.text;
    if (this.accept('(')) {
      if (!NODE_TYPES.includes(test)) return undefined;
      // processing-instruction('target')
      if (this.tokens[this.at]?.kind === 'string') this.at++;
      if (!this.accept(')')) return undefined;
      test += '()';
    }
    const predicates = this.predicates();
    return predicates === undefined ? undefined : { axis, test, predicates };
  }
}
