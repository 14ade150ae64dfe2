import { type AppendableValue, parseType, type Sarg, type StructVector, vectorOf, vectorValue } from '@skep/orc';
import { afterAll, describe, expect, test } from 'vitest';
import { parseStatement } from '../parse/index.js';
import {
  type AnalyzedQuery,
  analyzeQuery,
  type ColumnInfo,
  castColumns,
  formatRow,
  parseTypeName,
  QueryEngine,
  type TableSource,
} from '../query.js';

const engine = new QueryEngine();
afterAll(async () => {
  await engine.close();
});

interface Table {
  readonly columns: readonly ColumnInfo[];
  readonly source: TableSource;
}
const table = (types: Record<string, string>, values: readonly (readonly AppendableValue[])[], batch = 1000): Table => {
  const columns = Object.entries(types).map(([name, type]) => ({ name, type: parseTypeName(type) }));
  const batches: StructVector[] = [];
  for (let at = 0; at < values.length; at += batch) {
    const rows = values.slice(at, at + batch);
    const children = columns.map(({ name }, i) =>
      vectorOf(
        parseType(types[name]),
        rows.map((row) => row[i]),
      ),
    );
    batches.push({ kind: 'struct', length: rows.length, fieldNames: columns.map((c) => c.name), children });
  }
  const source: TableSource = {
    scan({ columns: names }) {
      let next = 0;
      return {
        next() {
          const found = batches[next++];
          if (found === undefined) return undefined;
          return { length: found.length, columns: names.map((name) => found.children[found.fieldNames.indexOf(name)]) };
        },
      };
    },
  };
  return { columns, source };
};

async function analyze(text: string, tables: Record<string, Table>): Promise<AnalyzedQuery> {
  const ast = parseStatement(text);
  if (ast.kind !== 'query') throw new TypeError(text);
  return await analyzeQuery(ast, {
    currentDatabase: 'd',
    text,
    resolveTable: (_database, name) => {
      const found = tables[name];
      return found && { kind: 'table', database: 'd', name, columns: found.columns, handle: found };
    },
  });
}

async function batchesOf(analyzed: AnalyzedQuery, signal?: AbortSignal): Promise<StructVector[]> {
  const found: StructVector[] = [];
  const result = await engine.run(analyzed, { openTable: (use) => (use.handle as Table).source, signal });
  for await (const batch of result.batches) found.push(batch);
  return found;
}

async function rowsOf(text: string, tables: Record<string, Table> = {}): Promise<string[]> {
  const analyzed = await analyze(text, tables);
  const types = analyzed.columns.map((column) => column.type);
  return (await batchesOf(analyzed)).flatMap((batch) =>
    Array.from({ length: batch.length }, (_, row) => formatRow(types, batch, row)),
  );
}

describe('values pass through unchanged', () => {
  const many = <T>(count: number, value: (i: number) => T) => Array.from({ length: count }, (_, i) => value(i));
  const cases: Record<string, readonly AppendableValue[]> = {
    boolean: [true, false, null],
    tinyint: [-128, 127, null],
    smallint: [-32768, 32767, null],
    int: [-2147483648, 2147483647, null],
    bigint: [-9223372036854775808n, 9223372036854775807n, null],
    float: [1.5, -0, Number.NaN, null],
    double: [1e300, 5e-324, Number.POSITIVE_INFINITY, null],
    'decimal(4,2)': [{ unscaled: -9999n, scale: 2 }, { unscaled: 1n, scale: 2 }, null],
    'decimal(9,0)': [{ unscaled: 999999999n, scale: 0 }, null],
    'decimal(18,3)': [{ unscaled: -999999999999999999n, scale: 3 }, null],
    'decimal(38,10)': [{ unscaled: 10n ** 38n - 1n, scale: 10 }, { unscaled: -1n, scale: 10 }, null],
    date: [-719162, 2932896, 0, null],
    timestamp: [
      { seconds: -62135596800n, nanos: 0 },
      { seconds: 253402300799n, nanos: 999999999 },
      { seconds: -1n, nanos: 1 },
      { seconds: 0n, nanos: 123456789 },
      null,
    ],
    string: ['', 'short', 'exactly 12 b', 'longer than twelve bytes', '日本語 🐝 and more text', 'a\u0000b', null],
    binary: [new Uint8Array(0), Uint8Array.of(0, 255, 1), new Uint8Array(20).fill(200), null],
    'varchar(20)': ['trailing blanks   ', null],
    'array<string>': [['a', null, 'something longer than that'], [], null],
    'map<string,int>': [
      [
        ['k', 1],
        ['second key of the map', null],
      ],
      [],
      null,
    ],
    'struct<a:int,b:string>': [{ a: 1, b: 'x' }, { a: null, b: null }, null],
    'array<struct<p:string,q:array<double>>>': [
      [
        { p: 'p', q: [1.5, null] },
        { p: null, q: null },
      ],
      [null],
      null,
    ],
    'uniontype<int,string>': [{ tag: 0, value: 7 }, { tag: 1, value: 'a text of more than 12' }, null],
  };
  test.each(Object.entries(cases))('%s', async (type, values) => {
    // More than two chunks, so that offsets within batches count.
    const rows = many(5000, (i) => [i, values[i % values.length]]);
    const t = table({ k: 'int', v: type }, rows, 3001);
    const analyzed = await analyze('select v, k from t', { t });
    const out = (await batchesOf(analyzed)).flatMap((batch) =>
      Array.from({ length: batch.length }, (_, row) => vectorValue(batch.children[0], row)),
    );
    const expected = vectorOf(
      parseType(type),
      rows.map((row) => row[1]),
    );
    expect(out).toEqual(many(5000, (i) => vectorValue(expected, i)));
  });

  test('char values lose their blanks inside and get them back', async () => {
    const t = table({ c: 'char(5)' }, [['ab   '], ['日本   '], [null]]);
    const [batch] = await batchesOf(await analyze('select c from t', { t }));
    expect([0, 1, 2].map((row) => vectorValue(batch.children[0], row))).toEqual(['ab   ', '日本   ', null]);
    expect(await rowsOf("select length(c) from t where c = 'ab'", { t })).toEqual(['2']);
  });
});

test('timestamps compare, group and sort by their nanoseconds', async () => {
  const t = table({ t: 'timestamp' }, [
    [{ seconds: -1n, nanos: 5 }],
    [{ seconds: -1n, nanos: 4 }],
    [{ seconds: 253402300799n, nanos: 1 }],
    [{ seconds: -1n, nanos: 5 }],
  ]);
  expect(await rowsOf('select t, count(*) from t group by t order by t', { t })).toEqual([
    '1969-12-31 23:59:59.000000004\t1',
    '1969-12-31 23:59:59.000000005\t2',
    '9999-12-31 23:59:59.000000001\t1',
  ]);
  expect(await rowsOf('select max(t), min(t), year(max(t)) from t', { t })).toEqual([
    '9999-12-31 23:59:59.000000001\t1969-12-31 23:59:59.000000004\t9999',
  ]);
});

test('a scan reads only the columns that the query needs, and none for count(*)', async () => {
  const asked: (readonly string[])[] = [];
  const base = table({ a: 'int', b: 'string', c: 'double' }, [[1, 'x', 2]]);
  const t: Table = {
    ...base,
    source: {
      scan(request) {
        asked.push(request.columns);
        return base.source.scan(request);
      },
    },
  };
  await rowsOf('select b from t', { t });
  await rowsOf('select count(*) from t', { t });
  await rowsOf('select a from t where c > 1', { t });
  expect(asked.map((columns) => [...columns].sort())).toEqual([['b'], [], ['a', 'c']]);
});

test("an error of a table's source is the query's error", async () => {
  class BrokenTable extends TypeError {}
  const t: Table = {
    columns: [{ name: 'a', type: parseTypeName('int') }],
    source: {
      scan: () => ({
        next() {
          throw new BrokenTable('bucket_00000 is torn');
        },
      }),
    },
  };
  await expect(rowsOf('select a from t', { t })).rejects.toThrow('bucket_00000 is torn');
  expect(await rowsOf('select 1')).toEqual(['1']);
});

test('an aborted query ends with the reason, and closes its scans', async () => {
  const controller = new AbortController();
  let closed = 0;
  const base = table(
    { a: 'int' },
    Array.from({ length: 2000 }, (_, i) => [i]),
  );
  const t: Table = {
    ...base,
    source: {
      scan(request) {
        let handle = base.source.scan(request);
        let batches = 0;
        return {
          next() {
            if (++batches === 5) controller.abort(new RangeError('stop'));
            const found = handle.next();
            if (found !== undefined) return found;
            handle = base.source.scan(request);
            return handle.next();
          },
          close() {
            closed++;
          },
        };
      },
    },
  };
  const analyzed = await analyze('select a from t', { t });
  await expect(batchesOf(analyzed, controller.signal)).rejects.toThrow('stop');
  expect(closed).toBe(1);
});

test('assignment converts to the target', async () => {
  const analyzed = castColumns(
    await analyze("select '12', 'x', 1.555, 'hello', 'a', 7", {}),
    ['int', 'int', 'decimal(3,2)', 'varchar(3)', 'char(3)', 'string'].map(parseTypeName),
  );
  const types = analyzed.columns.map((column) => column.type);
  const [batch] = await batchesOf(analyzed);
  expect(formatRow(types, batch, 0)).toBe('12\tNULL\t1.56\thel\ta  \t7');
});

describe('conditions for pruning', () => {
  const t = table({ a: 'int', s: 'string', d: 'date', p: 'string' }, []);
  const u = table({ a: 'int', b: 'int' }, []);
  const predicates = async (text: string): Promise<Record<string, readonly Sarg[]>> => {
    const analyzed = await analyze(text, { t, u });
    return Object.fromEntries(analyzed.tables.map((use) => [use.alias, use.predicate]));
  };
  test('conjuncts on one table', async () => {
    expect(
      await predicates("select 1 from t where a >= 3 and s in ('x','y') and upper(p) = 'Z' and d = '2024-01-01'"),
    ).toEqual({
      t: [
        { op: 'not', child: { op: 'lessThan', column: 'a', literal: 3n } },
        { op: 'in', column: 's', literals: ['x', 'y'] },
        { op: 'equals', column: 'd', literal: 19723 },
      ],
    });
  });
  test('only where Hive compares in the type of the column', async () => {
    expect(await predicates("select 1 from t where s = 5 and a = date '2024-01-01' and a = 1.5")).toEqual({ t: [] });
  });
  test('text and doubles beside an integer as numbers, where doubles are exact', async () => {
    expect(await predicates("select 1 from t where a = '5' and a < 1.5D")).toEqual({
      t: [
        { op: 'equals', column: 'a', literal: 5 },
        { op: 'lessThan', column: 'a', literal: 1.5 },
      ],
    });
    expect(await predicates("select 1 from t where a = '9007199254740993' and a = 'x' and a = ''")).toEqual({ t: [] });
  });
  test('constants that nobody reckons prune nothing', async () => {
    expect(await predicates("select 1 from t where s = md5('1') and a in (1, abs(2)) and a = 1")).toEqual({
      t: [{ op: 'equals', column: 'a', literal: 1n }],
    });
  });
  test('or, not, between, is null', async () => {
    expect(await predicates('select 1 from t where (a = 1 or a is null) and not a between 5 and 6')).toEqual({
      t: [
        {
          op: 'or',
          children: [
            { op: 'equals', column: 'a', literal: 1n },
            { op: 'isNull', column: 'a' },
          ],
        },
        { op: 'not', child: { op: 'between', column: 'a', low: 5n, high: 6n } },
      ],
    });
  });
  test('through subqueries that pass rows on, not through others', async () => {
    expect(await predicates('select 1 from (select a x, s from t) q where x = 1')).toEqual({
      t: [{ op: 'equals', column: 'a', literal: 1n }],
    });
    expect(await predicates('with q as (select * from t) select 1 from q where a = 1')).toEqual({
      t: [{ op: 'equals', column: 'a', literal: 1n }],
    });
    for (const inner of [
      'select a, count(*) from t group by a',
      'select a from t limit 5',
      'select distinct a from t',
      'select a, row_number() over (order by s) from t',
    ]) {
      expect(await predicates(`select 1 from (${inner}) q where a = 1`)).toEqual({ t: [] });
    }
  });
  test('not for the side that an outer join fills with NULLs', async () => {
    expect(
      await predicates(
        'select 1 from t left join u on t.a = u.a and u.b = 2 and t.a = 9 where u.a is null and t.a = 1',
      ),
    ).toEqual({
      t: [{ op: 'equals', column: 'a', literal: 1n }],
      u: [{ op: 'equals', column: 'b', literal: 2n }],
    });
  });
});
