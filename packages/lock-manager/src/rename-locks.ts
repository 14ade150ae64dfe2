import type { Statement, Tx } from '@skep/metadb';
import { InvalidRequestError, type RenameLocksRequest } from '@skep/rpc';

/**
 * Locks follow what was renamed (TxnHandler.onRename): who waits for the table waits on, and who holds it still keeps others
 * from it.
 */
export function renameStatement(request: RenameLocksRequest): Statement {
  const { fromDatabase, fromTable, fromPartition, toDatabase, toTable, toPartition } = request;
  const kinds = [fromTable === undefined, fromPartition === undefined].join();
  if (fromDatabase === '' || toDatabase === '' || (fromTable === undefined && fromPartition !== undefined)) {
    throw new InvalidRequestError('a rename of locks needs both databases, and the table of a partition');
  }
  if (kinds !== [toTable === undefined, toPartition === undefined].join()) {
    throw new InvalidRequestError('a rename of locks cannot change what kind of thing it names');
  }
  const names = (database: string, table?: string, partition?: string) => {
    const all: [string, string | undefined][] = [
      ['HL_DB', database.toLowerCase()],
      ['HL_TABLE', table?.toLowerCase()],
      ['HL_PARTITION', partition],
    ];
    return all.filter(([, value]) => value !== undefined);
  };
  const [from, to] = [names(fromDatabase, fromTable, fromPartition), names(toDatabase, toTable, toPartition)];
  return [
    `UPDATE HIVE_LOCKS SET ${to.map(([column]) => `${column} = ?`).join(', ')} WHERE ${from
      .map(([column]) => `${column} = ?`)
      .join(' AND ')}`,
    [...to, ...from].map(([, value]) => value),
  ];
}

/** Within the transaction of whoever renames. */
export async function renameLocks(tx: Tx, request: RenameLocksRequest): Promise<void> {
  await tx.run(...renameStatement(request));
}
