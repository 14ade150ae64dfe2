import { describe, expect, it } from 'vitest';
import type { Expression, Query, Select, Statement } from './ast.js';
import { ParseError, parseExpression, parseStatement } from './index.js';

/** The tree without positions, which have their own tests: what is left is short enough to write down. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, v: unknown) => {
      if (key === 'position') return undefined;
      if (typeof v === 'bigint') return `${v}n`;
      if (v === false || (Array.isArray(v) && v.length === 0)) return undefined;
      if (typeof v === 'object' && v !== null && 'name' in v && 'quoted' in v) return v.name;
      return v;
    }),
  );
}

const select = (sql: string): Select => {
  const query = parseStatement(sql) as Query;
  if (query.body.kind !== 'select') throw new TypeError(`no select: ${sql}`);
  return query.body;
};

const expression = (sql: string): unknown => plain(parseExpression(sql));

/** Each text and what must be in its tree. */
const statements: readonly [string, object][] = [
  ['select 1', { kind: 'query', body: { kind: 'select', items: [{ expression: { kind: 'number', text: '1' } }] } }],
  ['select a from t limit 10, 5', { limit: { text: '5' }, offset: { text: '10' } }],
  ['select a from t limit 5 offset 3', { limit: { text: '5' }, offset: { text: '3' } }],
  ['from t select a where b', { kind: 'query', body: { from: { kind: 'table' }, where: { kind: 'column' } } }],
  [
    'with q (x) as (select 1) insert into t select * from q',
    { kind: 'insert', query: { with: [{ name: 'q', columns: ['x'] }], body: { kind: 'select' } } },
  ],
  [
    'from s insert into m1 select a where a <= 2 insert overwrite table m2 partition (p) select a, 1 limit 1',
    {
      kind: 'multi-insert',
      from: { table: { name: 's' } },
      branches: [
        { target: { table: { name: 'm1' } }, query: { body: { from: { table: { name: 's' } } } } },
        { target: { overwrite: true, partition: { columns: [{ column: 'p' }] } }, query: { limit: { text: '1' } } },
      ],
    },
  ],
  ['from s insert into t select a', { kind: 'insert', query: { body: { from: { table: { name: 's' } } } } }],
  [
    "insert into t partition (ds='x', hr) (a, b) values (1, default), (-2, null)",
    {
      kind: 'insert',
      target: {
        columns: ['a', 'b'],
        partition: { columns: [{ column: 'ds', value: { value: 'x' } }, { column: 'hr' }] },
      },
      query: {
        body: {
          kind: 'values',
          rows: [
            [{ text: '1' }, { kind: 'default' }],
            [{ kind: 'unary', operand: { text: '2' } }, { kind: 'null' }],
          ],
        },
      },
    },
  ],
  ['insert into t (select 1)', { kind: 'insert', query: { body: { kind: 'query' } } }],
  [
    "insert overwrite local directory '/x' row format delimited fields terminated by '\\t' select 1",
    { target: { kind: 'directory', local: true, path: '/x', rowFormat: { fieldsTerminatedBy: '\t' } } },
  ],
  [
    'update db.t set a = default, b = b + 1 where c',
    {
      kind: 'update',
      table: { database: 'db', name: 't' },
      assignments: [{ column: 'a', value: { kind: 'default' } }, { column: 'b' }],
      where: { path: ['c'] },
    },
  ],
  ['delete from t', { kind: 'delete', table: { name: 't' } }],
  [
    "merge into t as a using (select 1 k) s on a.k = s.k when matched and s.k > 3 then update set v = concat(s.v, ',x') when matched then delete when not matched then insert (`order`, k) values (s.o, default)",
    {
      kind: 'merge',
      alias: 'a',
      source: { kind: 'subquery', alias: 's' },
      clauses: [
        {
          kind: 'update',
          condition: { operator: '>' },
          assignments: [{ value: { arguments: [{}, { value: ',x' }] } }],
        },
        { kind: 'delete' },
        { kind: 'insert', columns: ['order', 'k'], values: [{}, { kind: 'default' }] },
      ],
    },
  ],
  [
    "load data local inpath '/x' overwrite into table t partition (p=1)",
    { kind: 'load', local: true, overwrite: true, path: '/x', partition: { columns: [{ column: 'p' }] } },
  ],
  ['truncate t', { kind: 'truncate' }],
  [
    "create transactional table if not exists d.t (id int not null disable novalidate rely comment 'i', n decimal(5), primary key (id) disable, constraint c check (n > 0)) comment 'x' partitioned by (p date) clustered by (id) sorted by (n desc) into 4 buckets stored as orc location '/l' tblproperties ('a'='b')",
    {
      kind: 'create-table',
      transactional: true,
      ifNotExists: true,
      columns: [
        { name: 'id', constraint: { kind: 'not-null', enable: undefined, rely: true }, comment: 'i' },
        { type: { kind: 'decimal', precision: 5, scale: 0 } },
      ],
      constraints: [
        { kind: 'primary-key', columns: ['id'] },
        { kind: 'check', name: 'c' },
      ],
      comment: 'x',
      partitionedBy: [{ name: 'p', type: { name: 'date' } }],
      clusteredBy: { columns: ['id'], sortedBy: [{ column: 'n', direction: 'desc' }], buckets: 4 },
      storage: { kind: 'format', name: 'orc' },
      location: '/l',
      properties: [{ key: 'a', value: 'b' }],
    },
  ],
  ['create table t stored as orc as select 1', { kind: 'create-table', query: { kind: 'query' } }],
  ['create table t like d.u', { kind: 'create-table', like: { database: 'd', name: 'u' } }],
  ['create or replace view v (a) as select 1', { kind: 'create-view', orReplace: true, columns: [{ name: 'a' }] }],
  ['drop database if exists d cascade', { kind: 'drop-database', ifExists: true, cascade: true }],
  ['use default', { kind: 'use', database: 'default' }],
  [
    "alter table t partition (p=1) compact 'major' clustered into 4 buckets and wait pool 'p' with overwrite tblproperties ('a'='b') order by a desc, b",
    {
      partition: { columns: [{ column: 'p' }] },
      action: { kind: 'compact', type: 'major', buckets: 4, wait: true, pool: 'p', orderByText: 'a desc, b' },
    },
  ],
  [
    "alter table t drop if exists partition (a=1), partition (b > 'x', c <> 3) purge",
    {
      action: {
        kind: 'drop-partitions',
        ifExists: true,
        purge: true,
        partitions: [
          {},
          {
            terms: [
              { column: 'b', operator: '>' },
              { column: 'c', operator: '<>' },
            ],
          },
        ],
      },
    },
  ],
  ['alter table t partition (a=1) rename to partition (a=2)', { action: { kind: 'rename-partition' } }],
  ['alter table t change a b bigint after c cascade', { action: { placement: { after: 'c' }, cascade: true } }],
  [
    "show compactions d.t partition (p=1) pool 'x' type 'major' status 'y' order by a desc limit 3",
    { what: { kind: 'compactions', table: { name: 't' }, pool: 'x', type: 'major', status: 'y', limit: 3 } },
  ],
  ['show compactions compactionid = 9007199254740993', { what: { compactionId: '9007199254740993n' } }],
  ['show compactions limit 3', { what: { kind: 'compactions', limit: 3 } }],
  ['show locks t extended', { what: { kind: 'locks', table: { name: 't' }, extended: true } }],
  ['show tables in d like "x*"', { what: { kind: 'tables', database: 'd', pattern: 'x*' } }],
  ['show grant user x on table t', { what: { kind: 'unsupported', name: 'grant' } }],
  ['describe formatted d.t partition (p=1) c', { style: 'formatted', column: ['c'], table: { database: 'd' } }],
  ['describe formatted', { kind: 'describe-table', table: { name: 'formatted' } }],
  ['explain formatted cbo select 1', { kind: 'explain', mode: ['formatted', 'cbo'], statement: { kind: 'query' } }],
  ['explain analyze select 1', { mode: ['analyze'], statement: { kind: 'query' } }],
  ['explain analyze table t compute statistics', { statement: { kind: 'analyze' } }],
  ['abort transactions 1 9007199254740993', { kind: 'abort-transactions', ids: ['1n', '9007199254740993n'] }],
  ['start transaction isolation level snapshot, read only', { readOnly: true, isolationLevel: 'snapshot' }],
  ['begin', { kind: 'start-transaction' }],
  ['set autocommit false', { kind: 'set-autocommit' }],
  ['grant select on table t to user x', { kind: 'unsupported', name: 'grant' }],
  ['set role admin', { kind: 'unsupported', name: 'set role' }],
  // What dt-sql-parser could not (reference/toolchain.md).
  [
    "select transform(a, b) using 'cat' as (x, y) from t",
    { body: { transform: { script: 'cat', columns: ['x', 'y'] } } },
  ],
  ['/* lead */ select a', { kind: 'query' }],
  [
    'select 1 from (values (1,2),(3,4)) as v(x,y)',
    { body: { from: { kind: 'values', alias: 'v', columns: ['x', 'y'] } } },
  ],
];

describe('parseStatement', () => {
  it.each(statements)('%s', (sql, tree) => {
    expect(plain(parseStatement(sql))).toMatchObject(plain(tree) as object);
  });

  it('takes any letter case', () => {
    expect(plain(parseStatement('SELECT Id FROM T WHERE A IS NOT NULL'))).toEqual(
      plain(parseStatement('select Id from T where A is not null')),
    );
  });

  it('keeps queries flat where they are long', () => {
    const union = Array.from({ length: 2000 }, (_, i) => `select ${i}`).join(' union all ');
    const { body } = parseStatement(union) as Query;
    expect(body.kind === 'set-operation' && body.branches.length).toBe(2000);
    const or = select(`select 1 from t where ${Array.from({ length: 2000 }, (_, i) => `a = ${i}`).join(' or ')}`);
    expect(or.where?.kind === 'logical' && or.where.operands.length).toBe(2000);
  });

  it('groups set operators from left to right', () => {
    const { body } = parseStatement(
      'select 1 union select 2 union all select 3 except select 4 minus select 5',
    ) as Query;
    const shape = (b: Query['body']): unknown =>
      b.kind === 'set-operation' ? [b.operator, b.all, ...b.branches.map(shape)] : b.kind;
    expect(shape(body)).toEqual([
      'except',
      false,
      ['union', true, ['union', false, 'select', 'select'], 'select'],
      'select',
      'select',
    ]);
    const nested = parseStatement('(select 1 union all select 2) union all select 3') as Query;
    expect(shape(nested.body)).toEqual(['union', true, 'query', 'select']);
  });

  it('refuses what is nested too deeply instead of overflowing the stack', () => {
    const deep = (n: number) => `select ${'('.repeat(n)}1${')'.repeat(n)}`;
    expect(parseStatement(deep(300)).kind).toBe('query');
    expect(() => parseStatement(deep(100_000))).toThrow(/nested more than/);
    expect(() => parseStatement(`select ${'not '.repeat(100_000)}a`)).toThrow(/nested more than/);
    expect(() => parseStatement(`select cast(a as ${'array<'.repeat(100_000)}int`)).toThrow(/nested more than/);
  });

  it.each(['', '   ', '-- only a comment', '/* x */'])('refuses %j', (sql) => {
    expect(() => parseStatement(sql)).toThrow(ParseError);
  });
});

describe('expressions', () => {
  const column = (...path: string[]) => ({ kind: 'column', path });

  it.each<[string, unknown]>([
    ['t.a.b', column('t', 'a', 'b')],
    ['(t).a', { kind: 'field', base: column('t'), field: 'a' }],
    ['f(x)[0].y', { kind: 'field', field: 'y' }],
    ['`a``b`', column('a`b')],
    ['1t', column('1t')],
    ["'a' \"b\" 'c''d'", { kind: 'string', value: 'abcd' }],
    ['9223372036854775808L', { kind: 'number', text: '9223372036854775808', suffix: 'L' }],
    ['1.5bd', { kind: 'number', text: '1.5', suffix: 'BD' }],
    ['1e-5', { kind: 'number', text: '1e-5', suffix: '' }],
    [
      "interval '1-2' year to month",
      { kind: 'interval', value: { kind: 'string', value: '1-2' }, unit: 'year to month' },
    ],
    ['3 days', { kind: 'interval', value: { kind: 'number', text: '3', suffix: '' }, unit: 'day' }],
    ["timestamp with local time zone 'x'", { kind: 'timestamp', value: 'x', localTimeZone: true }],
    ['current_date', { kind: 'function', name: 'current_date' }],
    [
      'COUNT(distinct a, b)',
      { kind: 'function', name: 'count', distinct: true, arguments: [column('a'), column('b')] },
    ],
    ['count(*)', { kind: 'function', name: 'count', star: true }],
    ['count(t.*)', { kind: 'function', name: 'count', arguments: [{ kind: 'all-columns', qualifier: ['t'] }] }],
    ['date(a)', { kind: 'function', name: 'date', arguments: [column('a')] }],
    ["trim(leading 'x' from a)", { kind: 'trim', mode: 'leading', operand: column('a') }],
    ['floor(a to month)', { kind: 'floor-to', operand: column('a'), unit: 'month' }],
    ['extract(year from a)', { kind: 'extract', unit: 'year', operand: column('a') }],
    ['!a', { kind: 'unary', operator: 'not', operand: column('a') }],
    [
      'a not regexp b',
      { kind: 'like', operator: 'rlike', operand: column('a'), patterns: [column('b')], negated: true },
    ],
    ["a like any ('x', 'y')", { kind: 'like', operator: 'like', quantifier: 'any' }],
    ['a = some (select 1)', { kind: 'quantified-comparison', operator: '=', quantifier: 'any' }],
    ['a not in (select 1)', { kind: 'in-subquery', negated: true }],
    ['((select 1) + 1)', { kind: 'binary', left: { kind: 'subquery' } }],
    ['((select 1) union (select 2))', { kind: 'subquery' }],
    ['(a, b)', { kind: 'row', items: [column('a'), column('b')] }],
    ['a is not distinct from b', { kind: 'is-distinct', negated: true }],
    [
      'sum(a) over (w partition by b order by c desc nulls last rows between 1 preceding and unbounded following)',
      {
        over: {
          reference: 'w',
          partitionBy: [column('b')],
          orderBy: [{ direction: 'desc', nulls: 'last' }],
          frame: { unit: 'rows', start: { kind: 'preceding' }, end: { kind: 'unbounded-following' } },
        },
      },
    ],
    ['first_value(a) ignore nulls over w', { nulls: 'ignore', over: { reference: 'w' } }],
    ['percentile_cont(0.5) within group (order by a)', { withinGroup: [{ expression: column('a') }] }],
    ["cast(a as date format 'yyyy')", { kind: 'cast', type: { kind: 'primitive', name: 'date' }, format: 'yyyy' }],
  ])('%s', (sql, tree) => {
    expect(expression(sql)).toMatchObject(tree as object);
  });

  it('takes DEFAULT as a keyword only where a value is written', () => {
    expect(expression('default')).toEqual(column('default'));
  });

  it.each<[string, string | undefined, string | undefined]>([
    ['select a from t limit', 'limit', undefined],
    ['select a from t limit 5', undefined, '5'],
    ['select a from t limit limit 5', 'limit', '5'],
    ['select a from t cluster cluster by b', 'cluster', undefined],
    ['select a from t sort by b', undefined, undefined],
  ])('%s: alias %j, limit %j', (sql, alias, limit) => {
    const query = parseStatement(sql) as Query;
    const from = select(sql).from;
    expect(from?.kind === 'table' ? from.alias?.name : 'no table').toBe(alias);
    expect(query.limit?.kind === 'number' ? query.limit.text : undefined).toBe(limit);
  });
});

describe('positions', () => {
  const text = 'select a,\n  b + 1 as c\nfrom t\nwhere (x = 1) and y';
  const body = select(text);
  const slice = (node: { position: Expression['position'] }): string =>
    text.slice(node.position.start, node.position.end);

  it('give every node its own text', () => {
    const [, second] = body.items;
    expect(slice(second)).toBe('b + 1 as c');
    expect(second.kind === 'expression' && slice(second.expression)).toBe('b + 1');
    expect(body.where && slice(body.where)).toBe('(x = 1) and y');
    expect(body.where?.kind === 'logical' && body.where.operands.map(slice)).toEqual(['(x = 1)', 'y']);
  });

  it('count lines from 1 and columns from 0', () => {
    expect(body.items[1].position).toMatchObject({ line: 2, column: 2 });
    expect(body.where?.position).toMatchObject({ line: 4, column: 6 });
  });

  it('cover the query of a view, whose text is kept', () => {
    const sql = 'create view v as\n select 1 -- one\n from t ';
    const view = parseStatement(sql) as Extract<Statement, { kind: 'create-view' }>;
    expect(sql.slice(view.query.position.start, view.query.position.end)).toBe('select 1 -- one\n from t');
  });
});

describe('ParseError', () => {
  it('has what a client shows', () => {
    try {
      parseStatement('select *\nfrom acid where');
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({
        code: 'PARSE_ERROR',
        kind: 'invalid',
        sqlState: '42000',
        line: 2,
        charPositionInLine: 15,
        near: '<EOF>',
        message:
          "ParseException line 2:15 cannot recognize input near '<EOF>' '<EOF>' '<EOF>' in expression specification",
      });
    }
  });

  it('says where what is not closed begins', () => {
    expect(() => parseStatement("select 'abc")).toThrow(
      "line 1:11 character '<EOF>' not supported here (the string that begins at line 1:7 is not closed)",
    );
  });
});
