import { LockType } from '@skep/rpc';

/** A lock on a database (no table), a table (no partition) or a partition. */
export interface LockScope {
  readonly database: string;
  readonly table?: string;
  readonly partition?: string;
}

/** A lock component, asked for or held. */
export interface LockClaim extends LockScope {
  readonly type: LockType;
  /** 0n: no transaction. */
  readonly txnId: bigint;
}

/** Whether two locks are about a common resource: a table's lock covers its partitions, a database's all its tables. */
export function overlaps(a: LockScope, b: LockScope): boolean {
  if (a.database !== b.database) return false;
  if (a.table === undefined || b.table === undefined) return true;
  if (a.table !== b.table) return false;
  return a.partition === undefined || b.partition === undefined || a.partition === b.partition;
}

/**
 * Whether a request has to wait for an earlier one, waiting or acquired (CheckLockFunction): Hive 4's matrix with its two
 * exceptions, which let tables come and go under a database that is merely kept from being dropped.
 */
export function mustWait(request: LockClaim, earlier: LockClaim): boolean {
  if (!overlaps(request, earlier)) return false;
  if (request.txnId !== 0n && request.txnId === earlier.txnId) return false;
  switch (request.type) {
    case LockType.LOCK_TYPE_SHARED_READ:
      if (earlier.type !== LockType.LOCK_TYPE_EXCLUSIVE) return false;
      return !(earlier.table !== undefined && request.table === undefined);
    case LockType.LOCK_TYPE_SHARED_WRITE:
      return earlier.type === LockType.LOCK_TYPE_EXCL_WRITE || earlier.type === LockType.LOCK_TYPE_EXCLUSIVE;
    case LockType.LOCK_TYPE_EXCL_WRITE:
      return earlier.type !== LockType.LOCK_TYPE_SHARED_READ;
    default: {
      const keepsDatabase = earlier.table === undefined && earlier.type === LockType.LOCK_TYPE_SHARED_READ;
      return !(keepsDatabase && request.table !== undefined);
    }
  }
}

type Partitions<E> = Map<string | undefined, E[]>;
type Tables<E> = Map<string | undefined, Partitions<E>>;

/** Earlier claims by what they are on, so that a request over many partitions need not look at every pair. */
export class ClaimIndex<E extends LockClaim> {
  private readonly databases = new Map<string, Tables<E>>();

  constructor(claims: Iterable<E>) {
    for (const claim of claims) this.add(claim);
  }

  add(claim: E): void {
    const tables = getOrMake(this.databases, claim.database, (): Tables<E> => new Map());
    const partitions = getOrMake(tables, claim.table, (): Partitions<E> => new Map());
    getOrMake(partitions, claim.partition, (): E[] => []).push(claim);
  }

  /** All claims the request has to wait for. */
  *blockersOf(request: LockClaim): Generator<E> {
    const tables = this.databases.get(request.database);
    if (tables === undefined) return;
    const wanted = request.table === undefined ? tables.keys() : new Set([undefined, request.table]);
    for (const table of wanted) {
      const partitions = tables.get(table);
      if (partitions === undefined) continue;
      const some = request.partition === undefined ? partitions.keys() : new Set([undefined, request.partition]);
      for (const partition of some) {
        for (const claim of partitions.get(partition) ?? []) if (mustWait(request, claim)) yield claim;
      }
    }
  }
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
