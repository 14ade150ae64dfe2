import { DataOperation, LockLevel, LockType, Table } from '@skep/rpc';
import { describe, expect, it } from 'vitest';
import { type LockSettings, lockComponents, type ReadEntity, type WriteEntity, type WriteKind } from './lock-plan.js';

/** Defaults of Hive (X of reference/hive-acid.md §3). */
const X: LockSettings = {
  xlockWrite: true,
  xlockIow: true,
  xlockCtas: true,
  xlockMergeInsert: false,
  strictLockingMode: true,
  readLocks: true,
  nonAcidReadLocks: true,
  externalLocking: false,
  locklessReads: false,
  maxPartitions: -1,
  truncateUseBase: true,
  softDeleteTables: false,
  dropPartitionUseBase: false,
  renamePartitionMakeCopy: false,
};
const S = { ...X, xlockWrite: false };

const table = (name: string, parameters: Record<string, string>, tableType = 'MANAGED_TABLE') =>
  Table.fromPartial({ database: 'd', name, parameters, tableType });
const acid = table('acid', { transactional: 'true' });
const soft = Table.fromPartial({
  ...table('soft', { transactional: 'true', soft_delete: 'true' }),
  sd: { location: 'file:/w/d.db/soft.v0000012' },
});
const mm = table('mm', { transactional: 'true', transactional_properties: 'insert_only' });
const plain = table('plain', {});
const external = table('external', {}, 'EXTERNAL_TABLE');
const view = table('view', {}, 'VIRTUAL_VIEW');

const types: Record<number, string> = {
  [LockType.LOCK_TYPE_SHARED_READ]: 'SHARED_READ',
  [LockType.LOCK_TYPE_SHARED_WRITE]: 'SHARED_WRITE',
  [LockType.LOCK_TYPE_EXCL_WRITE]: 'EXCL_WRITE',
  [LockType.LOCK_TYPE_EXCLUSIVE]: 'EXCLUSIVE',
};
const operation = (value: DataOperation) => DataOperation[value].replace('DATA_OPERATION_', '');

/** `table[/partition] TYPE OPERATION`, `dynamic` where it is of a dynamic-partition write. */
const locks = (reads: readonly ReadEntity[], writes: readonly WriteEntity[], settings: LockSettings): string[] =>
  lockComponents(reads, writes, settings).map((c) => {
    const level = c.level === LockLevel.LOCK_LEVEL_PARTITION ? `/${c.partition}` : '';
    return `${c.table}${level} ${types[c.type]} ${operation(c.operation)}${c.isDynamicPartitionWrite ? ' dynamic' : ''}`;
  });

const lockless = { ...X, locklessReads: true };
const statements: readonly (readonly [WriteKind, Table, Partial<LockSettings> | LockSettings, string])[] = [
  // INSERT
  ['insert', acid, X, 'SHARED_READ INSERT'],
  ['insert', mm, X, 'SHARED_READ INSERT'],
  ['insert', acid, lockless, 'SHARED_WRITE INSERT'],
  ['insert', acid, S, 'SHARED_WRITE INSERT'],
  ['insert', plain, X, 'EXCLUSIVE INSERT'],
  ['insert', plain, S, 'EXCLUSIVE INSERT'],
  ['insert', plain, { ...X, strictLockingMode: false }, 'SHARED_READ INSERT'],
  ['insert', plain, { ...S, strictLockingMode: false }, 'SHARED_READ INSERT'],
  // MERGE … WHEN NOT MATCHED
  ['merge-insert', acid, X, 'SHARED_READ INSERT'],
  ['merge-insert', acid, S, 'SHARED_WRITE INSERT'],
  ['merge-insert', acid, lockless, 'SHARED_WRITE INSERT'],
  ['merge-insert', acid, { ...X, xlockMergeInsert: true }, 'EXCL_WRITE UPDATE'],
  ['merge-insert', acid, { ...S, xlockMergeInsert: true }, 'SHARED_WRITE UPDATE'],
  // INSERT OVERWRITE, LOAD … OVERWRITE
  ['insert-overwrite', acid, X, 'EXCLUSIVE UPDATE'],
  ['insert-overwrite', acid, { ...X, xlockIow: false }, 'EXCL_WRITE UPDATE'],
  ['insert-overwrite', acid, lockless, 'EXCL_WRITE UPDATE'],
  ['insert-overwrite', acid, S, 'EXCL_WRITE UPDATE'],
  ['insert-overwrite', mm, X, 'EXCLUSIVE UPDATE'],
  ['insert-overwrite', plain, X, 'EXCLUSIVE UPDATE'],
  ['insert-overwrite', plain, { ...X, xlockIow: false }, 'EXCLUSIVE UPDATE'],
  ['insert-overwrite', plain, S, 'EXCLUSIVE UPDATE'],
  // UPDATE, DELETE, MERGE
  ['update', acid, X, 'EXCL_WRITE UPDATE'],
  ['update', acid, S, 'SHARED_WRITE UPDATE'],
  ['update', acid, lockless, 'EXCL_WRITE UPDATE'],
  ['delete', acid, X, 'EXCL_WRITE DELETE'],
  ['delete', acid, S, 'SHARED_WRITE DELETE'],
  // CREATE TABLE AS
  ['ctas', acid, X, 'EXCL_WRITE INSERT'],
  ['ctas', plain, X, 'EXCLUSIVE NO_TXN'],
  ['ctas', acid, S, 'EXCL_WRITE INSERT'],
  // Stricter than Hive, which locks nothing then: of two that create one table the second waits.
  ['ctas', acid, { ...X, xlockCtas: false }, 'EXCLUSIVE INSERT'],
  // DDL
  ['drop', acid, X, 'EXCLUSIVE NO_TXN'],
  ['drop', plain, S, 'EXCLUSIVE NO_TXN'],
  ['truncate', acid, X, 'EXCL_WRITE DELETE'],
  ['truncate', acid, { ...X, truncateUseBase: false }, 'EXCLUSIVE DELETE'],
  ['truncate', plain, X, 'EXCLUSIVE NO_TXN'],
  ['truncate', acid, { ...lockless, truncateUseBase: false }, 'EXCL_WRITE DELETE'],
  ['drop-partition', acid, X, 'EXCLUSIVE NO_TXN'],
  ['rename-partition', acid, X, 'EXCLUSIVE NO_TXN'],
  // Soft deletes: readers go on, and the Cleaner removes the files when they have ended.
  ['drop', soft, X, 'EXCLUSIVE NO_TXN'],
  ['drop', soft, { ...X, softDeleteTables: true }, 'EXCL_WRITE NO_TXN'],
  ['drop', soft, lockless, 'EXCL_WRITE NO_TXN'],
  ['drop', acid, lockless, 'EXCLUSIVE NO_TXN'],
  ['drop', plain, lockless, 'EXCLUSIVE NO_TXN'],
  ['drop-partition', acid, { ...X, dropPartitionUseBase: true }, 'EXCL_WRITE DELETE'],
  ['drop-partition', acid, lockless, 'EXCL_WRITE DELETE'],
  ['drop-partition', plain, { ...X, dropPartitionUseBase: true }, 'EXCLUSIVE NO_TXN'],
  ['rename-partition', acid, { ...X, renamePartitionMakeCopy: true }, 'EXCL_WRITE DELETE'],
  ['rename-partition', acid, lockless, 'EXCL_WRITE DELETE'],
  ['rename-partition', plain, lockless, 'EXCLUSIVE NO_TXN'],
  // Beside them no INSERT may be under way.
  ['insert', soft, X, 'SHARED_READ INSERT'],
  ['insert', soft, { ...X, softDeleteTables: true }, 'SHARED_WRITE INSERT'],
  ['insert', acid, { ...X, softDeleteTables: true }, 'SHARED_READ INSERT'],
  ['insert', acid, { ...X, dropPartitionUseBase: true }, 'SHARED_WRITE INSERT'],
  ['insert', acid, { ...X, renamePartitionMakeCopy: true }, 'SHARED_WRITE INSERT'],
  ['insert', plain, { ...X, renamePartitionMakeCopy: true }, 'EXCLUSIVE INSERT'],
  ['add-partition', acid, X, 'SHARED_READ NO_TXN'],
  ['add-partition-if-not-exists', acid, X, 'EXCL_WRITE NO_TXN'],
  ['add-partition-if-not-exists', plain, X, 'SHARED_READ NO_TXN'],
  ['msck', acid, X, 'EXCLUSIVE NO_TXN'],
  ['msck', acid, lockless, 'EXCL_WRITE NO_TXN'],
  ['msck', plain, X, 'SHARED_READ NO_TXN'],
  ['alter', acid, X, 'EXCLUSIVE NO_TXN'],
  ['alter', acid, lockless, 'EXCL_WRITE NO_TXN'],
  ['alter', plain, lockless, 'EXCLUSIVE NO_TXN'],
  ['drop-constraint', acid, X, 'EXCL_WRITE NO_TXN'],
  ['alter-properties', acid, X, 'SHARED_READ NO_TXN'],
  ['make-transactional', plain, X, 'EXCLUSIVE NO_TXN'],
];

const named = (settings: object): string => {
  const changed = Object.entries(settings).filter(([key, value]) => X[key as keyof LockSettings] !== value);
  return changed.length === 0 ? 'by default' : `with ${changed.map(([key, value]) => `${key}=${value}`).join(', ')}`;
};

describe('locks of statements (reference §3)', () => {
  it.each(
    statements.map(([kind, of, settings, lock]) => [kind, of.name, named(settings), lock, of, settings] as const),
  )('%s of a table that is %s, %s: %s', (kind, name, _, lock, of, settings) => {
    expect(locks([], [{ table: of, kind }], { ...X, ...settings })).toEqual([`${name} ${lock}`]);
  });

  it.each([
    ['by default', X, ['acid SHARED_READ SELECT', 'plain SHARED_READ SELECT']],
    ['hive.txn.read.locks=false', { ...X, readLocks: false }, []],
    ['hive.txn.nonacid.read.locks=false', { ...X, nonAcidReadLocks: false }, ['acid SHARED_READ SELECT']],
    ['lockless reads', lockless, ['plain SHARED_READ SELECT']],
    [
      'hive.txn.ext.locking.enabled',
      { ...X, externalLocking: true },
      ['acid SHARED_READ SELECT', 'plain SHARED_READ SELECT', 'external SHARED_READ SELECT'],
    ],
  ] as const)('reads, %s', (_, settings, expected) => {
    const reads = [acid, plain, external, view].map((of) => ({ table: of }));
    expect(locks(reads, [], settings)).toEqual(expected);
  });

  it('external tables and views are written without locks, unless it is asked for', () => {
    const write = { table: external, kind: 'insert' } as const;
    expect(locks([], [write], X)).toEqual([]);
    expect(locks([], [write], { ...X, externalLocking: true })).toEqual(['external EXCLUSIVE INSERT']);
    expect(locks([], [{ table: view, kind: 'alter' }], { ...X, externalLocking: true })).toEqual([]);
  });

  it('partitions are locked one by one below hive.locks.max.partitions, else the table', () => {
    const read = { table: acid, partitions: ['k=1', 'k=2'] };
    const each = ['acid/k=1 SHARED_READ SELECT', 'acid/k=2 SHARED_READ SELECT'];
    expect(locks([read], [], X)).toEqual(each);
    expect(locks([read], [], { ...X, maxPartitions: 3 })).toEqual(each);
    expect(locks([read], [], { ...X, maxPartitions: 2 })).toEqual(['acid SHARED_READ SELECT']);
  });

  it('a static partition is locked itself, of dynamic ones the table', () => {
    const write = { table: acid, kind: 'insert', partitions: ['k=1'] } as const;
    expect(locks([], [write], X)).toEqual(['acid/k=1 SHARED_READ INSERT']);
    expect(locks([], [{ table: acid, kind: 'insert', dynamicPartitions: true }], X)).toEqual([
      'acid SHARED_READ INSERT dynamic',
    ]);
  });

  it('what is updated or deleted takes no read lock, and no operation is lost beside another (B31)', () => {
    const writes = (['merge-insert', 'update', 'delete'] as const).map((kind) => ({ table: acid, kind }));
    expect(locks([{ table: acid }, { table: plain }], writes, X)).toEqual([
      'plain SHARED_READ SELECT',
      'acid SHARED_READ INSERT',
      'acid EXCL_WRITE UPDATE',
      'acid EXCL_WRITE DELETE',
    ]);
  });
});
