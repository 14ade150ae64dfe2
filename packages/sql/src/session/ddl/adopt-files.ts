import { parseAcidDirectoryName } from '@skep/acid';
import type { Table } from '@skep/rpc';
import type { SessionContext } from '../context.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';

/**
 * Takes in what other engines wrote into a transactional table's folders: its write ids, and transaction ids, go on above theirs, so that their rows are
 * seen and no folder name comes twice (org.apache.hadoop.hive.metastore.Msck, validateAndAddMaxTxnIdAndWriteId). All their
 * writes count as committed.
 */
export async function adoptFiles(
  context: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  folders: readonly string[],
): Promise<void> {
  const { fs, txns } = context.services;
  let writeId = 0n;
  let txnId = 0n;
  for (const folder of folders) {
    if ((await fs.stat(folder)) === undefined) continue;
    for (const entry of await fs.list(folder)) {
      const name = entry.isDirectory ? parseAcidDirectoryName(entry.name) : undefined;
      if (name === undefined) continue;
      const last = name.kind === 'base' ? name.writeId : name.maxWriteId;
      if (last > writeId) writeId = last;
      if (name.visibilityTxnId > txnId) txnId = name.visibilityTxnId;
    }
  }
  // What was compacted by a transaction that is yet to come here would not be seen, or taken for that one's.
  if (txnId >= transaction.txnId) await txns.seedTxnId({ seedTxnId: txnId });
  if (writeId > 0n) await txns.seedWriteId({ database: table.database, table: table.name, seedWriteId: writeId });
}
