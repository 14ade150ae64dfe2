import type { AddDynamicPartitionsRequest, TransactionService } from '@skep/rpc';

/** What a writer touched of a table whose partitions were known from the rows alone. */
export type WrittenPartitions = Omit<AddDynamicPartitionsRequest, 'txnId'>;

/**
 * Tells which partitions a statement has written to, in place of the record that it may be any of its table. Only when all of its
 * writers are done (Hive: after each): were the rest killed between two, nobody would look for what the later one wrote, and it
 * would count as committed one day. And of each table at once: the last call removes that record.
 */
export async function reportWritten(
  txns: Pick<TransactionService, 'addWriteComponents' | 'addDynamicPartitions'>,
  txnId: bigint,
  written: readonly WrittenPartitions[],
): Promise<void> {
  const tables = new Map<string, Map<string, WrittenPartitions>>();
  for (const one of written) {
    const table = `${one.database}.${one.table}`;
    const byOperation = tables.get(table) ?? new Map<string, WrittenPartitions>();
    tables.set(table, byOperation);
    const key = `${one.operation} ${one.writeId}`;
    const partitions = [...new Set([...(byOperation.get(key)?.partitions ?? []), ...one.partitions])];
    byOperation.set(key, { ...one, partitions });
  }
  for (const byOperation of tables.values()) {
    const [last, ...others] = [...byOperation.values()].reverse();
    const components = others.flatMap(({ database, table, partitions, operation, writeId }) =>
      partitions.map((partition) => ({
        resource: { database, table, partition },
        operation,
        writeId,
        isDynamicPartitionWrite: false,
      })),
    );
    if (components.length > 0) await txns.addWriteComponents({ txnId, components });
    await txns.addDynamicPartitions({ txnId, ...last });
  }
}
