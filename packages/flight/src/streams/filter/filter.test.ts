import { parseType, type StructVector, vectorOf, vectorValue } from '@skep/orc';
import { describe, expect, it } from 'vitest';
import type { Json } from '../json.js';
import { parseFilter } from './filter.js';

const type = parseType(
  'struct<id:int,big:bigint,d:decimal(10,2),x:double,s:string,c:char(4),b:boolean,day:date,ts:timestamp,l:array<int>>',
);
const columns = type.fieldNames.map((name, i) => ({ name, type: type.children[i] }));
const ofRow = (id: number, values: object) => ({
  ...Object.fromEntries(type.fieldNames.map((name) => [name, null])),
  id,
  ...values,
});
const batch = vectorOf(type, [
  ofRow(0, {}),
  ofRow(1, { big: 9007199254740993n, d: { unscaled: 150n, scale: 2 }, x: 0.5, s: 'a', c: 'ab  ', b: true, day: 0 }),
  ofRow(2, { big: -1n, d: { unscaled: -1n, scale: 2 }, x: Number.NaN, s: 'ä', c: 'abc', b: false, day: 18262 }),
  ofRow(3, { big: 0n, ts: { seconds: 1n, nanos: 5 }, l: [1] }),
]) as StructVector;

function ids(filter: Json): unknown[] {
  const rows =
    parseFilter(filter, columns).select(batch) ?? Int32Array.from(batch.children[0].length === 4 ? [0, 1, 2, 3] : []);
  return [...rows].map((row) => vectorValue(batch.children[0], row));
}

describe('filters by SQL’s three truth values', () => {
  it.each<[Json, number[]]>([
    [{ op: '=', column: 'BIG', value: '9007199254740993' }, [1]],
    [{ op: '<>', column: 'big', value: 0 }, [1, 2]],
    [{ op: '>', column: 'id', value: 1.5 }, [2, 3]],
    [{ op: '=', column: 'id', value: 1.5 }, []],
    [{ op: '=', column: 'd', value: '1.5' }, [1]],
    [{ op: '<', column: 'd', value: 0 }, [2]],
    [{ op: '=', column: 'x', value: 0.5 }, [1]],
    [{ op: '=', column: 's', value: 'ä' }, [2]],
    [{ op: '>=', column: 's', value: 'a' }, [1, 2]],
    [{ op: '=', column: 'c', value: 'ab' }, [1]],
    [{ op: '=', column: 'b', value: false }, [2]],
    [{ op: 'between', column: 'day', low: '1970-01-01', high: '2020-01-01' }, [1, 2]],
    [{ op: '=', column: 'ts', value: '1970-01-01 00:00:01.000000005' }, [3]],
    [{ op: 'isNotNull', column: 'l' }, [3]],
    [{ op: '=', column: 's', value: null }, []],
    [{ op: 'not', arg: { op: '=', column: 's', value: null } }, []],
    [{ op: '<=>', column: 's', value: null }, [0, 3]],
    [{ op: 'not', arg: { op: '<=>', column: 's', value: 'a' } }, [0, 2, 3]],
    [{ op: 'in', column: 's', values: ['a', null] }, [1]],
    [{ op: 'not', arg: { op: 'in', column: 's', values: ['a', null] } }, []],
    [{ op: 'not', arg: { op: 'in', column: 's', values: ['a'] } }, [2]],
    [
      {
        op: 'or',
        args: [
          { op: '=', column: 's', value: null },
          { op: '=', column: 'id', value: 0 },
        ],
      },
      [0],
    ],
    [
      {
        op: 'and',
        args: [
          { op: '=', column: 's', value: null },
          { op: '=', column: 'id', value: 0 },
        ],
      },
      [],
    ],
    [
      {
        op: 'not',
        arg: {
          op: 'and',
          args: [
            { op: '=', column: 's', value: null },
            { op: '=', column: 'id', value: 0 },
          ],
        },
      },
      [1, 2, 3],
    ],
    [{ op: 'and', args: [] }, [0, 1, 2, 3]],
    [{ op: 'or', args: [] }, []],
  ])('%j', (filter, wanted) => {
    expect(ids(filter)).toEqual(wanted);
  });

  it.each<[Json, RegExp]>([
    [{ op: '=', column: 'nope', value: 1 }, /no column nope, but id, big/],
    [{ op: '~', column: 'id', value: 1 }, /there is no '~'/],
    [{ op: '=', column: 'id', value: 'x' }, /"x" is no value to compare id with, which is int/],
    [{ op: '=', column: 'big', value: 9007199254740992 }, /as text beyond 2\^53/],
    [{ op: '=', column: 'day', value: '2020-02-30' }, /YYYY-MM-DD/],
    [{ op: '=', column: 'l', value: [1] }, /only isNull/],
    [{ op: '=', column: 'id', value: 1, vlaue: 2 }, /no field 'vlaue'/],
    [{ op: 'in', column: 'id', values: [] }, /has no values/],
    ['id = 1', /must be a JSON object/],
  ])('%j is refused', (filter, message) => {
    expect(() => parseFilter(filter, columns)).toThrow(message);
  });
});
