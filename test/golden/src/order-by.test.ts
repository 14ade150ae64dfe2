import { describe, expect, it } from 'vitest';
import { orderColumns, outermostOrderBy } from './order-by.js';

describe('outermostOrderBy', () => {
  it.each([
    ['select a from t', undefined],
    ['select a from t order by a', ['a']],
    ['select a from t order by a desc nulls last, b limit 2', ['a', 'b']],
    ['select rank() over (partition by d order by s desc) r from e', undefined],
    ['select * from (select a from t order by a) x', undefined],
    ["select 'order by b' from t order by concat(a, ','), ROW__ID", ["concat(a, ',')", 'ROW__ID']],
    ['select a from t -- order by b\n order by a', ['a']],
  ])('%s', (statement, keys) => {
    expect(outermostOrderBy(statement)).toEqual(keys);
  });
});

describe('orderColumns', () => {
  it('finds keys by name, qualified name, position and text', () => {
    expect(orderColumns('select * from t order by b', ['t.a:int', 't.b:int'])).toEqual([1]);
    expect(orderColumns('select e.id, d.x from e join d order by d.x, e.id', ['e.id:int', 'd.x:int'])).toEqual([1, 0]);
    expect(orderColumns('select a, b from t order by 2', ['a:int', 'b:int'])).toEqual([1]);
    expect(orderColumns('select a, count(*) from t group by a order by count(*)', ['a:int', '_c1:bigint'])).toEqual([
      1,
    ]);
  });

  it('says so where a key is not among the columns', () => {
    expect(orderColumns('select a from t order by b', ['a:int'])).toBeUndefined();
  });
});
