import { isNull, type Sarg, type SargLiteral, type StructVector, type TypeDescription } from '@skep/orc';
import { BadRequestError } from '../errors.js';
import { asObject, type Json, type JsonObject, onlyFields, requiredText } from '../json.js';
import { type Literal, literalOf } from './literal.js';
import { orderOf } from './order.js';

/** SQL's three truth values, a byte a row. */
const FALSE = 0;
const TRUE = 1;
const UNKNOWN = 2;

/** A condition on rows. */
export interface Filter {
  /** The columns that it needs. */
  readonly columns: readonly string[];
  /** What of it prunes partitions, stripes and row groups. */
  readonly predicate: readonly Sarg[];
  /** The rows of a batch (which has those columns) for which it is true; undefined: all of them. */
  select(batch: StructVector): Int32Array | undefined;
}

interface Node {
  readonly columns: readonly string[];
  readonly sarg: Sarg;
  evaluate(batch: StructVector): Uint8Array;
}

type Columns = readonly { readonly name: string; readonly type: TypeDescription }[];

const MAX_DEPTH = 100;

/** A filter as clients write it (docs/flight.md), for a table of these columns. */
export function parseFilter(json: Json, columns: Columns): Filter {
  const root = parseNode(json, columns, 0);
  return {
    columns: [...new Set(root.columns)],
    predicate: root.sarg.op === 'and' ? root.sarg.children : [root.sarg],
    select: (batch) => {
      const truths = root.evaluate(batch);
      const rows = new Int32Array(truths.length);
      let count = 0;
      for (let row = 0; row < truths.length; row++) if (truths[row] === TRUE) rows[count++] = row;
      return count === truths.length ? undefined : rows.subarray(0, count);
    },
  };
}

function parseNode(json: Json, columns: Columns, depth: number): Node {
  if (depth > MAX_DEPTH) throw new BadRequestError(`filter: deeper than ${MAX_DEPTH} levels`);
  const object = asObject(json, 'filter: each condition');
  const op = requiredText(object, 'op', 'filter: a condition').toLowerCase();
  switch (op) {
    case 'and':
    case 'or':
      onlyFields(object, ['op', 'args'], `filter: ${op}`);
      return combine(
        op,
        listOf(object, 'args', op).map((arg) => parseNode(arg, columns, depth + 1)),
      );
    case 'not':
      onlyFields(object, ['op', 'arg'], 'filter: not');
      return negate(parseNode(object.arg ?? null, columns, depth + 1));
    default:
      return parseLeaf(op, object, columns);
  }
}

function listOf(object: JsonObject, key: string, op: string): readonly Json[] {
  const list = object[key];
  if (Array.isArray(list)) return list;
  throw new BadRequestError(`filter: ${op} needs ${key}, a list`);
}

function parseLeaf(op: string, object: JsonObject, columns: Columns): Node {
  const name = requiredText(object, 'column', `filter: ${op}`).toLowerCase();
  const column = columns.find((candidate) => candidate.name === name);
  if (column === undefined) {
    throw new BadRequestError(`filter: there is no column ${name}, but ${columns.map((c) => c.name).join(', ')}`);
  }
  const { type } = column;
  const fields = (...known: string[]) => onlyFields(object, ['op', 'column', ...known], `filter: ${op}`);
  const literal = (key: string) => {
    if (object[key] === undefined) throw new BadRequestError(`filter: ${op} on ${name} needs ${key}`);
    return literalOf(object[key], type, name);
  };
  const compared = (sarg: 'equals' | 'lessThan' | 'lessThanEquals', test: (order: number) => boolean) => {
    fields('value');
    const value = literal('value');
    return compare(name, value, { op: sarg, column: name, literal: sargLiteral(value, type) }, test);
  };
  switch (op) {
    case '=':
    case '==':
      return compared('equals', (order) => order === 0);
    case '<>':
    case '!=':
      return negate(compared('equals', (order) => order === 0));
    case '<':
      return compared('lessThan', (order) => order < 0);
    case '<=':
      return compared('lessThanEquals', (order) => order <= 0);
    case '>':
      return negate(compared('lessThanEquals', (order) => order <= 0));
    case '>=':
      return negate(compared('lessThan', (order) => order < 0));
    case '<=>': {
      fields('value');
      const value = literal('value');
      return value === null ? nullTest(name) : nullSafeEquals(name, value, sargLiteral(value, type));
    }
    case 'between': {
      fields('low', 'high');
      const [low, high] = [literal('low'), literal('high')];
      const at = (value: Literal | null) => ({ column: name, literal: sargLiteral(value, type) });
      return combine('and', [
        negate(compare(name, low, { op: 'lessThan', ...at(low) }, (order) => order < 0)),
        compare(name, high, { op: 'lessThanEquals', ...at(high) }, (order) => order <= 0),
      ]);
    }
    case 'in': {
      fields('values');
      const values = listOf(object, 'values', `in on ${name}`).map((value) => literalOf(value, type, name));
      if (values.length === 0) throw new BadRequestError(`filter: in on ${name} has no values`);
      return combine(
        'or',
        values.map((value) =>
          compare(
            name,
            value,
            { op: 'equals', column: name, literal: sargLiteral(value, type) },
            (order) => order === 0,
          ),
        ),
      );
    }
    case 'isnull':
      fields();
      return nullTest(name);
    case 'isnotnull':
      fields();
      return negate(nullTest(name));
    default:
      throw new BadRequestError(
        `filter: there is no '${op}': use and, or, not, =, <>, <, <=, >, >=, <=>, between, in, isNull, isNotNull`,
      );
  }
}

/** One of a form that the column's type does not have is never used to leave anything out. */
const UNUSABLE: Readonly<Record<'binary' | 'others', SargLiteral>> = { binary: true, others: new Uint8Array(0) };

function sargLiteral(literal: Literal | null, { kind }: TypeDescription): SargLiteral {
  if (literal === null) return null;
  const unusable = kind === 'binary' ? UNUSABLE.binary : UNUSABLE.others;
  switch (literal.kind) {
    case 'number':
      return Number.isNaN(literal.value) || Object.is(literal.value, -0) ? unusable : literal.value;
    case 'decimal': {
      const { unscaled, scale } = literal.value;
      if (kind === 'decimal') return scale <= 38 ? literal.value : unusable;
      const isWhole = scale === 0 && unscaled === BigInt.asIntN(64, unscaled);
      return isWhole ? unscaled : unusable;
    }
    case 'bytes':
      // Statistics of char have its blanks or not, by who wrote them.
      return kind === 'string' || kind === 'varchar' ? literal.value.toString('utf8') : unusable;
    default:
      return literal.value;
  }
}

const columnOf = (batch: StructVector, name: string) => batch.children[batch.fieldNames.indexOf(name)];

function compare(name: string, literal: Literal | null, sarg: Sarg, test: (order: number) => boolean): Node {
  return {
    columns: [name],
    sarg,
    evaluate: (batch) => {
      if (literal === null) return new Uint8Array(batch.length).fill(UNKNOWN);
      const vector = columnOf(batch, name);
      const order = orderOf(vector, literal);
      const { validity } = vector;
      return Uint8Array.from({ length: batch.length }, (_, row) => {
        if (validity !== undefined && isNull(vector, row)) return UNKNOWN;
        return test(order(row)) ? TRUE : FALSE;
      });
    },
  };
}

function nullTest(name: string): Node {
  return {
    columns: [name],
    sarg: { op: 'isNull', column: name },
    evaluate: (batch) => {
      const vector = columnOf(batch, name);
      return Uint8Array.from({ length: batch.length }, (_, row) => (isNull(vector, row) ? TRUE : FALSE));
    },
  };
}

/** Never unknown: NULL is not equal to a value. */
function nullSafeEquals(name: string, literal: Literal, forSarg: SargLiteral): Node {
  const equal = compare(name, literal, { op: 'equals', column: name, literal: forSarg }, (order) => order === 0);
  return {
    columns: [name],
    sarg: { op: 'nullSafeEquals', column: name, literal: forSarg },
    evaluate: (batch) => equal.evaluate(batch).map((truth) => (truth === UNKNOWN ? FALSE : truth)),
  };
}

function negate(node: Node): Node {
  return {
    columns: node.columns,
    sarg: { op: 'not', child: node.sarg },
    evaluate: (batch) =>
      node.evaluate(batch).map((truth) => (truth === UNKNOWN ? UNKNOWN : truth === TRUE ? FALSE : TRUE)),
  };
}

/** No conditions at all: `and` is true, `or` false. */
function combine(op: 'and' | 'or', nodes: readonly Node[]): Node {
  const [decisive, neutral] = op === 'and' ? [FALSE, TRUE] : [TRUE, FALSE];
  return {
    columns: nodes.flatMap((node) => node.columns),
    sarg: { op, children: nodes.map((node) => node.sarg) },
    evaluate: (batch) => {
      const truths = new Uint8Array(batch.length).fill(neutral);
      for (const node of nodes) {
        const others = node.evaluate(batch);
        for (let row = 0; row < truths.length; row++) {
          if (truths[row] === decisive || others[row] === neutral) continue;
          truths[row] = others[row];
        }
      }
      return truths;
    },
  };
}
