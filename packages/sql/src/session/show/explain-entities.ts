import { type LockComponent, LockType, type Table } from '@skep/rpc';
import { lockSettings, type SessionContext } from '../context.js';
import { lockComponents, type ReadEntity, type WriteEntity } from '../transaction/lock-plan.js';
import type { ExplainedPlan } from './explain-plan.js';

const LOCK_NAMES: Record<number, string> = {
  [LockType.LOCK_TYPE_SHARED_READ]: 'SHARED_READ',
  [LockType.LOCK_TYPE_SHARED_WRITE]: 'SHARED_WRITE',
  [LockType.LOCK_TYPE_EXCL_WRITE]: 'EXCL_WRITE',
  [LockType.LOCK_TYPE_EXCLUSIVE]: 'EXCLUSIVE',
};

/** EXPLAIN LOCKS (ExplainLockDesc): what the statement would ask for. */
export function lockLines(context: SessionContext, plan: ExplainedPlan): string[] {
  return linesOfLocks(lockComponents(plan.reads, plan.writes, lockSettings(context.conf)));
}

export function linesOfLocks(components: readonly LockComponent[]): string[] {
  const names = components.map(({ database, table, partition, type }) => {
    const place = [database, table, partition].filter((part) => part !== undefined && part !== '').join('.');
    return `${place} -> ${LOCK_NAMES[type]}`;
  });
  return ['LOCK INFORMATION:', ...names];
}

/** EXPLAIN DEPENDENCY: one line of JSON, tables and partitions as Hive names them. */
export function dependencyJson({ reads }: ExplainedPlan): string {
  const tables = new Map(reads.map(({ table }) => [inputName(table), table.tableType] as const));
  const partitions = [...new Set(reads.flatMap(partitionNames))];
  return JSON.stringify({
    input_tables: [...tables].map(([tablename, tabletype]) => ({ tablename, tabletype })),
    input_partitions: partitions.map((partitionName) => ({ partitionName })),
  });
}

/** EXPLAIN AUTHORIZATION: what would be asked of an authorizer. */
export function authorizationLines(context: SessionContext, plan: ExplainedPlan): string[] {
  const section = (title: string, names: Iterable<string>) => [
    `${title}: `,
    ...[...new Set(names)].map((n) => `  ${n}`),
  ];
  return [
    ...section('INPUTS', plan.reads.flatMap(entityNames)),
    ...section(
      'OUTPUTS',
      plan.writes.flatMap((write) => outputNames(write)),
    ),
    ...section('CURRENT_USER', [context.services.identity.user]),
    ...section('OPERATION', [plan.operation]),
  ];
}

const inputName = (table: Table): string => `${table.database}@${table.name}`;

const partitionNames = ({ table, partitions = [] }: ReadEntity): string[] =>
  partitions.map((partition) => `${inputName(table)}@${partition}`);

const entityNames = (read: ReadEntity): string[] => [inputName(read.table), ...partitionNames(read)];

const outputNames = (write: WriteEntity): string[] => {
  const partitions = write.dynamicPartitions ? [] : partitionNames(write);
  return partitions.length > 0 ? partitions : [inputName(write.table)];
};
