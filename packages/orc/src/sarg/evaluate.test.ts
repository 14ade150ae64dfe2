import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BloomFilter } from '../encoding/bloom-filter.js';
import type { ColumnStatistics } from '../proto/gen/orc_proto.js';
import { createStruct } from '../type-description.js';
import { parseType } from '../type-text.js';
import { trustsBloomFilter } from './bloom.js';
import { evaluate, evidenceOf } from './evaluate.js';
import type { Sarg } from './sarg.js';
import { and, FALSE, mayBeTrue, NULL, not, or, TRUE } from './truth.js';
import type { StatisticsOrigin } from './value-range.js';

const JAVA: StatisticsOrigin = { writer: 'java', writerVersion: 9, softwareVersion: '1.8.5', hybrid: false };
type Answer = boolean | null;

const bit = (answer: Answer) => (answer === null ? NULL : answer ? TRUE : FALSE);
const bits = [true, false, null];
const sets = [1, 2, 3, 4, 5, 6, 7];
const members = (set: number) => bits.filter((answer) => (bit(answer) & set) !== 0);

describe('sets of truth values', () => {
  const sqlAnd = (a: Answer, b: Answer): Answer =>
    a === false || b === false ? false : a === null || b === null ? null : true;
  const sqlNot = (a: Answer): Answer => (a === null ? null : !a);

  test('combine as all pairs of their members do in SQL', () => {
    for (const a of sets) {
      expect(not(a)).toBe(members(a).reduce((set, x) => set | bit(sqlNot(x)), 0));
      for (const b of sets) {
        const pairs = members(a).flatMap((x) => members(b).map((y) => [x, y] as const));
        expect(and(a, b)).toBe(pairs.reduce((set, [x, y]) => set | bit(sqlAnd(x, y)), 0));
        expect(or(a, b)).toBe(pairs.reduce((set, [x, y]) => set | bit(sqlNot(sqlAnd(sqlNot(x), sqlNot(y)))), 0));
      }
    }
  });
});

/** What a row answers. */
function answer(sarg: Sarg, value: number | null): Answer {
  const compare = (literal: unknown, test: (a: number, b: number) => boolean): Answer =>
    value === null || literal === null ? null : test(value, literal as number);
  switch (sarg.op) {
    case 'equals':
      return compare(sarg.literal, (a, b) => a === b);
    case 'nullSafeEquals':
      return value === sarg.literal;
    case 'lessThan':
      return compare(sarg.literal, (a, b) => a < b);
    case 'lessThanEquals':
      return compare(sarg.literal, (a, b) => a <= b);
    case 'isNull':
      return value === null;
    case 'in':
      return sarg.literals.reduce<Answer>((any, literal) => {
        const one = compare(literal, (a, b) => a === b);
        return any === true || one === true ? true : any === null || one === null ? null : false;
      }, false);
    case 'between': {
      const low = compare(sarg.low, (a, b) => a >= b);
      const high = compare(sarg.high, (a, b) => a <= b);
      return low === false || high === false ? false : low === null || high === null ? null : true;
    }
    case 'not': {
      const child = answer(sarg.child, value);
      return child === null ? null : !child;
    }
    default: {
      const answers = sarg.children.map((child) => answer(child, value));
      const decisive = sarg.op === 'or';
      return answers.includes(decisive) ? decisive : answers.includes(null) ? null : !decisive;
    }
  }
}

const literal = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -4, max: 4 }) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const column = 'c';
const sargs: fc.Arbitrary<Sarg> = fc.letrec<{ sarg: Sarg }>((tie) => ({
  sarg: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      op: fc.constantFrom('equals', 'nullSafeEquals', 'lessThan', 'lessThanEquals'),
      column: fc.constant(column),
      literal,
    }),
    fc.record({ op: fc.constant('in'), column: fc.constant(column), literals: fc.array(literal, { maxLength: 3 }) }),
    fc.record({ op: fc.constant('between'), column: fc.constant(column), low: literal, high: literal }),
    fc.record({ op: fc.constant('isNull'), column: fc.constant(column) }),
    fc.record({ op: fc.constantFrom('and', 'or'), children: fc.array(tie('sarg'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ op: fc.constant('not'), child: tie('sarg') }),
  ) as fc.Arbitrary<Sarg>,
})).sarg;

describe('evaluation against statistics', () => {
  const rows = fc.array(fc.option(fc.integer({ min: -4, max: 4 }), { freq: 4, nil: null }), {
    minLength: 1,
    maxLength: 5,
  });
  const type = parseType('int');

  function statisticsOf(values: readonly (number | null)[]): ColumnStatistics {
    const present = values.filter((value) => value !== null);
    return {
      numberOfValues: BigInt(present.length),
      hasNull: present.length < values.length,
      intStatistics:
        present.length === 0 ? {} : { minimum: BigInt(Math.min(...present)), maximum: BigInt(Math.max(...present)) },
    };
  }

  test('never leaves out an answer that a row gives', () => {
    fc.assert(
      fc.property(rows, sargs, fc.boolean(), fc.boolean(), (values, sarg, withBloom, withHasNull) => {
        const statistics = statisticsOf(values);
        if (!withHasNull) delete statistics.hasNull;
        let bloom: BloomFilter | undefined;
        if (withBloom) {
          bloom = BloomFilter.forEntries(10, 0.05);
          for (const value of values) if (value !== null) bloom.addLong(value, value >> 31);
        }
        const set = evaluate(sarg, () => evidenceOf(type, statistics, [], values.length, JAVA, bloom));
        for (const value of values) expect(set & bit(answer(sarg, value))).not.toBe(0);
      }),
      { numRuns: 3000 },
    );
  });

  const one: Sarg = { op: 'equals', column, literal: 1 };
  const evidence =
    (statistics: ColumnStatistics | undefined, name = 'int', origin = JAVA, count = 100) =>
    () =>
      evidenceOf(parseType(name), statistics, [], count, origin, undefined);
  const keeps = (sarg: Sarg, statistics: ColumnStatistics | undefined, name?: string, origin?: StatisticsOrigin) =>
    mayBeTrue(evaluate(sarg, evidence(statistics, name, origin)));

  test('leaves out what lies outside the range', () => {
    const statistics = { numberOfValues: 100n, hasNull: false, intStatistics: { minimum: 2n, maximum: 9n } };
    expect(keeps(one, statistics)).toBe(false);
    expect(keeps({ op: 'lessThan', column, literal: 2 }, statistics)).toBe(false);
    expect(keeps({ op: 'lessThanEquals', column, literal: 2 }, statistics)).toBe(true);
    expect(keeps({ op: 'not', child: { op: 'lessThanEquals', column, literal: 9n } }, statistics)).toBe(false);
    expect(keeps({ op: 'isNull', column }, statistics)).toBe(false);
    expect(keeps({ op: 'equals', column, literal: 5.5 }, statistics)).toBe(true);
    expect(keeps({ op: 'lessThan', column, literal: 1.5 }, statistics)).toBe(false);
  });

  test('without statistics everything is kept (B134)', () => {
    expect(keeps(one, undefined)).toBe(true);
    expect(keeps(one, {})).toBe(true);
    expect(keeps(one, { numberOfValues: 5n })).toBe(true);
    expect(keeps(one, { numberOfValues: 0n, hasNull: false })).toBe(true);
  });

  test('an absent hasNull means that there may be NULLs (B128)', () => {
    expect(keeps({ op: 'isNull', column }, { numberOfValues: 0n })).toBe(true);
    expect(keeps({ op: 'isNull', column }, { numberOfValues: 100n })).toBe(true);
    // Fewer values than rows, whatever hasNull says.
    expect(keeps({ op: 'isNull', column }, { numberOfValues: 99n, hasNull: false })).toBe(true);
  });

  test('a NULL struct makes its fields NULL, though their statistics do not count it', () => {
    const schema = createStruct([['row', parseType('struct<a:int>')]]);
    const a = schema.children[0].children[0];
    const own = { numberOfValues: 100n, hasNull: false };
    const set = (parent: ColumnStatistics) =>
      evaluate({ op: 'isNull', column }, () => evidenceOf(a, own, [parent], 100, JAVA, undefined));
    expect(mayBeTrue(set({ numberOfValues: 100n, hasNull: true }))).toBe(true);
    expect(mayBeTrue(set({ numberOfValues: 100n, hasNull: false }))).toBe(false);
  });

  test('NaN poisons a range, 0.0 equals -0.0 (B124)', () => {
    const doubles = (minimum: number, maximum: number, sum: number) => ({
      numberOfValues: 100n,
      hasNull: false,
      doubleStatistics: { minimum, maximum, sum },
    });
    const five: Sarg = { op: 'equals', column, literal: 5 };
    expect(keeps(five, doubles(Number.NaN, Number.NaN, Number.NaN), 'double')).toBe(true);
    expect(keeps(five, doubles(1, 2, Number.NaN), 'double')).toBe(true);
    expect(keeps(five, doubles(1, 2, 150), 'double')).toBe(false);
    expect(keeps({ op: 'equals', column, literal: 0 }, doubles(-1, -0, -20), 'double')).toBe(true);
    expect(keeps({ op: 'equals', column, literal: Number.NaN }, doubles(1, 2, 150), 'double')).toBe(true);
    const bloom = BloomFilter.forEntries(10, 0.05);
    bloom.addDouble(-0);
    const zero = () => evidenceOf(parseType('double'), doubles(-5, 5, 0), [], 100, JAVA, bloom);
    expect(mayBeTrue(evaluate({ op: 'equals', column, literal: 0 }, zero))).toBe(true);
  });

  test('decimals of Java before ORC-517 and text of Java before HIVE-8732 are not trusted (B125)', () => {
    const decimals = { numberOfValues: 100n, hasNull: false, decimalStatistics: { minimum: '1.5', maximum: '20' } };
    const ten: Sarg = { op: 'equals', column, literal: { unscaled: 2001n, scale: 2 } };
    expect(keeps(ten, decimals, 'decimal(10,2)')).toBe(false);
    expect(keeps(ten, decimals, 'decimal(10,2)', { ...JAVA, writerVersion: 6 })).toBe(true);
    expect(keeps(ten, decimals, 'decimal(10,2)', { ...JAVA, writer: 'trino', writerVersion: 6 })).toBe(false);
    const texts = { numberOfValues: 100n, hasNull: false, stringStatistics: { minimum: 'b', maximum: 'd' } };
    const z: Sarg = { op: 'equals', column, literal: 'z' };
    expect(keeps(z, texts, 'string')).toBe(false);
    expect(keeps(z, texts, 'string', { ...JAVA, writerVersion: 0 })).toBe(true);
  });

  test('CHAR is never pruned by its range (B122)', () => {
    const texts = { numberOfValues: 3n, hasNull: false, stringStatistics: { minimum: 'z   ', maximum: 'za  ' } };
    expect(keeps({ op: 'equals', column, literal: 'z\t' }, texts, 'char(4)')).toBe(true);
  });

  test('text is compared as UTF-8 bytes, bounds stand in for what is too long', () => {
    const bounds = { numberOfValues: 100n, hasNull: false, stringStatistics: { lowerBound: 'b', upperBound: 'd' } };
    expect(keeps({ op: 'equals', column, literal: 'e' }, bounds, 'string')).toBe(false);
    expect(keeps({ op: 'equals', column, literal: 'c' }, bounds, 'string')).toBe(true);
    // U+FF5E is below U+1F600 in UTF-8 and above it in UTF-16.
    const wide = { numberOfValues: 2n, hasNull: false, stringStatistics: { minimum: '\uff5e', maximum: '\u{1f600}' } };
    expect(keeps({ op: 'equals', column, literal: '\u{1f5ff}' }, wide, 'string')).toBe(true);
    expect(keeps({ op: 'equals', column, literal: '\u{1f601}' }, wide, 'string')).toBe(false);
  });

  test('timestamps: milliseconds, the lost second before 1970, writers before ORC-135', () => {
    const range = (minimumUtc: bigint, maximumUtc: bigint) => ({
      numberOfValues: 100n,
      hasNull: false,
      timestampStatistics: { minimumUtc, maximumUtc },
    });
    const at = (seconds: bigint, nanos: number): Sarg => ({ op: 'equals', column, literal: { seconds, nanos } });
    expect(keeps(at(5n, 999_999), range(1000n, 5000n), 'timestamp')).toBe(true);
    expect(keeps(at(5n, 1_000_000), range(1000n, 5000n), 'timestamp')).toBe(false);
    expect(keeps(at(0n, 500_000_000), range(-500n, -500n), 'timestamp')).toBe(true);
    expect(keeps(at(9n, 0), range(1000n, 5000n), 'timestamp', { ...JAVA, writerVersion: 5 })).toBe(true);
  });

  test('dates of the hybrid calendar', () => {
    const days = { numberOfValues: 1n, hasNull: false, dateStatistics: { minimum: -500380, maximum: -500380 } };
    const year600: Sarg = { op: 'equals', column, literal: -500382 };
    expect(keeps(year600, days, 'date', { ...JAVA, hybrid: true })).toBe(true);
    expect(keeps(year600, days, 'date')).toBe(false);
  });

  test('which bloom filters are trusted', () => {
    const trusts = (name: string, utf8: boolean, encoding: number, origin: Partial<StatisticsOrigin>) =>
      trustsBloomFilter(parseType(name), utf8, encoding, { ...JAVA, ...origin });
    expect(trusts('string', true, 1, {})).toBe(true);
    expect(trusts('string', false, 0, { writerVersion: 2 })).toBe(false);
    expect(trusts('decimal(5,2)', false, 0, {})).toBe(false);
    expect(trusts('timestamp', true, 0, {})).toBe(false);
    expect(trusts('char(4)', true, 1, {})).toBe(false);
    expect(trusts('int', true, 1, { writer: 'cpp', softwareVersion: undefined })).toBe(false);
    expect(trusts('int', true, 1, { writer: 'cpp', softwareVersion: '1.6.11' })).toBe(false);
    expect(trusts('int', true, 1, { writer: 'cpp', softwareVersion: '1.6.12' })).toBe(true);
  });

  test('a decimal in a bloom filter, with and without zeros at its end', () => {
    const kept = (text: string) => {
      const bloom = BloomFilter.forEntries(10, 0.05);
      bloom.addBytes(Buffer.from(text), 0, text.length);
      const known = () => evidenceOf(parseType('decimal(10,3)'), { numberOfValues: 9n }, [], 9, JAVA, bloom);
      return mayBeTrue(evaluate({ op: 'equals', column, literal: { unscaled: 150n, scale: 2 } }, known));
    };
    expect(kept('1.5')).toBe(true);
    expect(kept('1.500')).toBe(true);
    expect(kept('2.5')).toBe(false);
  });
});
