import { DataOperation, LockComponent, LockLevel, LockType, type Table } from '@skep/rpc';

/** What a statement reads: a whole table, or some of its partitions. */
export interface ReadEntity {
  readonly table: Table;
  /** k1=v1/k2=v2; absent: the whole table. */
  readonly partitions?: readonly string[];
  /** All partitions there were when it was planned. */
  readonly known?: ReadonlySet<string>;
}

export type WriteKind =
  | 'insert'
  | 'insert-overwrite'
  | 'update'
  | 'delete'
  | 'merge-insert'
  | 'ctas'
  | 'drop'
  | 'truncate'
  | 'drop-partition'
  | 'rename-partition'
  | 'add-partition'
  | 'add-partition-if-not-exists'
  | 'msck'
  | 'alter'
  | 'drop-constraint'
  | 'alter-properties'
  | 'make-transactional';

/** What a statement writes. */
export interface WriteEntity {
  readonly table: Table;
  readonly kind: WriteKind;
  readonly partitions?: readonly string[];
  /** The partitions are known only from the rows. */
  readonly dynamicPartitions?: boolean;
}

/** The parameters that decide a statement's locks (reference §3), as they stand in the session. */
export interface LockSettings {
  readonly xlockWrite: boolean;
  readonly xlockIow: boolean;
  readonly xlockCtas: boolean;
  readonly xlockMergeInsert: boolean;
  readonly strictLockingMode: boolean;
  readonly readLocks: boolean;
  readonly nonAcidReadLocks: boolean;
  readonly externalLocking: boolean;
  readonly locklessReads: boolean;
  readonly maxPartitions: number;
  readonly truncateUseBase: boolean;
  readonly softDeleteTables: boolean;
  readonly dropPartitionUseBase: boolean;
  readonly renamePartitionMakeCopy: boolean;
}

export const isTransactional = (table: Table): boolean => table.parameters.transactional?.toLowerCase() === 'true';
export const isInsertOnly = (table: Table): boolean =>
  isTransactional(table) && table.parameters.transactional_properties?.toLowerCase() === 'insert_only';
export const isFullAcid = (table: Table): boolean => isTransactional(table) && !isInsertOnly(table);

/** hive.acid.createtable.softdelete: new transactional tables get a folder that no other table ever has. */
export const hasSoftDeletes = (settings: LockSettings): boolean => settings.softDeleteTables || settings.locklessReads;

/** Whether a table's folder is named after the transaction that made it, so that no other table ever has it. */
export const hasOwnFolder = (table: Table): boolean =>
  table.parameters.soft_delete?.toLowerCase() === 'true' && /\.v\d{7,}\/*$/.test(table.sd?.location ?? '');

/** A table whose drop leaves its folder to the Cleaner (AcidUtils.isTableSoftDeleteEnabled). */
export const isSoftDelete = (table: Table, settings: LockSettings): boolean =>
  hasSoftDeletes(settings) && isTransactional(table) && hasOwnFolder(table);

/** DROP PARTITION marks the folder with an empty base, and leaves it to the Cleaner (hive.acid.droppartition.usebase). */
export const dropsByBase = (table: Table, settings: LockSettings): boolean =>
  isTransactional(table) && (settings.dropPartitionUseBase || settings.locklessReads);

/** RENAME PARTITION copies the folder, and leaves the old one to the Cleaner (hive.acid.renamepartition.makecopy). */
export const renamesByCopy = (table: Table, settings: LockSettings): boolean =>
  isTransactional(table) && (settings.renamePartitionMakeCopy || settings.locklessReads);

/** TRUNCATE writes an empty base instead of deleting files (hive.acid.truncate.usebase). */
export const truncatesByBase = (table: Table, settings: LockSettings): boolean =>
  isTransactional(table) && (settings.truncateUseBase || settings.locklessReads);

/**
 * EXCL_WRITE lets readers go on, but also an INSERT with its SHARED_READ: what such a drop or copy of a partition does not see
 * would be lost. So an INSERT asks for SHARED_WRITE where they may occur. (Hive does so with lockless reads only.)
 */
const mayBeLeftToCleaner = (table: Table, settings: LockSettings): boolean =>
  isSoftDelete(table, settings) || dropsByBase(table, settings) || renamesByCopy(table, settings);

const isLockable = (table: Table, settings: LockSettings): boolean =>
  table.tableType === 'MANAGED_TABLE' ||
  table.tableType === 'MATERIALIZED_VIEW' ||
  (table.tableType === 'EXTERNAL_TABLE' && settings.externalLocking);

/**
 * The lock request of a statement: pure, after org.apache.hadoop.hive.ql.io.AcidUtils.makeLockComponents. A table
 * that is written by UPDATE, DELETE or MERGE takes no read lock of its own.
 */
export function lockComponents(
  reads: readonly ReadEntity[],
  writes: readonly WriteEntity[],
  settings: LockSettings,
): LockComponent[] {
  const components: LockComponent[] = [];
  const updated = new Set(
    writes.filter((write) => write.kind === 'update' || write.kind === 'delete').map((write) => keyOf(write.table)),
  );
  for (const read of reads) {
    if (!isLockable(read.table, settings) || updated.has(keyOf(read.table)) || !locksReads(read.table, settings))
      continue;
    const named = read.partitions ?? [];
    const tooMany = settings.maxPartitions > 0 && named.length >= settings.maxPartitions;
    add(components, read.table, tooMany ? [] : named, {
      type: LockType.LOCK_TYPE_SHARED_READ,
      operation: DataOperation.DATA_OPERATION_SELECT,
    });
  }
  for (const write of writes) {
    if (!isLockable(write.table, settings)) continue;
    const { type, operation } = writeLock(write, settings);
    add(components, write.table, write.dynamicPartitions ? [] : (write.partitions ?? []), {
      type,
      operation,
      isDynamicPartitionWrite: write.dynamicPartitions === true,
    });
  }
  return merged(components);
}

/** A lock on a database as a whole. */
export function databaseLock(database: string, type: LockType): LockComponent {
  return LockComponent.fromPartial({
    type,
    level: LockLevel.LOCK_LEVEL_DB,
    database,
    operation: DataOperation.DATA_OPERATION_NO_TXN,
  });
}

const keyOf = (table: Table): string => `${table.database}.${table.name}`;

function locksReads(table: Table, settings: LockSettings): boolean {
  if (!settings.readLocks) return false;
  return isTransactional(table) ? !settings.locklessReads : settings.nonAcidReadLocks;
}

function add(
  components: LockComponent[],
  table: Table,
  partitions: readonly string[],
  lock: { type: LockType; operation: DataOperation; isDynamicPartitionWrite?: boolean },
): void {
  const base = { ...lock, database: table.database, table: table.name, isTransactional: isTransactional(table) };
  if (partitions.length === 0) {
    components.push(LockComponent.fromPartial({ ...base, level: LockLevel.LOCK_LEVEL_TABLE }));
    return;
  }
  for (const partition of partitions) {
    components.push(LockComponent.fromPartial({ ...base, level: LockLevel.LOCK_LEVEL_PARTITION, partition }));
  }
}

function writeLock(write: WriteEntity, settings: LockSettings): { type: LockType; operation: DataOperation } {
  const acid = isTransactional(write.table);
  const shared = LockType.LOCK_TYPE_SHARED_WRITE;
  const exclWrite = LockType.LOCK_TYPE_EXCL_WRITE;
  const exclusive = LockType.LOCK_TYPE_EXCLUSIVE;
  const noTxn = DataOperation.DATA_OPERATION_NO_TXN;
  const x = settings.xlockWrite;
  switch (write.kind) {
    case 'insert':
      if (!acid) {
        return {
          type: settings.strictLockingMode ? exclusive : LockType.LOCK_TYPE_SHARED_READ,
          operation: DataOperation.DATA_OPERATION_INSERT,
        };
      }
      return insertLock(write.table, settings);
    case 'merge-insert':
      return settings.xlockMergeInsert
        ? { type: x ? exclWrite : shared, operation: DataOperation.DATA_OPERATION_UPDATE }
        : insertLock(write.table, settings);
    case 'insert-overwrite':
      if (!acid) return { type: exclusive, operation: DataOperation.DATA_OPERATION_UPDATE };
      return {
        type: x && settings.xlockIow && !settings.locklessReads ? exclusive : exclWrite,
        operation: DataOperation.DATA_OPERATION_UPDATE,
      };
    case 'update':
      return { type: x ? exclWrite : shared, operation: DataOperation.DATA_OPERATION_UPDATE };
    case 'delete':
      return { type: x ? exclWrite : shared, operation: DataOperation.DATA_OPERATION_DELETE };
    case 'ctas':
      return acid && settings.xlockCtas
        ? { type: exclWrite, operation: DataOperation.DATA_OPERATION_INSERT }
        : { type: exclusive, operation: acid ? DataOperation.DATA_OPERATION_INSERT : noTxn };
    case 'truncate':
      // Hive records nothing of it, so that an update whose snapshot is older brings back what was truncated. Here it is a
      // delete of all rows.
      return {
        type: truncatesByBase(write.table, settings) ? exclWrite : exclusive,
        operation: acid ? DataOperation.DATA_OPERATION_DELETE : noTxn,
      };
    case 'add-partition':
      return { type: LockType.LOCK_TYPE_SHARED_READ, operation: noTxn };
    case 'add-partition-if-not-exists':
      return { type: acid ? exclWrite : LockType.LOCK_TYPE_SHARED_READ, operation: noTxn };
    case 'msck':
      if (!acid) return { type: LockType.LOCK_TYPE_SHARED_READ, operation: noTxn };
      return { type: settings.locklessReads ? exclWrite : exclusive, operation: noTxn };
    case 'alter-properties':
      return { type: LockType.LOCK_TYPE_SHARED_READ, operation: noTxn };
    case 'alter':
      return { type: settings.locklessReads && acid ? exclWrite : exclusive, operation: noTxn };
    case 'drop-constraint':
      return { type: exclWrite, operation: noTxn };
    case 'drop':
      return { type: isSoftDelete(write.table, settings) ? exclWrite : exclusive, operation: noTxn };
    case 'drop-partition':
      return partitionLock(dropsByBase(write.table, settings));
    case 'rename-partition':
      return partitionLock(renamesByCopy(write.table, settings));
    case 'make-transactional':
      return { type: exclusive, operation: noTxn };
  }
}

const insertLock = (table: Table, settings: LockSettings): { type: LockType; operation: DataOperation } => ({
  type:
    settings.xlockWrite && !settings.locklessReads && !mayBeLeftToCleaner(table, settings)
      ? LockType.LOCK_TYPE_SHARED_READ
      : LockType.LOCK_TYPE_SHARED_WRITE,
  operation: DataOperation.DATA_OPERATION_INSERT,
});

/** With an empty base in the folder it is a write, whose abort has to be remembered as long as that is there. */
const partitionLock = (leavesBase: boolean): { type: LockType; operation: DataOperation } =>
  leavesBase
    ? { type: LockType.LOCK_TYPE_EXCL_WRITE, operation: DataOperation.DATA_OPERATION_DELETE }
    : { type: LockType.LOCK_TYPE_EXCLUSIVE, operation: DataOperation.DATA_OPERATION_NO_TXN };

const strength: Record<number, number> = {
  [LockType.LOCK_TYPE_SHARED_READ]: 1,
  [LockType.LOCK_TYPE_SHARED_WRITE]: 2,
  [LockType.LOCK_TYPE_EXCL_WRITE]: 3,
  [LockType.LOCK_TYPE_EXCLUSIVE]: 4,
};

/**
 * One component a resource and kind of operation: of two locks on one resource the stronger is asked for, but no
 * operation is dropped, so that a conflict check sees an UPDATE beside an INSERT (bug report B31).
 */
function merged(components: readonly LockComponent[]): LockComponent[] {
  const byKey = new Map<string, LockComponent>();
  for (const component of components) {
    const writes = component.isTransactional && component.operation >= DataOperation.DATA_OPERATION_INSERT;
    const key = [component.database, component.table, component.partition, writes ? component.operation : 'read'].join(
      '\0',
    );
    const known = byKey.get(key);
    if (known === undefined || strength[component.type] > strength[known.type]) byKey.set(key, component);
  }
  return [...byKey.values()];
}
