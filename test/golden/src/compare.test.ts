import { describe, expect, it } from 'vitest';
import { CaseTables } from './case-tables.js';
import { compareError } from './compare-error.js';
import { compareFiles } from './compare-files.js';
import { compareRows, repeatedRowId } from './compare-rows.js';
import { compareLines, showRule } from './compare-show.js';
import { applyRules } from './deviations.js';
import { trinoColumn, trinoRow } from './trino-text.js';

const rules = (statement: string, columns: string[], maskRowIds = false) => ({ statement, columns, maskRowIds });
const id = (writeId: number, bucket: number, row: number): string =>
  `{"writeid":${writeId},"bucketid":${bucket},"rowid":${row}}`;

describe('compareRows', () => {
  it('takes rows as a multiset without ORDER BY', () => {
    const of = rules('select a from t', ['a:int']);
    expect(compareRows(['1', '2', '2'], ['2', '1', '2'], of)).toBeUndefined();
    expect(compareRows(['1', '2', '2'], ['2', '1', '1'], of)).toMatch(/rows differ/);
    expect(compareRows(['1'], ['1', '1'], of)).toMatch(/2 rows instead of 1/);
  });

  it('takes the order that ORDER BY decides, and leaves ties alone', () => {
    const of = rules('select a, b from t order by a', ['a:int', 'b:int']);
    expect(compareRows(['1\t5', '1\t6', '2\t0'], ['1\t6', '1\t5', '2\t0'], of)).toBeUndefined();
    expect(compareRows(['1\t5', '2\t0'], ['2\t0', '1\t5'], of)).toMatch(/another order/);
  });

  it('masks ROW__IDs of unbucketed tables down to write id and statement id', () => {
    const masked = rules('select a, ROW__ID from t', ['a:int', 'row__id:struct<>'], true);
    const [mine, hive] = [[`1\t${id(3, 536870913, 0)}`], [`1\t${id(3, 536936449, 7)}`]];
    expect(compareRows(hive, mine, masked)).toBeUndefined();
    expect(compareRows(hive, mine, { ...masked, maskRowIds: false })).toMatch(/rows differ/);
    expect(compareRows(hive, [`1\t${id(3, 536870912, 0)}`], masked)).toMatch(/rows differ/);
    expect(compareRows(hive, [`1\t${id(2, 536870913, 0)}`], masked)).toMatch(/rows differ/);
  });

  it("leaves a file's transaction open, and its name where the table is not bucketed", () => {
    const of = rules('select INPUT__FILE__NAME from t', ['input__file__name:string']);
    const [hive, mine] = [['file:/w/t/base_5_v0000391/bucket_00001'], ['file:/w/t/base_5_v0000007/bucket_00000']];
    expect(compareRows(hive, mine, { ...of, maskRowIds: true })).toBeUndefined();
    expect(compareRows(hive, mine, of)).toMatch(/rows differ/);
    expect(compareRows(hive, ['file:/w/t/base_5_v0000009/bucket_00001'], of)).toBeUndefined();
  });

  it('finds a ROW__ID that occurs twice in a partition', () => {
    const rows = [`1\tx\t${id(1, 536870912, 0)}`, `2\ty\t${id(1, 536870912, 0)}`];
    expect(repeatedRowId(rows, 3, [])).toMatch(/twice/);
    expect(repeatedRowId(rows, 3, [1])).toBeUndefined();
    expect(repeatedRowId(rows, 3)).toBeUndefined();
  });
});

describe('compareFiles', () => {
  const hive = ['delta_1_1_0000/', 'delta_1_1_0000/_orc_acid_version', 'delta_1_1_0000/bucket_00000_0', 'b_v0000391/'];

  it('wants directories exact, transaction ids aside', () => {
    const mine = hive.map((path) => path.replace('391', '007'));
    expect(compareFiles(hive, mine)).toBeUndefined();
    expect(compareFiles(hive, mine.slice(0, 3))).toMatch(/missing: b_vN/);
    expect(compareFiles(hive, [...mine, 'c/'])).toMatch(/not in Hive's: c/);
    expect(
      compareFiles(
        hive,
        mine.filter((path) => !path.includes('_orc')),
      ),
    ).toMatch(/missing/);
  });

  it('wants data files exact for bucketed tables, some for others', () => {
    const mine = hive.map((path) => path.replace('bucket_00000_0', 'bucket_00003_0'));
    expect(compareFiles(hive, mine, { bucketed: false, partitionColumns: [] })).toBeUndefined();
    expect(compareFiles(hive, mine, { bucketed: true, partitionColumns: [] })).toMatch(/missing/);
    expect(
      compareFiles(
        hive,
        mine.filter((path) => !path.includes('bucket')),
      ),
    ).toMatch(/data files/);
  });

  it("does not want the empty folder that Hive's mixed static and dynamic INSERT leaves", () => {
    const table = { bucketed: false, partitionColumns: ['ds', 'hr'] };
    expect(compareFiles(['ds=x/', 'hr=2/'], ['ds=x/'], table)).toBeUndefined();
    expect(compareFiles(['ds=x/', 'ds=y/'], ['ds=x/'], table)).toMatch(/missing: ds=y/);
  });
});

describe('compareError', () => {
  const error = (code: number, message: string) => ({ code, sqlState: '42000', message });

  it('wants the same number where Hive gives one', () => {
    const hive = error(40000, 'FAILED: SemanticException [Error 10001]: Table not found');
    expect(compareError(hive, { message: 'x', hiveCode: 10001 })).toBeUndefined();
    expect(compareError(hive, { message: 'x', hiveCode: 10002 })).toMatch(/10001/);
    expect(compareError(hive, { message: 'x' })).toMatch(/10001/);
    expect(compareError(error(10286, 'return code 10286 from'), { message: 'x', hiveCode: 10286 })).toBeUndefined();
  });

  it('wants a reason where Hive only says that the task failed', () => {
    const hive = error(-1, 'FAILED: Execution Error, return code 2 from MapRedTask');
    expect(compareError(hive, { message: 'a row matched twice' })).toBeUndefined();
    expect(compareError(hive, { message: ' ' })).toMatch(/why/);
    expect(compareError(hive, { message: "Cannot read properties of undefined (reading 'x')" })).toMatch(/own/);
  });
});

describe('SHOW and DESCRIBE', () => {
  const compare = (statement: string, hive: string[], mine: string[]) => {
    const rule = showRule(statement);
    const context = { database: 'db', warehouse: '/w' };
    return rule === undefined ? 'no rule' : compareLines(rule(hive, context), rule(mine, context), false);
  };
  const row = (...cells: string[]) => cells.join('\t');

  it("compares state of the case's own compactions only", () => {
    const hive = [
      'head',
      row('4', 'db', 't', ' --- ', 'MAJOR', 'initiated', 'h'),
      row('1', 'o', 't', '-', 'MINOR', 'x', 'h'),
    ];
    expect(
      compare('show compactions', hive, ['head', row('1', 'db', 't', ' --- ', 'MAJOR', 'initiated', 'me')]),
    ).toBeUndefined();
    expect(compare('show compactions', hive, ['head', row('1', 'db', 't', ' --- ', 'MAJOR', 'working', 'me')])).toMatch(
      /missing/,
    );
    expect(compare('show compactions', hive, ['head'])).toMatch(/missing/);
  });

  it('compares names of properties, and values that are no figures', () => {
    const hive = [row('numRows', '3'), row('transactional', 'true')];
    expect(compare('SHOW TBLPROPERTIES t', hive, [row('numRows', '4'), row('transactional', 'true')])).toBeUndefined();
    expect(compare('SHOW TBLPROPERTIES t', hive, [row('numRows', '3'), row('transactional', 'false')])).toMatch(
      /missing/,
    );
    expect(compare('SHOW TBLPROPERTIES t', hive, [row('transactional', 'true')])).toMatch(/numRows/);
  });

  it('compares the lines of DESCRIBE FORMATTED without times', () => {
    const hive = ['CreateTime:         \tMon Nov 30\t ', 'Table Type:         \tMANAGED_TABLE       \t '];
    expect(compare('desc formatted t', hive, ['CreateTime:\tTue\t ', 'Table Type:\tMANAGED_TABLE\t '])).toBeUndefined();
    expect(compare('desc formatted t', hive, ['CreateTime:\tTue\t ', 'Table Type:\tEXTERNAL_TABLE\t '])).toMatch(
      /MANAGED/,
    );
  });
});

describe('CaseTables', () => {
  it('knows buckets and partitions from the statements', () => {
    const tables = new CaseTables();
    tables.note(
      'create table a (k int, x decimal(10,2)) partitioned by (d decimal(4,1), e string) clustered by (k) into 4 buckets stored as orc',
    );
    tables.note('CREATE TABLE IF NOT EXISTS db.B (k int)\nSTORED AS ORC');
    tables.note('create table c like a');
    tables.note('alter table c rename to d');
    expect(tables.get('a')).toEqual({ bucketed: true, partitionColumns: ['d', 'e'] });
    expect(tables.get('b')).toEqual({ bucketed: false, partitionColumns: [] });
    expect(tables.get('D')).toEqual(tables.get('a'));
    expect(tables.namedIn('select * from a join b')).toHaveLength(2);
  });
});

describe('applyRules', () => {
  const list = { steps: [], rules: [{ rule: 'order-by-null-array', reason: 'why' }] };

  it('takes the right value only where the rule says so', () => {
    const of = (statement: string, got: string) =>
      applyRules(list, statement, ['a:array<int>'], ['a'], ['NULL'], [got]);
    expect(of('select a from t order by a', '[null]')).toEqual({ rows: ['[null]'], reason: 'why' });
    expect(of('select a from t', '[null]')).toBeUndefined();
    expect(of('select a from t order by a', '[1]')).toBeUndefined();
  });
});

describe("Trino's text", () => {
  it('is made of ours', () => {
    expect(trinoColumn('g:decimal(18, 4)')).toBe('g:decimal(18,4)');
    expect(trinoColumn('p:map(varchar, double)')).toBe('p:map<string,double>');
    expect(trinoColumn('q:row(x integer, y varchar)')).toBe('q:struct<x:int,y:string>');
    const columns = [
      'a:boolean',
      'b:double',
      'c:timestamp',
      'd:array<int>',
      'e:struct<x:int,y:string>',
      'f:map<string,double>',
    ];
    const row = ['id', 'true', '-1.0E300', '1970-01-01 00:00:00.123456789', '[1,null]', '{"x":7,"y":"s"}', '{"a":0.0}'];
    const text = ['True', '-1e+300', '1970-01-01 00:00:00.123457', '[1, None]', "(x: 7, y: 's')", "{'a': 0.0}"];
    expect(trinoRow(row.join('\t'), columns)).toBe(text.join('\t'));
  });
});
