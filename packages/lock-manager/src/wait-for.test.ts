import { LockType } from '@skep/rpc';
import { describe, expect, it } from 'vitest';
import type { LockRow } from './lock-row.js';
import { entanglement, requestsWaitingFor } from './wait-for.js';

const { LOCK_TYPE_SHARED_READ: R, LOCK_TYPE_EXCL_WRITE: X, LOCK_TYPE_EXCLUSIVE: E } = LockType;

let intId = 1n;
const row = (extId: bigint, txnId: bigint, table: string, acquired: boolean, type: LockType = X): LockRow => ({
  extId,
  intId: intId++,
  type,
  database: 'd',
  table,
  txnId,
  acquired,
  lastHeartbeatMs: 0n,
  acquiredAtMs: undefined,
  user: '',
  host: '',
  agentInfo: '',
  blockedByExtId: undefined,
  blockedByIntId: undefined,
});
const held = true;
const waits = false;

describe('who waits for a transaction', () => {
  it('directly, behind others, and through what others hold', () => {
    const rows = [
      row(1n, 1n, 'a', held),
      row(2n, 2n, 'b', held),
      row(3n, 2n, 'a', waits),
      row(4n, 3n, 'a', waits),
      row(5n, 4n, 'b', waits),
      row(6n, 5n, 'c', waits),
    ];
    expect([...requestsWaitingFor(1n, rows)].sort()).toEqual([3n, 4n, 5n]);
    expect([...requestsWaitingFor(9n, rows)]).toEqual([]);
  });
});

describe('what is in the way of one who holds locks', () => {
  it('two who each want what the other has: a deadlock', () => {
    const rows = [row(1n, 1n, 'a', held), row(2n, 2n, 'b', held), row(3n, 1n, 'b', waits)];
    expect(entanglement(2n, [rows[0]], rows).deadlock).toBe(rows[0]);
  });

  it('readers who both want to overwrite', () => {
    const rows = [row(1n, 1n, 'a', held, R), row(2n, 2n, 'a', held, R), row(3n, 1n, 'a', waits, E)];
    const wanted = [rows[0], rows[2]];
    const { blockers, deadlock } = entanglement(2n, wanted, rows);
    expect(blockers).toEqual([rows[0]]);
    expect(deadlock).toBe(rows[0]);
  });

  it('a circle of three', () => {
    const rows = [
      row(1n, 1n, 'a', held),
      row(2n, 2n, 'b', held),
      row(3n, 3n, 'c', held),
      row(4n, 1n, 'b', waits),
      row(5n, 2n, 'c', waits),
    ];
    expect(entanglement(3n, [rows[0]], rows).deadlock).toBe(rows[0]);
  });

  it('a request that waits for what the transaction holds is passed over', () => {
    // The second asks for a and b at once and has neither.
    const rows = [row(1n, 1n, 'a', held), row(2n, 2n, 'a', waits), row(2n, 2n, 'b', waits)];
    expect(entanglement(1n, [rows[2]], rows)).toEqual({ blockers: [], deadlock: undefined });
  });

  it('one that is held up only through others is not: they may give up', () => {
    const rows = [
      row(1n, 1n, 'a', held),
      row(2n, 2n, 'a', waits),
      row(2n, 2n, 'b', waits),
      row(3n, 3n, 'b', waits),
      row(3n, 3n, 'c', waits),
    ];
    const { blockers, deadlock } = entanglement(1n, [rows[4]], rows);
    expect(blockers).toEqual([rows[4]]);
    expect(deadlock).toBe(rows[4]);
  });

  it('an ordinary wait is none of it', () => {
    const rows = [row(1n, 1n, 'a', held), row(2n, 2n, 'b', held), row(3n, 3n, 'a', waits)];
    expect(entanglement(1n, [rows[1]], rows)).toEqual({ blockers: [rows[1]], deadlock: undefined });
  });
});
