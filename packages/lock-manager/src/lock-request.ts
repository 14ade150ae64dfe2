import {
  DataOperation,
  InvalidRequestError,
  type LockComponent,
  LockLevel,
  type LockRequest,
  type WriteComponent,
} from '@skep/rpc';
import { typeCode } from './lock-row.js';

/** Refuses what cannot be a lock request. */
export function validateLockRequest(request: LockRequest): void {
  if (request.components.length === 0) throw new InvalidRequestError('a lock request needs at least one component');
  if (request.txnId < 0n) throw new InvalidRequestError(`no transaction has the id ${request.txnId}`);
  for (const component of request.components) validateComponent(component, request.txnId);
}

function validateComponent(component: LockComponent, txnId: bigint): void {
  const { database, table, partition } = component;
  if (typeCode(component.type) === undefined) throw new InvalidRequestError('a lock component needs a type');
  if (database === '') throw new InvalidRequestError('a lock component needs a database');
  if (partition !== undefined && table === undefined) {
    throw new InvalidRequestError(`partition ${partition} is locked without a table`);
  }
  const level =
    partition !== undefined
      ? LockLevel.LOCK_LEVEL_PARTITION
      : table !== undefined
        ? LockLevel.LOCK_LEVEL_TABLE
        : LockLevel.LOCK_LEVEL_DB;
  if (component.level !== LockLevel.LOCK_LEVEL_UNSPECIFIED && component.level !== level) {
    throw new InvalidRequestError(`the level of the lock on ${database} does not fit what it names`);
  }
  if (isWrite(component) && txnId === 0n) {
    throw new InvalidRequestError(`a write to the transactional table ${database}.${table} needs a transaction`);
  }
}

/** A component whose write is recorded for conflict checks (EnqueueLockFunction). */
function isWrite(component: LockComponent): boolean {
  if (!component.isTransactional || component.table === undefined) return false;
  switch (component.operation) {
    case DataOperation.DATA_OPERATION_INSERT:
    case DataOperation.DATA_OPERATION_UPDATE:
    case DataOperation.DATA_OPERATION_DELETE:
      return true;
    default:
      return false;
  }
}

/** What the transaction manager has to record before the locks are asked for. */
export function writeComponents(request: LockRequest): WriteComponent[] {
  return request.components.filter(isWrite).map((component) => ({
    resource: { database: component.database, table: component.table ?? '', partition: component.partition },
    operation: component.operation,
    isDynamicPartitionWrite: component.isDynamicPartitionWrite,
  }));
}
