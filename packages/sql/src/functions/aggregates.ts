import { uniqueList } from '../emit/unique.js';
import { decimalArithmetic } from '../expressions/arithmetic.js';
import { semantic } from '../expressions/errors.js';
import { derive, type Expr } from '../expressions/expr.js';
import { duckTypeName } from '../types/duck-type.js';
import { arrayOf, BIGINT, DOUBLE, decimal, type HiveType, INT, structOf } from '../types/hive-type.js';
import { asDecimal, isApproximate, isInteger, isText } from '../types/type-rules.js';
import { convertArguments, mismatch, result } from './builder.js';
import type { AggregateFunction, Call, Invoke } from './definition.js';
import { NumericHistogram } from './histogram.js';

const aggregate = (names: string, usage: string, build: (call: Call, invoke: Invoke) => Expr): AggregateFunction => ({
  kind: 'aggregate',
  names: names.split(' '),
  category: 'aggregate',
  usage,
  build,
});

function numeric(call: Call, arg: Expr): Expr {
  if (isText(arg.type)) return call.analysis.cast(arg, DOUBLE);
  if (isInteger(arg.type) || isApproximate(arg.type) || arg.type.kind === 'decimal') return arg;
  if (arg.type.kind === 'timestamp') return derive(arg, DOUBLE, `hv_seconds_double(${arg.sql})`);
  throw mismatch(call, arg, 'a number');
}

const count = aggregate('count', '*, value*', (call, invoke) => {
  const { args } = call;
  if (args.length === 0) return result(call, BIGINT, invoke('count', '*', { distinct: false }));
  if (args.length === 1) {
    const [arg] = args;
    return result(call, BIGINT, invoke('count', arg.type.kind === 'void' ? 'CAST(NULL AS INTEGER)' : arg.sql));
  }
  if (call.distinct !== true) throw semantic('DISTINCT keyword must be specified', call.position);
  // Rows in which none is NULL.
  const all = args.map((arg) => `${arg.sql} IS NOT NULL`).join(' AND ');
  const row = args.map((arg, i) => `'f${i}': ${arg.sql}`).join(', ');
  return result(call, BIGINT, invoke('count', `CASE WHEN ${all} THEN {${row}} END`));
});

const sumType = (type: HiveType): HiveType => {
  if (isInteger(type)) return BIGINT;
  return type.kind === 'decimal' ? decimal(Math.min(38, type.precision + 10), type.scale) : DOUBLE;
};

function sumSql(x: Expr, invoke: Invoke): string {
  if (isInteger(x.type)) return `hv_wrap64(${invoke('sum', x.sql)})`;
  if (x.type.kind === 'decimal') return `TRY_CAST(${invoke('sum', x.sql)} AS ${duckTypeName(sumType(x.type))})`;
  return invoke('sum', `CAST(${x.sql} AS DOUBLE)`);
}

const sum = aggregate('sum', 'number', (call, invoke) => {
  const [arg] = call.args;
  // Text that is no number adds nothing, yet it is a value (GenericUDAFSumDouble).
  if (arg !== undefined && isText(arg.type)) {
    const total = invoke('sum', call.analysis.cast(arg, DOUBLE).sql);
    return result(
      call,
      DOUBLE,
      `CASE WHEN ${invoke('count', arg.sql)} > 0 THEN coalesce(${total}, CAST(0 AS DOUBLE)) END`,
    );
  }
  const x = numeric(call, convertArguments(call, ['any'])[0]);
  return result(call, sumType(x.type), sumSql(x, invoke));
});

const avg = aggregate('avg', 'number', (call, invoke) => {
  const x = numeric(call, convertArguments(call, ['any'])[0]);
  if (x.type.kind === 'decimal') {
    const scale = Math.min(38, x.type.scale + 4);
    const type = decimal(Math.min(38, x.type.precision + 4), Math.min(scale, Math.min(38, x.type.precision + 4)));
    const total = derive(x, sumType(x.type), sumSql(x, invoke));
    const rows = derive(x, asDecimal(BIGINT), `CAST(${invoke('count', x.sql)} AS DECIMAL(19,0))`);
    return result(call, type, decimalArithmetic(call.analysis, '/', total, rows, type).sql);
  }
  const double = call.analysis.cast(x, DOUBLE).sql;
  return result(call, DOUBLE, `hv_div_double(${invoke('sum', double)}, CAST(${invoke('count', double)} AS DOUBLE))`);
});

function hasMap(type: HiveType): boolean {
  if (type.kind === 'array') return hasMap(type.element);
  return type.kind === 'map' || (type.kind === 'struct' && type.fields.some((field) => hasMap(field.type)));
}

const extreme = (name: 'min' | 'max'): AggregateFunction =>
  aggregate(name, 'value', (call, invoke) => {
    const [x] = convertArguments(call, ['any']);
    if (hasMap(x.type)) throw mismatch(call, x, 'no map, and nothing with a map in it: they cannot be compared');
    const sql = x.type.kind === 'void' ? 'CAST(NULL AS INTEGER)' : x.sql;
    return result(call, x.type, invoke(name, sql));
  });

function collected(call: Call, invoke: Invoke, arg: Expr): { sql: string; type: HiveType & { kind: 'array' } } {
  const type = arrayOf(arg.type);
  const list = invoke('list', arg.sql, { filter: `${arg.sql} IS NOT NULL`, distinct: false });
  if (arg.type.kind === 'void') throw mismatch(call, arg, 'a value with a type');
  return { sql: `coalesce(${list}, []::${duckTypeName(type)})`, type };
}

/** GenericUDAFVariance, which windows use: one pass over the rows. */
function varianceOf(values: readonly number[], sample: boolean): number | null {
  let [count, sum, variance] = [0, 0, 0];
  for (const value of values) {
    count++;
    sum += value;
    if (count > 1) {
      const t = count * value - sum;
      variance += (t * t) / (count * (count - 1));
    }
  }
  if (count === 0 || (sample && count === 1)) return null;
  return variance / (sample ? count - 1 : count);
}

/**
 * Hive's optimizer writes these as sums (HiveAggregateReduceFunctionsRule): the digits of the result follow from that.
 * NULL without rows, and for a sample of one.
 */
const spread = (names: string, sample: boolean, root: boolean): AggregateFunction =>
  aggregate(names, 'number', (call, invoke) => {
    const x = call.analysis.cast(numeric(call, convertArguments(call, ['any'])[0]), DOUBLE).sql;
    if (call.windowed === true) {
      const list = invoke('list', x, { filter: `${x} IS NOT NULL` });
      const sql = call.analysis.udfs.call(
        `spread_${names.split(' ')[0]}`,
        [arrayOf(DOUBLE)],
        DOUBLE,
        [list],
        (items) => {
          const variance = varianceOf(items as number[], sample);
          return variance === null || !root ? variance : Math.sqrt(variance);
        },
      );
      return result(call, DOUBLE, sql);
    }
    const [sum, squares, rows] = [invoke('sum', x), invoke('sum', `${x} * ${x}`), invoke('count', x)];
    const count = `CAST(${rows} AS DOUBLE)`;
    const variance = `hv_div_double(${squares} - hv_div_double(${sum} * ${sum}, ${count}), ${sample ? `(${count} - 1)` : count})`;
    return result(call, DOUBLE, root ? `pow(${variance}, 0.5)` : variance);
  });

interface Moments {
  readonly count: number;
  readonly covariance: number;
  readonly varianceX: number;
  readonly varianceY: number;
}

interface Pair {
  readonly x: number;
  readonly y: number;
}

/** GenericUDAFCorrelation and GenericUDAFCovariance over the rows of a window: one pass. */
function passedMoments(pairs: readonly Pair[]): Moments {
  let [meanX, meanY, covariance, varianceX, varianceY] = [0, 0, 0, 0, 0];
  pairs.forEach(({ x, y }, before) => {
    const count = before + 1;
    const [deltaX, deltaY] = [x - meanX, y - meanY];
    meanX += deltaX / count;
    meanY += deltaY / count;
    covariance += deltaX * (y - meanY);
    varianceX += deltaX * (x - meanX);
    varianceY += deltaY * (y - meanY);
  });
  return { count: pairs.length, covariance, varianceX, varianceY };
}

/** The same of a GROUP BY, each row merged as a part of its own: Hive's last digits depend on how its tasks cut the rows. */
function mergedMoments(pairs: readonly Pair[]): Moments {
  let [meanX, meanY, covariance, varianceX, varianceY] = [0, 0, 0, 0, 0];
  pairs.forEach(({ x, y }, before) => {
    const count = before + 1;
    const [deltaX, deltaY] = [meanX - x, meanY - y];
    if (before > 0) {
      varianceX += (deltaX * deltaX * before) / count;
      varianceY += (deltaY * deltaY * before) / count;
      covariance += deltaX * deltaY * (before / count);
    }
    meanX = (meanX * before + x) / count;
    meanY = (meanY * before + y) / count;
  });
  return { count: pairs.length, covariance, varianceX, varianceY };
}

const PAIR: HiveType = structOf([
  { name: 'x', type: DOUBLE },
  { name: 'y', type: DOUBLE },
]);

const ofPairs = (name: string, value: (m: Moments) => number | null): AggregateFunction =>
  aggregate(name, 'number, number', (call, invoke) => {
    const [x, y] = convertArguments(call, ['double', 'double']);
    const both = `${x.sql} IS NOT NULL AND ${y.sql} IS NOT NULL`;
    const type = arrayOf(PAIR);
    const list = invoke('list', `{'x': ${x.sql}, 'y': ${y.sql}}`, { filter: both });
    const moments = call.windowed === true ? passedMoments : mergedMoments;
    const udf = call.windowed === true ? `${name}_window` : name;
    const sql = call.analysis.udfs.call(udf, [type], DOUBLE, [list], (items) =>
      value(moments(items as unknown as Pair[])),
    );
    return result(call, DOUBLE, sql);
  });

const pair = (names: string, duck: string, undefinedIsNull = false): AggregateFunction =>
  aggregate(names, 'number, number', (call, invoke) => {
    const [x, y] = convertArguments(call, ['double', 'double']);
    const sql = invoke(duck, `${x.sql}, ${y.sql}`);
    return result(call, DOUBLE, undefinedIsNull ? `CASE WHEN NOT isnan(${sql}) THEN ${sql} END` : sql);
  });

/** n times the (co)variance as the optimizer writes it: sums over the rows where both are there. */
function spreadSum(invoke: Invoke, a: string, b: string, both: { filter: string }): string {
  const rows = `CAST(${invoke('count', '*', { ...both, distinct: false })} AS DOUBLE)`;
  const product = `hv_div_double(${invoke('sum', a, both)} * ${invoke('sum', b, both)}, ${rows})`;
  return `(${invoke('sum', `${a} * ${b}`, both)} - ${product})`;
}

/** REGR_SXX and kin, of such sums. */
const regression = (name: string, of: (sums: { xx: string; yy: string; xy: string }) => string): AggregateFunction =>
  aggregate(name, 'number, number', (call, invoke) => {
    const [y, x] = convertArguments(call, ['double', 'double']).map(({ sql }) => sql);
    const both = { filter: `${x} IS NOT NULL AND ${y} IS NOT NULL` };
    const sum = (a: string, b: string) => spreadSum(invoke, a, b, both);
    return result(call, DOUBLE, of({ xx: sum(x, x), yy: sum(y, y), xy: sum(x, y) }));
  });

const collectSet = aggregate('collect_set', 'value', (call, invoke) => {
  const { sql, type } = collected(call, invoke, convertArguments(call, ['any'])[0]);
  return result(call, type, uniqueList(call.analysis.udfs, type, sql));
});

/** One quantile or an array of them, constants. */
function quantiles(call: Call, arg: Expr): { sql: string; many: boolean } {
  if (arg.type.kind === 'array') return { sql: call.analysis.cast(arg, arrayOf(DOUBLE)).sql, many: true };
  return { sql: `[${call.analysis.cast(arg, DOUBLE).sql}]`, many: false };
}

/** PERCENTILE: exact, of integers, interpolated (UDAFPercentile). */
const percentile = aggregate('percentile', 'integer, fraction or array', (call, invoke) => {
  const [x, p] = convertArguments(call, ['any', 'any']);
  const values = collected(call, invoke, call.analysis.cast(numeric(call, x), DOUBLE));
  const { sql, many } = quantiles(call, p);
  const list = arrayOf(DOUBLE);
  const found = call.analysis.udfs.call('percentile', [list, list], list, [values.sql, sql], (items, fractions) => {
    const sorted = [...(items as number[])].sort((a, b) => a - b);
    if (sorted.length === 0) return null;
    return (fractions as number[]).map((fraction) => {
      if (!(fraction >= 0 && fraction <= 1)) throw semantic(`PERCENTILE takes fractions from 0 to 1, not ${fraction}`);
      const position = (sorted.length - 1) * fraction;
      const [lower, higher] = [Math.floor(position), Math.ceil(position)];
      if (lower === higher || sorted[lower] === sorted[higher]) return sorted[lower];
      return (higher - position) * sorted[lower] + (position - lower) * sorted[higher];
    });
  });
  return many ? result(call, list, found) : result(call, DOUBLE, `${found}[1]`);
});

const percentileApprox = aggregate('percentile_approx', 'number, fraction or array, accuracy?', (call, invoke) => {
  const [x, p, accuracy] = convertArguments(call, ['any', 'any', 'int?']);
  const values = collected(call, invoke, call.analysis.cast(numeric(call, x), DOUBLE));
  const { sql, many } = quantiles(call, p);
  const list = arrayOf(DOUBLE);
  const limit = accuracy === undefined ? 'CAST(10000 AS INTEGER)' : accuracy.sql;
  const found = call.analysis.udfs.call(
    'percentile_approx',
    [list, list, INT],
    list,
    [values.sql, sql, limit],
    (items, fractions, bins) => {
      const histogram = new NumericHistogram(bins as number);
      for (const item of items as number[]) histogram.add(item);
      return (items as number[]).length === 0
        ? null
        : (fractions as number[]).map((fraction) => histogram.quantile(fraction));
    },
  );
  return many ? result(call, list, found) : result(call, DOUBLE, `${found}[1]`);
});

const histogramNumeric = aggregate('histogram_numeric', 'number, bins', (call, invoke) => {
  const [x, bins] = convertArguments(call, ['any', 'int']);
  const values = collected(call, invoke, call.analysis.cast(numeric(call, x), DOUBLE));
  const type = arrayOf(
    structOf([
      { name: 'x', type: DOUBLE },
      { name: 'y', type: DOUBLE },
    ]),
  );
  const sql = call.analysis.udfs.call(
    'histogram_numeric',
    [arrayOf(DOUBLE), INT],
    type,
    [values.sql, bins.sql],
    (items, limit) => {
      const histogram = new NumericHistogram(limit as number);
      for (const item of items as number[]) histogram.add(item);
      return histogram.all.map(({ x: center, y }) => ({ x: center, y }));
    },
  );
  return result(call, type, sql);
});

export const aggregateFunctions: readonly AggregateFunction[] = [
  count,
  sum,
  avg,
  extreme('min'),
  extreme('max'),
  spread('stddev stddev_pop std', false, true),
  spread('stddev_samp', true, true),
  spread('variance var_pop', false, false),
  spread('var_samp', true, false),
  ofPairs('covar_pop', (m) => (m.count === 0 ? null : m.covariance / m.count)),
  ofPairs('covar_samp', (m) => (m.count < 2 ? null : m.covariance / (m.count - 1))),
  ofPairs('corr', (m) => (m.count < 2 ? null : m.covariance / Math.sqrt(m.varianceY) / Math.sqrt(m.varianceX))),
  pair('regr_slope', 'regr_slope', true),
  pair('regr_intercept', 'regr_intercept', true),
  // All of one x: no line; all of one y: a perfect one (GenericUDAFBinarySetFunctions).
  regression(
    'regr_r2',
    ({ xx, yy, xy }) =>
      `CASE WHEN ${xx} = 0 THEN NULL WHEN ${yy} = 0 THEN CAST(1 AS DOUBLE) ELSE ${xy} * ${xy} / ${xx} / ${yy} END`,
  ),
  regression('regr_sxx', ({ xx }) => xx),
  regression('regr_syy', ({ yy }) => yy),
  regression('regr_sxy', ({ xy }) => xy),
  pair('regr_avgx', 'regr_avgx'),
  pair('regr_avgy', 'regr_avgy'),
  aggregate('regr_count', 'number, number', (call, invoke) => {
    const [x, y] = convertArguments(call, ['double', 'double']);
    return result(call, BIGINT, `CAST(${invoke('regr_count', `${x.sql}, ${y.sql}`)} AS BIGINT)`);
  }),
  aggregate('collect_list', 'value', (call, invoke) => {
    const [arg] = convertArguments(call, ['any']);
    const { sql, type } = collected(call, invoke, arg);
    return result(call, type, sql);
  }),
  collectSet,
  percentile,
  percentileApprox,
  histogramNumeric,
];
