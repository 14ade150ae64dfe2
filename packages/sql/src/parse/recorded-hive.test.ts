import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Expression, Query } from './ast.js';
import { ParseError, parseStatement } from './index.js';

const read = (name: string): [string, string | null][] =>
  JSON.parse(readFileSync(new URL(`./recorded/${name}.json`, import.meta.url), 'utf8'));

/** What skep takes and Hive 4.0.1 refuses, and why. */
const ACCEPTED_BEYOND_HIVE: readonly [RegExp, string][] = [
  [/timestamp with local time zone '/, 'the literal by its standard name'],
  [/limit \?/, 'a parameter as limit'],
  [/^select extract\(dow/, 'dow of extract, which later Hive has'],
  [/^select 1 from (\(values|table\(values)|^select \* from \(select 1\) a \(x, y\)/, 'column names behind an alias'],
  [/^insert overwrite t /, 'OVERWRITE without TABLE'],
  [/^with q as .* merge/, 'WITH before MERGE (asked for: wants 21)'],
  [/left anti join/, 'LEFT ANTI JOIN'],
  [/join \(u join v/, 'a join in parentheses on the right'],
  [/^set a = b$|^reset |^dfs |^add jar /, 'commands of the CLI, which Hive runs outside of its parser'],
  [/default -1|= -1\)|\(1, -2\)/, 'negative constants'],
  [/^create external temporary/, 'modifiers in any order'],
  [/^create table .* lines terminated by 'x' fields/, 'parts of DELIMITED in any order'],
  [/^create view v as from/, 'a view whose query begins with FROM'],
  [/^create materialized view .* clustered on .* distributed on/, 'both forms of clustering'],
  [/add columns \(a int not null\)|drop column/, 'column forms that the executor refuses with a reason'],
  [/drop partition \(a >= 1 and/, 'AND between the terms of a partition filter'],
  [/unset tblproperties if exists \('a', 'b'='c'\)/, 'a value behind a key to unset'],
  [/set fileformat inputformat 'a' outputformat 'b'$/, 'SET FILEFORMAT without SERDE'],
  [/recover partitions|no_drop|offline/, 'forms of older Hive and of Amazon'],
  [/drop statistics|explain (rewrite|joincost)/, 'forms of other Hive versions'],
  [
    /^show (databases 'x'|extended databases|functions 'x'|processlist|dataconnectors|indexes)/,
    'forms of other Hive versions',
  ],
  [/^describe formatted t a partition/, 'the partition behind the column'],
  [/^begin$/, 'BEGIN'],
  [/^create (index|dataconnector)/, 'known as unsupported'],
  [/range between interval|1 \+ 1 following/, 'expressions as frame bounds'],
];

/** What Hive 4.0.1 takes and skep refuses, and why. */
const REFUSED: readonly [RegExp, string][] = [
  [/^select _utf8 0x/, 'character set literals'],
  [/partitioned by spec/, 'Iceberg'],
  [/tblproperties \('a'\)$/, 'a property without a value'],
];

/** Errors at another place than Hive's, and why. */
const OTHER_PLACE: readonly [RegExp, string][] = [
  [/100M, 1k/, 'Hive gives up one token earlier'],
  [/^select _/, 'Hive speaks of a character set literal'],
  [/as void|a void/, 'VOID is a type here, the next error is reported'],
  [/^merge into t using u on a = b$|matched delete$/, "Hive's text has no position or repeats itself"],
  [/from t, u on x/, 'Hive reports a failed predicate behind the clause'],
  [/^select a, from t/, 'Hive points at the comma'],
  [/^b'$/, 'Hive forgets its lexer error'],
  [/^select not a in \(1\), not not a, a = not b$/, 'covered below by position'],
];

const listed = (list: readonly [RegExp, string][], sql: string): boolean => list.some(([pattern]) => pattern.test(sql));

function errorOf(sql: string): ParseError | undefined {
  try {
    parseStatement(sql);
    return undefined;
  } catch (error) {
    if (error instanceof ParseError) return error;
    throw error;
  }
}

describe('statements recorded from the parser of Hive 4.0.1', () => {
  const statements = read('statements');

  it.each(statements.filter(([, error]) => error === null))('takes %j', (sql) => {
    expect(errorOf(sql) !== undefined).toBe(listed(REFUSED, sql));
  });

  it.each(statements.filter(([, error]) => error !== null))('refuses %j', (sql, recorded) => {
    const error = errorOf(sql);
    expect(error === undefined).toBe(listed(ACCEPTED_BEYOND_HIVE, sql));
    if (error === undefined || listed(OTHER_PLACE, sql)) return;
    const place = /^line (\d+):(\d+)/.exec(recorded ?? '');
    expect(`${error.line}:${error.charPositionInLine}`).toBe(`${place?.[1]}:${place?.[2]}`);
  });

  it('gives most errors in the very words of Hive', () => {
    const errors = statements.filter(([sql, error]) => error !== null && errorOf(sql) !== undefined);
    const same = errors.filter(([sql, error]) => errorOf(sql)?.message === `ParseException ${error}`);
    expect(same.length / errors.length).toBeGreaterThan(0.6);
  });
});

describe('keywords as Hive 4.0.1 takes them', () => {
  const forms: ((word: string) => string)[] = [
    (w) => `select ${w} from t`,
    (w) => `select 1 as ${w} from t`,
    (w) => `select 1 ${w} from t`,
    (w) => `select * from ${w}`,
    (w) => `select * from t ${w}`,
    (w) => `select ${w}(x) from t`,
    (w) => `select a.${w} from t`,
    (w) => `create table t (${w} int)`,
  ];
  /** `select 1 day` is an interval in both, so no word is listed here unless Hive and skep differ. */
  const different: Readonly<Record<string, string>> = {};

  it.each(read('keywords'))('%s', (word, answers) => {
    const mine = forms.map((form) => (errorOf(form(word)) === undefined ? 'Y' : '-')).join('');
    expect(mine).toBe(different[word] ?? answers);
  });
});

describe('precedence and association as in Hive 4.0.1', () => {
  it.each(read('expressions'))('%s', (sql, tree) => {
    const query = parseStatement(sql) as Query;
    const item = query.body.kind === 'select' ? query.body.items[0] : undefined;
    if (item?.kind !== 'expression') throw new TypeError(`no expression in ${sql}`);
    expect(hiveTree(item.expression)).toBe(normalized(tree ?? ''));
  });
});

/** Hive's tree keeps spellings that mean the same; literals' quotes are of no interest here. */
function normalized(tree: string): string {
  return tree
    .replace(/\(TOK_STRINGLITERALSEQUENCE 's' 't'\)|'x'/g, 'STRING')
    .replace(/'2020-01-01'/g, 'DATE')
    .replace(/\(regexp /g, '(rlike ')
    .replace(/\(!= /g, '(<> ')
    .replace(/\(== /g, '(= ')
    .replace(/TOK_NULL/g, 'NULL');
}

const IS_FUNCTIONS = {
  null: ['isnull', 'isnotnull'],
  unknown: ['isnull', 'isnotnull'],
  true: ['istrue', 'isnottrue'],
  false: ['isfalse', 'isnotfalse'],
} as const;

/** The expression in the form of Hive's own tree, for the kinds that the recording has. */
function hiveTree(e: Expression): string {
  const call = (...parts: string[]): string => `(TOK_FUNCTION ${parts.join(' ')})`;
  const not = (negated: boolean, tree: string): string => (negated ? `(not ${tree})` : tree);
  switch (e.kind) {
    case 'null':
      return 'NULL';
    case 'boolean':
      return String(e.value);
    case 'number':
      return e.text + e.suffix;
    case 'string':
      return 'STRING';
    case 'date':
      return 'DATE';
    case 'column':
      return e.path.slice(1).reduce((tree, part) => `(. ${tree} ${part.name})`, `(TOK_TABLE_OR_COL ${e.path[0].name})`);
    case 'field':
      return `(. ${hiveTree(e.base)} ${e.field.name})`;
    case 'index':
      return `([ ${hiveTree(e.base)} ${hiveTree(e.index)})`;
    case 'unary':
      return `(${e.operator} ${hiveTree(e.operand)})`;
    case 'binary':
      return e.operator === '||'
        ? call('concat', hiveTree(e.left), hiveTree(e.right))
        : `(${e.operator} ${hiveTree(e.left)} ${hiveTree(e.right)})`;
    case 'logical':
      return e.operands.map(hiveTree).reduce((left, right) => `(${e.operator} ${left} ${right})`);
    case 'is':
      return call(IS_FUNCTIONS[e.test][e.negated ? 1 : 0], hiveTree(e.operand));
    case 'is-distinct':
      return not(!e.negated, `(<=> ${hiveTree(e.left)} ${hiveTree(e.right)})`);
    case 'in-list':
      return not(e.negated, call('in', hiveTree(e.operand), ...e.items.map(hiveTree)));
    case 'between':
      return not(e.negated, call('between', 'KW_FALSE', hiveTree(e.operand), hiveTree(e.low), hiveTree(e.high)));
    case 'like':
      return not(e.negated, `(${e.operator} ${hiveTree(e.operand)} ${hiveTree(e.patterns[0])})`);
    case 'row':
      return call('struct', ...e.items.map(hiveTree));
    case 'case':
      return call('when', ...e.branches.flatMap((b) => [hiveTree(b.when), hiveTree(b.result)]));
    case 'cast':
      return call('TOK_INT', hiveTree(e.operand));
    case 'function':
      return call(e.name, ...e.arguments.map(hiveTree));
    default:
      throw new TypeError(`the recording has no ${e.kind}`);
  }
}
