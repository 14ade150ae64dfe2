/** What may go wrong without being wrong: the other side was lost, another transaction won, a lock was not to be had. */
export const EXPECTED_CODES: ReadonlySet<string> = new Set([
  'UNREACHABLE',
  'STORAGE',
  'TXN_ABORTED',
  'TXN_CONFLICT',
  'LOCK_CANNOT_BE_ACQUIRED',
  'LOCK_ACQUIRE_TIMEDOUT',
]);
