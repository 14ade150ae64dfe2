import { LockType } from '@skep/rpc';
import { ClaimIndex } from './compatibility.js';
import type { LockRow } from './lock-row.js';

/** Whether a request can be granted as a whole, and if not who is in the way. */
export interface Verdict {
  /** The component that is named as blocked, and by whom; undefined: all are free. */
  readonly blocked: { readonly request: LockRow; readonly by: LockRow } | undefined;
  /** Everyone in the way. */
  readonly blockers: readonly LockRow[];
  /** A lock whose holder waits for the transaction that asks: the request would wait for ever. */
  readonly deadlock?: LockRow | undefined;
}

/** Which kind of component is named first when several are blocked: the order of Hive's check. */
const NAMING_ORDER: readonly LockType[] = [
  LockType.LOCK_TYPE_SHARED_READ,
  LockType.LOCK_TYPE_EXCLUSIVE,
  LockType.LOCK_TYPE_SHARED_WRITE,
  LockType.LOCK_TYPE_EXCL_WRITE,
];

/**
 * Judges the components of one request against all rows of smaller external ids, waiting or acquired: strictly first come,
 * first served among those that conflict, so nobody starves.
 */
export function judge(request: readonly LockRow[], earlier: Iterable<LockRow> | ClaimIndex<LockRow>): Verdict {
  const index = earlier instanceof ClaimIndex ? earlier : new ClaimIndex(earlier);
  const blockers = new Set<LockRow>();
  let blocked: { request: LockRow; by: LockRow } | undefined;
  for (const component of request) {
    for (const by of index.blockersOf(component)) {
      blockers.add(by);
      if (blocked === undefined || isNamedBefore({ request: component, by }, blocked)) {
        blocked = { request: component, by };
      }
    }
  }
  return { blocked, blockers: [...blockers] };
}

function isNamedBefore(a: { request: LockRow; by: LockRow }, b: { request: LockRow; by: LockRow }): boolean {
  const kinds = NAMING_ORDER.indexOf(a.request.type) - NAMING_ORDER.indexOf(b.request.type);
  if (kinds !== 0) return kinds < 0;
  if (a.request.intId !== b.request.intId) return a.request.intId < b.request.intId;
  if (a.by.extId !== b.by.extId) return a.by.extId < b.by.extId;
  return a.by.intId < b.by.intId;
}
