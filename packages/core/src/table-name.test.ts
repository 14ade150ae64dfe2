import { describe, expect, it } from 'vitest';
import {
  escapePathName,
  formatPartitionName,
  formatTableName,
  parsePartitionName,
  parseTableName,
  unescapePathName,
} from './table-name.js';

describe('table and partition names', () => {
  it('are lower case', () => {
    expect(parseTableName('Db.T')).toEqual({ db: 'db', table: 't' });
    expect(parseTableName('T', 'default')).toEqual({ db: 'default', table: 't' });
    expect(formatTableName({ db: 'db', table: 't' })).toBe('db.t');
    expect(() => parseTableName('T')).toThrow();
  });

  // bug-reports B100, B101
  it.each([
    ['2020-01-01 10:20:30', '2020-01-01 10%3A20%3A30'],
    ['a/b', 'a%2Fb'],
    ['a=b', 'a%3Db'],
    ['50%', '50%25'],
    ["it's", 'it%27s'],
    ['q?', 'q%3F'],
    ['a+b', 'a+b'],
    ['ü', 'ü'],
    ['{[^]}\\"#*\t\u007f', '%7B%5B%5E%5D}%5C%22%23%2A%09%7F'],
  ])('escapes %s', (value, escaped) => {
    expect(escapePathName(value)).toBe(escaped);
    expect(unescapePathName(escaped)).toBe(value);
  });

  it('decodes nothing but %XX', () => {
    expect(unescapePathName('100%')).toBe('100%');
    expect(unescapePathName('%zz%4')).toBe('%zz%4');
    expect(unescapePathName('%E9')).toBe('é');
  });

  it('keeps several columns and NULL', () => {
    const values = [
      { column: 'ds', value: 'a/b=c' },
      { column: 'hr', value: null },
    ];
    expect(formatPartitionName(values)).toBe('ds=a%2Fb%3Dc/hr=__HIVE_DEFAULT_PARTITION__');
    expect(parsePartitionName(formatPartitionName(values))).toEqual(values);
    expect(() => parsePartitionName('x')).toThrow();
  });
});
