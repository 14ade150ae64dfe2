import { semantic } from '../../expressions/errors.js';
import type { Step, XPath } from './parse-xpath.js';
import { stringValue, type XmlNode } from './xml-node.js';

/** XPath 1.0's four types; nodes in document order. */
export type XPathValue = string | number | boolean | readonly XmlNode[];

interface Context {
  readonly node: XmlNode;
  readonly position: number;
  readonly size: number;
}

export function evaluateXPath(path: XPath, root: XmlNode): XPathValue {
  return evaluate(path, { node: root, position: 1, size: 1 });
}

export function toText(value: XPathValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return numberText(value);
  return value.length === 0 ? '' : stringValue(value[0]);
}

export function toNumber(value: XPathValue): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  const text = toText(value).trim();
  return /^-?(\d+(\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
}

export function toBoolean(value: XPathValue): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0 && !Number.isNaN(value);
  return value.length > 0;
}

/** Never with an exponent (section 4.2). */
function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  const text = String(value);
  if (!text.includes('e')) return text === '-0' ? '0' : text;
  return Number.isInteger(value) ? BigInt(value).toString() : value.toFixed(20).replace(/0+$/, '');
}

function evaluate(path: XPath, context: Context): XPathValue {
  switch (path.kind) {
    case 'literal':
      return path.value;
    case 'negate':
      return -toNumber(evaluate(path.operand, context));
    case 'binary':
      return binary(path.operator, path.left, path.right, context);
    case 'call':
      return call(path.name, path.args, context);
    case 'filter': {
      let nodes = nodesOf(evaluate(path.base, context));
      for (const predicate of path.predicates) nodes = filtered(nodes, predicate);
      return nodes;
    }
    case 'path': {
      let nodes: readonly XmlNode[];
      if (path.from === 'root') nodes = [rootOf(context.node)];
      else if (path.from === 'context') nodes = [context.node];
      else nodes = nodesOf(evaluate(path.from, context));
      for (const step of path.steps) nodes = inOrder(nodes.flatMap((node) => take(node, step)));
      return nodes;
    }
  }
}

function nodesOf(value: XPathValue): readonly XmlNode[] {
  if (typeof value === 'object') return value;
  throw semantic('An XPath expression uses a value where nodes are expected');
}

const rootOf = (node: XmlNode): XmlNode => (node.parent === undefined ? node : rootOf(node.parent));
const inOrder = (nodes: readonly XmlNode[]): XmlNode[] => [...new Set(nodes)].sort((a, b) => a.order - b.order);

function filtered(nodes: readonly XmlNode[], predicate: XPath): XmlNode[] {
  return nodes.filter((node, i) => {
    const value = evaluate(predicate, { node, position: i + 1, size: nodes.length });
    return typeof value === 'number' ? value === i + 1 : toBoolean(value);
  });
}

function take(node: XmlNode, step: Step): XmlNode[] {
  let found = alongAxis(node, step.axis).filter((candidate) => passes(candidate, step));
  for (const predicate of step.predicates) found = filtered(found, predicate);
  return found;
}

function passes(node: XmlNode, { test, axis }: Step): boolean {
  switch (test) {
    case 'node()':
      return true;
    case 'text()':
      return node.kind === 'text';
    case 'comment()':
      return node.kind === 'comment';
    case 'processing-instruction()':
      return node.kind === 'instruction';
  }
  if (node.kind !== (axis === 'attribute' ? 'attribute' : 'element')) return false;
  if (test === '*') return true;
  // Java's parser is not aware of namespaces here: the name counts as written.
  return test.endsWith(':*') ? node.name.startsWith(test.slice(0, -1)) : node.name === test;
}

const ancestors = (node: XmlNode): XmlNode[] =>
  node.parent === undefined ? [] : [node.parent, ...ancestors(node.parent)];
const descendants = (node: XmlNode): XmlNode[] => node.children.flatMap((child) => [child, ...descendants(child)]);

/** Nearest first. */
function alongAxis(node: XmlNode, axis: string): XmlNode[] {
  const siblings = node.kind === 'attribute' ? [] : (node.parent?.children ?? []);
  const at = siblings.indexOf(node);
  switch (axis) {
    case 'child':
      return node.children;
    case 'attribute':
      return node.attributes;
    case 'self':
      return [node];
    case 'parent':
      return node.parent === undefined ? [] : [node.parent];
    case 'ancestor':
      return ancestors(node);
    case 'ancestor-or-self':
      return [node, ...ancestors(node)];
    case 'descendant':
      return descendants(node);
    case 'descendant-or-self':
      return [node, ...descendants(node)];
    case 'following-sibling':
      return siblings.slice(at + 1);
    case 'preceding-sibling':
      return siblings.slice(0, Math.max(at, 0)).reverse();
    case 'following':
    case 'preceding': {
      const skipped = new Set([node, ...ancestors(node), ...descendants(node)]);
      const all = descendants(rootOf(node)).filter((other) => !skipped.has(other));
      return axis === 'following'
        ? all.filter((other) => other.order > node.order)
        : all.filter((other) => other.order < node.order).reverse();
    }
    case 'namespace':
      return [];
    default:
      throw semantic(`XPath has no axis '${axis}'`);
  }
}

function binary(operator: string, left: XPath, right: XPath, context: Context): XPathValue {
  if (operator === 'or') return toBoolean(evaluate(left, context)) || toBoolean(evaluate(right, context));
  if (operator === 'and') return toBoolean(evaluate(left, context)) && toBoolean(evaluate(right, context));
  const [a, b] = [evaluate(left, context), evaluate(right, context)];
  switch (operator) {
    case '|':
      return inOrder([...nodesOf(a), ...nodesOf(b)]);
    case '+':
      return toNumber(a) + toNumber(b);
    case '-':
      return toNumber(a) - toNumber(b);
    case '*':
      return toNumber(a) * toNumber(b);
    case 'div':
      return toNumber(a) / toNumber(b);
    case 'mod':
      return toNumber(a) % toNumber(b);
    default:
      return compared(operator, a, b);
  }
}

/** Of node sets, whether any node satisfies it (section 3.4). */
function compared(operator: string, a: XPathValue, b: XPathValue): boolean {
  if (typeof a === 'object' && typeof b !== 'boolean') {
    return a.some((node) => compared(operator, typeof b === 'number' ? toNumber([node]) : stringValue(node), b));
  }
  if (typeof b === 'object' && typeof a !== 'boolean') {
    return b.some((node) => compared(operator, a, typeof a === 'number' ? toNumber([node]) : stringValue(node)));
  }
  if (operator === '=' || operator === '!=') {
    let equal: boolean;
    if (typeof a === 'boolean' || typeof b === 'boolean') equal = toBoolean(a) === toBoolean(b);
    else if (typeof a === 'number' || typeof b === 'number') equal = toNumber(a) === toNumber(b);
    else equal = toText(a) === toText(b);
    return equal === (operator === '=');
  }
  const [x, y] = [toNumber(a), toNumber(b)];
  if (operator === '<') return x < y;
  if (operator === '<=') return x <= y;
  return operator === '>' ? x > y : x >= y;
}

function call(name: string, args: readonly XPath[], context: Context): XPathValue {
  const value = (i: number): XPathValue => (args[i] === undefined ? [context.node] : evaluate(args[i], context));
  const text = (i: number): string => toText(value(i));
  const first = (): XmlNode | undefined => nodesOf(value(0))[0];
  switch (name) {
    case 'last':
      return context.size;
    case 'position':
      return context.position;
    case 'count':
      return nodesOf(value(0)).length;
    case 'sum':
      return nodesOf(value(0)).reduce((total, node) => total + toNumber([node]), 0);
    case 'name':
      return first()?.name ?? '';
    case 'local-name':
      return first()?.name.replace(/^.*:/, '') ?? '';
    case 'namespace-uri':
      return '';
    case 'id':
      return [];
    case 'string':
      return text(0);
    case 'concat':
      return args.map((_, i) => text(i)).join('');
    case 'starts-with':
      return text(0).startsWith(text(1));
    case 'contains':
      return text(0).includes(text(1));
    case 'substring-before':
      return text(0).includes(text(1)) ? text(0).slice(0, text(0).indexOf(text(1))) : '';
    case 'substring-after':
      return text(0).includes(text(1)) ? text(0).slice(text(0).indexOf(text(1)) + text(1).length) : '';
    case 'substring': {
      const from = Math.round(toNumber(value(1)));
      const end = args.length > 2 ? from + Math.round(toNumber(value(2))) : Number.POSITIVE_INFINITY;
      return [...text(0)].filter((_, i) => i + 1 >= from && i + 1 < end).join('');
    }
    case 'string-length':
      return [...text(0)].length;
    case 'normalize-space':
      return text(0)
        .trim()
        .replace(/[ \t\r\n]+/g, ' ');
    case 'translate': {
      const [from, to] = [[...text(1)], [...text(2)]];
      return [...text(0)].map((c) => (from.includes(c) ? (to[from.indexOf(c)] ?? '') : c)).join('');
    }
    case 'boolean':
      return toBoolean(value(0));
    case 'not':
      return !toBoolean(value(0));
    case 'true':
      return true;
    case 'false':
      return false;
    case 'lang':
      return false;
    case 'number':
      return toNumber(value(0));
    case 'floor':
      return Math.floor(toNumber(value(0)));
    case 'ceiling':
      return Math.ceil(toNumber(value(0)));
    case 'round':
      return Math.round(toNumber(value(0)));
    default:
      throw semantic(`XPath has no function ${name}()`);
  }
}
