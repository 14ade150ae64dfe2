import type { Clock } from '@skep/core';
import { type LockRequest, type LockResponse, type LockService, LockState } from '@skep/rpc';
import type { Logger } from '@skep/telemetry';
import { observed } from './observe.js';

/** Waits whose end is told with how long they took; of more the end goes untold. */
const MOST_WAITS = 10_000;

interface Wait {
  readonly sinceMs: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The lock manager with a line about each request that has to wait, ceases to, is refused, or is removed. */
export function loggedLocks(locks: LockService, log: Logger, clock: Clock): LockService {
  const waits = new Map<bigint, Wait>();
  const begin = (lockId: bigint, fields: Wait['fields']) => {
    if (waits.size < MOST_WAITS) waits.set(lockId, { sinceMs: clock.now(), fields });
  };
  const end = (lockId: bigint) => {
    const wait = waits.get(lockId);
    waits.delete(lockId);
    return wait === undefined ? {} : { ...wait.fields, waitedMs: clock.now() - wait.sinceMs };
  };
  return observed<LockService>(
    locks,
    {
      lock({ request, response, call }) {
        if (response === undefined) return;
        const { lockId, state, errorMessage } = response;
        const { txnId, user, host } = request;
        const fields = { ...call, lockId, ...(txnId === 0n ? {} : { txnId }), user, host, ...resourceOf(request) };
        if (state === LockState.LOCK_STATE_WAITING) {
          log.info({ ...fields, blockedBy: blockerOf(response) }, 'lock waits');
          begin(lockId, fields);
        } else if (state === LockState.LOCK_STATE_NOT_ACQUIRED) {
          log.info({ ...fields, blockedBy: blockerOf(response), errorMessage }, 'lock refused');
        } else log.debug(fields, 'lock granted');
      },
      checkLock({ request: { lockId }, response, error, call }) {
        if (error !== undefined) {
          log.info({ ...call, lockId, ...end(lockId), error }, 'lock waits no more');
        } else if (response?.state === LockState.LOCK_STATE_WAITING) {
          log.debug({ ...call, lockId, blockedBy: blockerOf(response) }, 'lock still waits');
        } else if (waits.has(lockId)) log.info({ ...call, lockId, ...end(lockId) }, 'lock granted after a wait');
      },
      unlock({ request: { lockId }, error, call }) {
        if (error !== undefined) return;
        const isWait = waits.has(lockId);
        const fields = { ...call, lockId, ...end(lockId) };
        if (isWait) log.info(fields, 'lock given up');
        else log.debug(fields, 'lock released');
      },
      removeExpiredLocks({ response }) {
        for (const lockId of response?.removedLockIds ?? []) {
          log.warn({ lockId, ...end(lockId) }, 'lock removed: nobody keeps it alive');
        }
      },
    },
    clock,
  );
}

/** Of many components the first, and how many there are. */
function resourceOf({ components }: LockRequest) {
  const [{ database, table, partition } = { database: '', table: undefined, partition: undefined }] = components;
  const name = table === undefined ? database : `${database}.${table}`;
  return { table: name, partition, ...(components.length > 1 ? { components: components.length } : {}) };
}

function blockerOf({ blockedBy }: LockResponse) {
  if (blockedBy === undefined) return undefined;
  const { lockId, txnId, user, host, agentInfo, database, table, acquiredAtMs } = blockedBy;
  return {
    lockId,
    ...(txnId === 0n ? {} : { txnId }),
    user,
    host,
    agentInfo,
    table: table === undefined ? database : `${database}.${table}`,
    ...(acquiredAtMs > 0n ? { since: new Date(Number(acquiredAtMs)).toISOString() } : {}),
  };
}
