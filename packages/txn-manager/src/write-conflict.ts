/** A row of WRITE_SET, or what a transaction is about to put there. */
export interface WriteSetEntry {
  readonly database: string;
  readonly table: string;
  readonly partition: string | undefined;
  readonly txnId: bigint;
  readonly commitId: bigint;
  /** `u` or `d`; inserts are never in conflict. */
  readonly operation: string;
}

/**
 * First committer wins (CommitTxnFunction.checkForWriteConflict): another transaction wrote the same table or partition
 * and committed when this one was open already. `[17,20]` and `[6,80]` overlap; `[17,19]` and `[20,21]` do not.
 */
export function findWriteConflict(
  own: readonly WriteSetEntry[],
  committed: readonly WriteSetEntry[],
): { readonly own: WriteSetEntry; readonly winner: WriteSetEntry } | undefined {
  for (const winner of committed) {
    for (const entry of own) if (conflicts(entry, winner)) return { own: entry, winner };
  }
  return undefined;
}

function conflicts(own: WriteSetEntry, other: WriteSetEntry): boolean {
  return (
    own.txnId !== other.txnId &&
    own.txnId <= other.commitId &&
    own.database === other.database &&
    own.table === other.table &&
    own.partition === other.partition &&
    isUpdateOrDelete(own.operation) &&
    isUpdateOrDelete(other.operation)
  );
}

export function isUpdateOrDelete(operation: string): boolean {
  return operation === 'u' || operation === 'd';
}

/** Hive's text: who lost, on what, to whom, and both operations. */
export function describeWriteConflict(own: WriteSetEntry, winner: WriteSetEntry): string {
  const resource = [own.database, own.table, own.partition].filter((part) => part !== undefined).join('/');
  const loser = `[txnid:${own.txnId},${own.commitId}]`;
  const committed = `[txnid:${winner.txnId},${winner.commitId}]`;
  return `Aborting ${loser} due to a write conflict on ${resource} committed by ${committed} ${own.operation}/${winner.operation}`;
}

/** Who won, for the loser's record. */
export function describeWinner({ database, table, partition, txnId }: WriteSetEntry): string {
  return `txnid:${txnId} committed a write of ${[database, table].join('.')}${partition === undefined ? '' : `/${partition}`}`;
}
