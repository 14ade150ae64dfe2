import { LockType } from '@skep/rpc';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mustWait } from './compatibility.js';
import type { LockRow } from './lock-row.js';
import { judge } from './verdict.js';

const {
  LOCK_TYPE_SHARED_READ: R,
  LOCK_TYPE_SHARED_WRITE: W,
  LOCK_TYPE_EXCL_WRITE: X,
  LOCK_TYPE_EXCLUSIVE: E,
} = LockType;

function row(extId: bigint, intId: bigint, type: LockType, table: string | undefined, txnId = extId): LockRow {
  return {
    extId,
    intId,
    type,
    database: 'd',
    table,
    txnId,
    acquired: false,
    lastHeartbeatMs: 0n,
    acquiredAtMs: undefined,
    user: '',
    host: '',
    agentInfo: '',
    blockedByExtId: undefined,
    blockedByIntId: undefined,
  };
}

describe('the verdict on a request', () => {
  it('names a blocked read first, and its earliest blocker', () => {
    const earlier = [row(2n, 1n, E, 'b'), row(1n, 1n, E, 'b'), row(3n, 1n, E, 'a')];
    const request = [row(9n, 1n, X, 'a'), row(9n, 2n, R, 'b')];
    const verdict = judge(request, earlier);
    expect(verdict.blocked).toEqual({ request: request[1], by: earlier[1] });
    expect(new Set(verdict.blockers)).toEqual(new Set(earlier));
  });

  it('is free where nothing conflicts', () => {
    expect(judge([row(9n, 1n, W, 'a')], [row(1n, 1n, W, 'a'), row(2n, 1n, E, 'b')])).toEqual({
      blocked: undefined,
      blockers: [],
    });
  });
});

/** Requests come, are polled in any order and end; the table is a plain list. */
type Event = { do: 'ask'; components: [LockType, string | undefined][] } | { do: 'poll' | 'end'; pick: number };

describe('any order of requests, polls and ends', () => {
  const event: fc.Arbitrary<Event> = fc.oneof(
    fc.record({
      do: fc.constant('ask' as const),
      components: fc.array(fc.tuple(fc.constantFrom(R, W, X, E), fc.constantFrom(undefined, 'a', 'b')), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
    fc.record({ do: fc.constantFrom('poll' as const, 'end' as const), pick: fc.nat() }),
  );

  it('never grants two that conflict, never overtakes, and lets everybody in at last', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const waiting: LockRow[][] = [];
        const held: LockRow[][] = [];
        let next = 1n;
        const poll = (request: LockRow[]) => {
          const all = [...waiting, ...held].flat();
          const earlier = all.filter((each) => each.extId < request[0].extId);
          if (judge(request, earlier).blocked !== undefined) return false;
          for (const mine of request) {
            for (const other of all) {
              if (other.extId >= request[0].extId) continue;
              expect(mustWait(mine, other)).toBe(false);
            }
          }
          waiting.splice(waiting.indexOf(request), 1);
          held.push(request);
          return true;
        };
        for (const each of events) {
          if (each.do === 'ask') {
            const extId = next++;
            const request = each.components.map(([type, table], i) => row(extId, BigInt(i + 1), type, table));
            waiting.push(request);
            poll(request);
          } else if (each.do === 'poll' && waiting.length > 0) poll(waiting[each.pick % waiting.length]);
          else if (each.do === 'end' && held.length > 0) held.splice(each.pick % held.length, 1);
        }
        // When nobody else comes, the oldest that waits can always be granted once all who hold have ended.
        while (waiting.length > 0) {
          held.length = 0;
          waiting.sort((a, b) => (a[0].extId < b[0].extId ? -1 : 1));
          expect(poll(waiting[0])).toBe(true);
        }
      }),
    );
  });
});
