import { commonOf } from '../expressions/common-type.js';
import { argumentsLength, semantic } from '../expressions/errors.js';
import { derive, type Expr } from '../expressions/expr.js';
import { arrayOf, BIGINT, DOUBLE, type HiveType } from '../types/hive-type.js';
import { isNumeric } from '../types/type-rules.js';
import { mismatch, result } from './builder.js';
import type { AggregateFunction, Call, Invoke, SortedValue } from './definition.js';

const DOUBLES = arrayOf(DOUBLE);

/** Of PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x), or PERCENTILE_CONT(x, p). */
function percentileParts(call: Call): { value: Expr; fraction: Expr; descending: boolean } {
  const { withinGroup, args } = call;
  const [first, second] = args;
  if (withinGroup === undefined) {
    if (args.length !== 2) throw argumentsLength(call.name, 'two arguments are expected', call.position);
    return { value: first, fraction: second, descending: false };
  }
  if (args.length !== 1 || withinGroup.length !== 1) {
    throw argumentsLength(call.name, 'one fraction and one ordered value are expected', call.position);
  }
  return {
    value: withinGroup[0].value,
    fraction: first,
    descending: withinGroup[0].item.direction === 'desc',
  };
}

/** The value at a fraction of the sorted values, between two of them for PERCENTILE_CONT (GenericUDAFPercentileCont). */
function continuous(sorted: readonly number[], fraction: number): number {
  const position = (sorted.length - 1) * fraction;
  const [lower, higher] = [Math.floor(position), Math.ceil(position)];
  if (lower === higher || sorted[lower] === sorted[higher]) return sorted[lower];
  return (higher - position) * sorted[lower] + (position - lower) * sorted[higher];
}

/** The value at or behind the place of the fraction (GenericUDAFPercentileDisc). */
const discrete = (sorted: readonly number[], fraction: number): number =>
  sorted[Math.ceil((sorted.length - 1) * fraction)];

const percentile = (name: string, at: (sorted: readonly number[], fraction: number) => number): AggregateFunction => ({
  kind: 'aggregate',
  names: [name],
  category: 'aggregate',
  usage: 'fraction) WITHIN GROUP (ORDER BY number',
  build(call: Call, invoke: Invoke): Expr {
    const { value, fraction, descending } = percentileParts(call);
    if (!isNumeric(value.type) && value.type.kind !== 'void') throw mismatch(call, value, 'a number');
    const many = fraction.type.kind === 'array';
    const x = call.analysis.cast(value, DOUBLE);
    const fractions = many
      ? call.analysis.cast(fraction, DOUBLES).sql
      : `[${call.analysis.cast(fraction, DOUBLE).sql}]`;
    const values = invoke('list', x.sql, { filter: `${x.sql} IS NOT NULL`, distinct: false });
    const found = call.analysis.udfs.call(
      `${name}${descending ? '_desc' : ''}`,
      [DOUBLES, DOUBLES],
      DOUBLES,
      [values, fractions],
      (items, wanted) => {
        const sorted = [...(items as number[])].sort((a, b) => (descending ? b - a : a - b));
        return (wanted as number[]).map((p) => {
          if (!(p >= 0 && p <= 1)) throw semantic(`${name.toUpperCase()} takes fractions from 0 to 1, not ${p}`);
          return sorted.length === 0 ? null : at(sorted, p);
        });
      },
    );
    return many ? result(call, DOUBLES, found) : result(call, DOUBLE, `${found}[1]`);
  },
});

/** Both sides of `value < row` in one type, and how NULLs count: Hive's order of the ORDER BY. */
function comparedPairs(call: Call): { given: Expr; row: Expr; key: SortedValue }[] {
  const keys = call.withinGroup ?? [];
  if (keys.length !== call.args.length) {
    throw argumentsLength(
      call.name,
      `${call.args.length} values, but ${keys.length} keys in WITHIN GROUP (ORDER BY …)`,
      call.position,
    );
  }
  return keys.map((key, i) => {
    const given = call.args[i];
    const type = commonOf(call.analysis, [given, key.value], () => 'the value and its key must have one type');
    return { given: call.analysis.cast(given, type), row: call.analysis.cast(key.value, type), key };
  });
}

const nullsLast = (call: Call, { item }: SortedValue): boolean =>
  item.nulls === undefined
    ? call.analysis.flag('hive.default.nulls.last', true) === (item.direction === 'asc')
    : item.nulls === 'last';

/** SQL of whether the row sorts before the given values. */
function before(call: Call, parts: ReturnType<typeof comparedPairs>): string {
  return parts
    .map(({ given, row, key }, i) => {
      const less = key.item.direction === 'asc' ? '<' : '>';
      const edge = nullsLast(call, key)
        ? `(${row.sql} IS NOT NULL AND ${given.sql} IS NULL)`
        : `(${row.sql} IS NULL AND ${given.sql} IS NOT NULL)`;
      const equal = parts.slice(0, i).map((p) => `${p.row.sql} IS NOT DISTINCT FROM ${p.given.sql} AND `);
      return `(${equal.join('')}(coalesce(${row.sql} ${less} ${given.sql}, false) OR ${edge}))`;
    })
    .join(' OR ');
}

/** RANK(v) WITHIN GROUP (ORDER BY x): what the rank of v would be among the rows (GenericUDAFRank and kin). */
const hypothetical = (
  name: string,
  type: HiveType,
  sql: (parts: { rows: string; smaller: string; notAfter: string; distinct: string }) => string,
): AggregateFunction => ({
  kind: 'aggregate',
  names: [name],
  category: 'aggregate',
  usage: 'value*) WITHIN GROUP (ORDER BY value*',
  build(call: Call, invoke: Invoke): Expr {
    const parts = comparedPairs(call);
    const smaller = before(call, parts);
    const same = parts.map(({ given, row }) => `${row.sql} IS NOT DISTINCT FROM ${given.sql}`).join(' AND ');
    const row = `{${parts.map((part, i) => `'f${i}': ${part.row.sql}`).join(', ')}}`;
    const count = (filter: string) => invoke('count', '*', { filter, distinct: false });
    const value = sql({
      rows: invoke('count', '*', { distinct: false }),
      smaller: count(smaller),
      notAfter: count(`(${smaller}) OR (${same})`),
      distinct: invoke('count', row, { filter: smaller, distinct: true }),
    });
    return derive(result(call, type, value), type, value);
  },
});

export const orderedAggregates: readonly AggregateFunction[] = [
  percentile('percentile_cont', continuous),
  percentile('percentile_disc', discrete),
  {
    kind: 'aggregate',
    names: ['approx_distinct'],
    category: 'aggregate',
    usage: 'value',
    build(call, invoke) {
      if (call.args.length !== 1) throw argumentsLength(call.name, 'one argument is expected', call.position);
      // Exact: what an approximation may be.
      return result(call, BIGINT, invoke('count', call.args[0].sql, { distinct: true }));
    },
  },
];

export const hypotheticalAggregates: readonly AggregateFunction[] = [
  hypothetical('rank', BIGINT, ({ smaller }) => `(${smaller} + 1)`),
  hypothetical('dense_rank', BIGINT, ({ distinct }) => `(${distinct} + 1)`),
  hypothetical(
    'percent_rank',
    DOUBLE,
    ({ smaller, rows }) =>
      `coalesce(hv_div_double(CAST(${smaller} AS DOUBLE), CAST(${rows} AS DOUBLE)), CAST(0 AS DOUBLE))`,
  ),
  hypothetical('cume_dist', DOUBLE, ({ notAfter, rows }) => `((${notAfter} + 1) / (${rows} + 1))`),
];
