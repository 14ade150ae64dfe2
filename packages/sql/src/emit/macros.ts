/*
 * Small functions in DuckDB SQL, made when a query first names them. Names begin with hv_. What they do is Hive's
 * arithmetic: integers wrap around, casts saturate or give NULL.
 */

const wrap = (bits: number, type: string): string => {
  const span = 2n ** BigInt(bits);
  const half = span / 2n;
  return `(x) AS CAST((((x + ${half}) & ${span - 1n}) - ${half}) AS ${type})`;
};

/** Nanoseconds of 800,000 days: added to make every timestamp positive, so that division rounds down. */
const BIAS_DAYS = 800000n;
const NANOS_PER_DAY = 86_400_000_000_000n;
const BIAS = `${BIAS_DAYS * NANOS_PER_DAY}::HUGEINT`;

const floor = (unit: bigint): string => `((t + ${BIAS}) // ${unit}::HUGEINT)`;

const saturate = (type: string, low: string, high: string): string =>
  `(x) AS CASE WHEN isnan(x) THEN 0::${type} WHEN x >= ${high} THEN CAST(${high} AS ${type}) WHEN x <= ${low} THEN CAST(${low} AS ${type}) ELSE CAST(trunc(x) AS ${type}) END`;

const DEFINITIONS: Readonly<Record<string, string>> = {
  hv_wrap8: wrap(8, 'TINYINT'),
  hv_wrap16: wrap(16, 'SMALLINT'),
  hv_wrap32: wrap(32, 'INTEGER'),
  // x is a HUGEINT
  hv_wrap64: `(x) AS CAST((((x + 9223372036854775808::HUGEINT) & 18446744073709551615::HUGEINT) - 9223372036854775808::HUGEINT) AS BIGINT)`,
  hv_double_int: saturate('INTEGER', '-2147483648', '2147483647'),
  hv_double_float:
    "(x) AS coalesce(TRY_CAST(x AS FLOAT), CASE WHEN x > 0 THEN CAST('inf' AS FLOAT) WHEN x < 0 THEN CAST('-inf' AS FLOAT) END)",
  hv_double_bigint:
    "(x) AS CASE WHEN isnan(x) THEN 0::BIGINT WHEN x >= 9223372036854775807::DOUBLE THEN 9223372036854775807::BIGINT WHEN x <= -9223372036854775808::DOUBLE THEN CAST('-9223372036854775808' AS BIGINT) ELSE CAST(trunc(x) AS BIGINT) END",
  hv_whole_text:
    "(s) AS CASE WHEN regexp_full_match(s, '[+-]?\\d+(\\.\\d*)?') THEN ltrim(split_part(s, '.', 1), '+') WHEN regexp_full_match(s, '[+-]?\\.\\d+') THEN '0' END",
  hv_double_text:
    "(s) AS CASE WHEN regexp_full_match(trim(s), '[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?[dDfF]?') THEN rtrim(ltrim(trim(s), '+'), 'dDfF') WHEN trim(s) IN ('NaN', 'Infinity', '+Infinity', '-Infinity') THEN ltrim(trim(s), '+') END",
  hv_decimal_text:
    "(s) AS CASE WHEN regexp_full_match(trim(s), '[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?') THEN ltrim(trim(s), '+') END",
  hv_text_boolean: "(s) AS CASE WHEN s IS NULL THEN NULL ELSE lower(s) NOT IN ('', 'false', 'no', 'off', '0') END",
  hv_boolean_text: "(b) AS CASE WHEN b THEN 'TRUE' WHEN NOT b THEN 'FALSE' END",
  hv_date: `(t) AS (DATE '1970-01-01' + CAST(${floor(NANOS_PER_DAY)} - ${BIAS_DAYS} AS INTEGER))`,
  hv_timestamp: `(d) AS (CAST(d - DATE '1970-01-01' AS HUGEINT) * ${NANOS_PER_DAY}::HUGEINT)`,
  hv_days: "(d) AS CAST(d - DATE '1970-01-01' AS INTEGER)",
  hv_day_nanos: `(t) AS ((t + ${BIAS}) % ${NANOS_PER_DAY}::HUGEINT)`,
  hv_hour: `(t) AS CAST(hv_day_nanos(t) // 3600000000000::HUGEINT AS INTEGER)`,
  hv_minute: `(t) AS CAST((hv_day_nanos(t) // 60000000000::HUGEINT) % 60 AS INTEGER)`,
  hv_second: `(t) AS CAST((hv_day_nanos(t) // 1000000000::HUGEINT) % 60 AS INTEGER)`,
  hv_seconds: `(t) AS CAST(${floor(1_000_000_000n)} - ${BIAS_DAYS * 86400n} AS BIGINT)`,
  hv_seconds_double:
    '(t) AS (CAST(hv_seconds(t) AS DOUBLE) + CAST((t - hv_seconds(t)::HUGEINT * 1000000000::HUGEINT) AS DOUBLE) / 1000000000.0::DOUBLE)',
  hv_seconds_decimal: '(t) AS (CAST(t AS DECIMAL(28,0)) * CAST(0.000000001 AS DECIMAL(9,9)))',
  hv_add_months: '(d, n) AS CAST(d + to_months(CAST(n AS INTEGER)) AS DATE)',
  hv_pad_left:
    "(s, n, p) AS CASE WHEN n < 0 OR (length(p) = 0 AND n > length(s)) THEN CASE WHEN s IS NULL OR p IS NULL THEN NULL ELSE '' END ELSE lpad(s, CAST(n AS INTEGER), p) END",
  hv_pad_right:
    "(s, n, p) AS CASE WHEN n < 0 OR (length(p) = 0 AND n > length(s)) THEN CASE WHEN s IS NULL OR p IS NULL THEN NULL ELSE '' END ELSE rpad(s, CAST(n AS INTEGER), p) END",
  hv_substr:
    "(s, p) AS CASE WHEN p > 0 THEN substring(s, p) WHEN p = 0 THEN s WHEN -p > length(s) THEN '' ELSE substring(s, length(s) + p + 1) END",
  hv_substr_n:
    "(s, p, n) AS CASE WHEN n <= 0 THEN CASE WHEN s IS NULL OR p IS NULL THEN NULL ELSE '' END WHEN p > 0 THEN substring(s, p, n) WHEN p = 0 THEN substring(s, 1, n) WHEN -p > length(s) THEN '' ELSE substring(s, length(s) + p + 1, n) END",
  hv_div_double: '(a, b) AS CASE WHEN b = 0 THEN NULL ELSE a / b END',
  hv_mod: '(a, b) AS CASE WHEN b = 0 THEN NULL ELSE a % b END',
  hv_pmod: '(a, b) AS CASE WHEN b = 0 THEN NULL ELSE ((a % b) + b) % b END',
  hv_element: '(l, i) AS CASE WHEN i < 0 THEN NULL ELSE list_extract(l, CAST(i AS BIGINT) + 1) END',
  hv_round_double: '(x, d) AS CASE WHEN isnan(x) OR isinf(x) THEN x ELSE round(x, d) END',
};

const NAME = /\bhv_[a-z0-9_]+/g;

/** The macros that SQL names and those that they name, each after what it needs. */
export function macrosFor(sql: string): [name: string, create: string][] {
  const found = new Map<string, string>();
  const add = (text: string) => {
    for (const [name] of text.matchAll(NAME)) {
      const definition = DEFINITIONS[name];
      if (found.has(name) || definition === undefined) continue;
      add(definition);
      found.set(name, `CREATE OR REPLACE MACRO ${name}${definition}`);
    }
  };
  add(sql);
  return [...found];
}
