import { LockType } from '@skep/rpc';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClaimIndex, type LockClaim, mustWait, overlaps } from './compatibility.js';

const R = LockType.LOCK_TYPE_SHARED_READ;
const W = LockType.LOCK_TYPE_SHARED_WRITE;
const X = LockType.LOCK_TYPE_EXCL_WRITE;
const E = LockType.LOCK_TYPE_EXCLUSIVE;

type Scope = readonly [table?: string, partition?: string];
const on = (type: LockType, [table, partition]: Scope, txnId = 1n): LockClaim => ({
  type,
  database: 'd',
  table,
  partition,
  txnId,
});
const DB: Scope = [];
const TABLE: Scope = ['t'];
const PARTITION: Scope = ['t', 'p=1'];

describe('Hive 4 compatibility', () => {
  // Rows: requested; columns: earlier, in the order R, W, X, E. From hive-acid.md §3.
  const matrix: [LockType, string][] = [
    [R, '...w'],
    [W, '..ww'],
    [X, '.www'],
    [E, 'wwww'],
  ];
  for (const [request, row] of matrix) {
    for (const [i, earlier] of [R, W, X, E].entries()) {
      it(`${LockType[request]} after ${LockType[earlier]} ${row[i] === 'w' ? 'waits' : 'goes on'}`, () => {
        for (const scope of [TABLE, PARTITION]) {
          expect(mustWait(on(request, scope), on(earlier, scope, 2n))).toBe(row[i] === 'w');
        }
      });
    }
  }

  it.each([
    // A table may be dropped while its database is kept from being dropped, and the other way round.
    [R, DB, E, TABLE, false],
    [R, DB, E, PARTITION, false],
    [R, DB, E, DB, true],
    [R, TABLE, E, DB, true],
    [R, TABLE, E, PARTITION, true],
    [R, PARTITION, E, TABLE, true],
    [E, TABLE, R, DB, false],
    [E, PARTITION, R, DB, false],
    [E, DB, R, DB, true],
    [E, DB, R, TABLE, true],
    [E, TABLE, R, PARTITION, true],
    [E, TABLE, W, DB, true],
    [W, DB, E, TABLE, true],
    [X, TABLE, W, DB, true],
    [X, DB, R, TABLE, false],
  ] as const)('%s on %j after %s on %j: waits %s', (request, scope, earlier, earlierScope, waits) => {
    expect(mustWait(on(request, scope), on(earlier, earlierScope, 2n))).toBe(waits);
  });

  it('knows what is a different resource', () => {
    expect(overlaps(on(E, PARTITION), on(E, ['t', 'p=2']))).toBe(false);
    expect(overlaps(on(E, TABLE), on(E, ['u']))).toBe(false);
    expect(overlaps(on(E, TABLE), { ...on(E, TABLE), database: 'e' })).toBe(false);
    expect(overlaps(on(E, PARTITION), on(E, TABLE))).toBe(true);
    expect(overlaps(on(E, DB), on(E, PARTITION))).toBe(true);
  });

  it('never lets a transaction wait for itself, but locks without one are all strangers', () => {
    expect(mustWait(on(E, TABLE), on(E, TABLE))).toBe(false);
    expect(mustWait(on(E, TABLE, 0n), on(E, TABLE, 0n))).toBe(true);
  });
});

describe('ClaimIndex', () => {
  const claim: fc.Arbitrary<LockClaim> = fc.record({
    type: fc.constantFrom(R, W, X, E),
    database: fc.constantFrom('d', 'e'),
    table: fc.constantFrom(undefined, 't', 'u'),
    partition: fc.constantFrom(undefined, 'p=1', 'p=2'),
    txnId: fc.constantFrom(0n, 1n, 2n, 3n),
  });
  const valid = claim.filter((c) => c.table !== undefined || c.partition === undefined);

  it('finds what a look at every pair finds', () => {
    fc.assert(
      fc.property(fc.array(valid, { maxLength: 30 }), valid, (earlier, request) => {
        const found = new Set(new ClaimIndex(earlier).blockersOf(request));
        expect(found).toEqual(new Set(earlier.filter((each) => mustWait(request, each))));
      }),
    );
  });
});
