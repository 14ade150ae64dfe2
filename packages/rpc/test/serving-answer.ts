/** A LockResponse. */
export const ANSWER = { lockId: 1n, state: 1, errorMessage: '' };
