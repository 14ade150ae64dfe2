import { StorageDescriptor, Table } from '@skep/rpc';
import { describe, expect, it } from 'vitest';
import { parseOrderBy } from './order-by.js';

const columns = ['a', 'b', 'c,d'].map((name) => ({ name, type: 'int' }));
const table = Table.fromPartial({ database: 'd', name: 't', sd: StorageDescriptor.fromPartial({ columns }) });

describe('ORDER BY of a rebalance', () => {
  it.each([
    ['', []],
    ['a', [[0, false, false]]],
    [
      'order by B desc, a',
      [
        [1, true, true],
        [0, false, false],
      ],
    ],
    [
      't.a asc nulls first,`b` DESC NULLS LAST',
      [
        [0, false, true],
        [1, true, false],
      ],
    ],
    ['`c,d`', [[2, false, false]]],
  ] as const)('%s', (text, expected) => {
    const keys = parseOrderBy(text, table).map((key) => [key.column, key.isDescending, key.nullsFirst]);
    expect(keys).toEqual(expected);
  });

  it.each(['z', 'a + 1', 'a,,z', 'a sideways'])('refuses %s, naming it', (text) => {
    expect(() => parseOrderBy(text, table)).toThrow(/a rebalance can sort by the columns of d\.t only/);
  });
});
