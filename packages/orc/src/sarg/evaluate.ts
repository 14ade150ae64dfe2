import { unreachable } from '@skep/core';
import type { BloomFilter } from '../encoding/bloom-filter.js';
import type { ColumnStatistics } from '../proto/gen/orc_proto.js';
import type { TypeDescription } from '../type-description.js';
import { mightContain } from './bloom.js';
import type { Sarg, SargColumn, SargLiteral } from './sarg.js';
import { ANY, and, FALSE, NULL, not, or, TRUE, type TruthSet } from './truth.js';
import { type Comparable, comparable, type StatisticsOrigin, type ValueRange, valueRange } from './value-range.js';

/** What is known of a column in some rows (a stripe, a row group). */
export interface ColumnEvidence {
  readonly type: TypeDescription;
  /** Undefined: nothing but the bloom filter. */
  readonly range: ValueRange | undefined;
  readonly mayHaveNulls: boolean;
  /** There is no value: all rows are NULL. */
  readonly allNull: boolean;
  readonly bloom: BloomFilter | undefined;
}

type Leaf = Exclude<Sarg, { op: 'and' | 'or' | 'not' }>;

/**
 * Evidence from statistics. `parents` are those of the structs around the column: where a parent is NULL, so is the column,
 * though its own statistics do not count the row. `rows` is how many rows there are.
 */
export function evidenceOf(
  type: TypeDescription,
  statistics: ColumnStatistics | undefined,
  parents: readonly (ColumnStatistics | undefined)[],
  rows: number,
  origin: StatisticsOrigin,
  bloom: BloomFilter | undefined,
): ColumnEvidence {
  const values = statistics?.numberOfValues;
  if (statistics === undefined || values === undefined) {
    return { type, range: undefined, mayHaveNulls: true, allNull: false, bloom };
  }
  const nullParents = parents.some((parent) => parent?.hasNull !== false);
  const mayHaveNulls = statistics.hasNull !== false || values < BigInt(rows) || nullParents;
  // No values and no NULLs although there are rows: the writer did not count.
  const counted = values > 0n || statistics.hasNull !== false || nullParents;
  return { type, range: valueRange(statistics, type, origin), mayHaveNulls, allNull: values === 0n && counted, bloom };
}

/**
 * The answers that the search argument may give. `evidence` tells what is known of a column; undefined is nothing, 'null'
 * is a column that reads as NULL in all rows.
 */
export function evaluate(sarg: Sarg, evidence: (column: SargColumn) => ColumnEvidence | 'null' | undefined): TruthSet {
  switch (sarg.op) {
    case 'and':
      return sarg.children.reduce((set, child) => and(set, evaluate(child, evidence)), TRUE);
    case 'or':
      return sarg.children.reduce((set, child) => or(set, evaluate(child, evidence)), FALSE);
    case 'not':
      return not(evaluate(sarg.child, evidence));
    default: {
      const known = evidence(sarg.column);
      if (known === undefined) return ANY;
      if (known === 'null' || known.allNull) return ofNulls(sarg);
      return ofLeaf(sarg, known);
    }
  }
}

/** Over rows that are all NULL. */
function ofNulls(leaf: Leaf): TruthSet {
  switch (leaf.op) {
    case 'isNull':
      return TRUE;
    case 'nullSafeEquals':
      return leaf.literal === null ? TRUE : FALSE;
    case 'in':
      return leaf.literals.length === 0 ? FALSE : NULL;
    default:
      return NULL;
  }
}

function ofLeaf(leaf: Leaf, evidence: ColumnEvidence): TruthSet {
  if (leaf.op === 'isNull') return evidence.mayHaveNulls ? TRUE | FALSE : FALSE;
  if (leaf.op === 'nullSafeEquals') {
    if (leaf.literal === null) return evidence.mayHaveNulls ? TRUE | FALSE : FALSE;
    return ofValues(leaf, evidence) | (evidence.mayHaveNulls ? FALSE : 0);
  }
  return ofValues(leaf, evidence) | (evidence.mayHaveNulls ? NULL : 0);
}

/** Over the rows that are not NULL. */
function ofValues(leaf: Exclude<Leaf, { op: 'isNull' }>, evidence: ColumnEvidence): TruthSet {
  const { range, type } = evidence;
  switch (leaf.op) {
    case 'equals':
    case 'nullSafeEquals':
      return ofEquals(leaf.literal, evidence);
    case 'lessThan':
    case 'lessThanEquals': {
      if (leaf.literal === null) return NULL;
      const value = comparable(leaf.literal, type);
      if (value === undefined || range === undefined) return TRUE | FALSE;
      if (leaf.op === 'lessThan') return range.high < value ? TRUE : range.low >= value ? FALSE : TRUE | FALSE;
      return range.high <= value ? TRUE : range.low > value ? FALSE : TRUE | FALSE;
    }
    case 'in': {
      let set: TruthSet = FALSE;
      for (const literal of leaf.literals) set = or(set, ofEquals(literal, evidence));
      return set;
    }
    case 'between': {
      const low = bound(
        leaf.low,
        type,
        (value) => range && (range.low >= value ? TRUE : range.high < value ? FALSE : ANY),
      );
      const high = bound(
        leaf.high,
        type,
        (value) => range && (range.high <= value ? TRUE : range.low > value ? FALSE : ANY),
      );
      return and(low, high);
    }
    default:
      return unreachable(leaf, 'search argument');
  }
}

function ofEquals(literal: SargLiteral, { range, type, bloom }: ColumnEvidence): TruthSet {
  if (literal === null) return NULL;
  const value = comparable(literal, type);
  if (value === undefined) return TRUE | FALSE;
  if (range !== undefined) {
    if (value < range.low || value > range.high) return FALSE;
    // biome-ignore lint/suspicious/noDoubleEquals: a number and a bigint are to be equal by value.
    if (range.exact && range.low == range.high && value == range.low) return TRUE;
  }
  if (bloom !== undefined && !mightContain(bloom, literal, type)) return FALSE;
  return TRUE | FALSE;
}

function bound(
  literal: SargLiteral,
  type: TypeDescription,
  compare: (value: Comparable) => TruthSet | undefined,
): TruthSet {
  if (literal === null) return NULL;
  const value = comparable(literal, type);
  const set = value === undefined ? undefined : compare(value);
  return set === undefined || set === ANY ? TRUE | FALSE : set;
}

/** The columns that a search argument names. */
export function sargColumns(sarg: Sarg): SargColumn[] {
  switch (sarg.op) {
    case 'and':
    case 'or':
      return sarg.children.flatMap(sargColumns);
    case 'not':
      return sargColumns(sarg.child);
    default:
      return [sarg.column];
  }
}
