import type { Table } from '@skep/rpc';
import type { SessionContext } from './context.js';
import { MetaError } from './errors.js';

/** Write ids of a converted table start above this: what was there before counts as write id 0. */
const seedWriteId = 10_000_000n;
const originalName = /^\d+_\d+(_copy_\d+)?$/;

/**
 * A plain ORC table becomes full ACID: its files stay as they are and are read as originals, so each must have the name
 * of one (org.apache.hadoop.hive.ql.ddl.table.misc.properties, HIVE-12724: bucket numbers come from the names).
 */
export async function convertToAcid(context: SessionContext, table: Table): Promise<void> {
  const { catalog, fs, txns } = context.services;
  const locations = [table.sd?.location ?? ''];
  if (table.partitionKeys.length > 0) {
    const { partitions } = await catalog.getPartitions({ database: table.database, table: table.name, names: [] });
    locations.push(...partitions.map((partition) => partition.sd?.location ?? ''));
  }
  for (const location of locations) {
    if ((await fs.stat(location)) === undefined) continue;
    for (const entry of await fs.list(location)) {
      if (entry.isDirectory || /^[._]/.test(entry.name) || originalName.test(entry.name)) continue;
      throw new MetaError(
        `Unexpected data file name format. Cannot convert ${table.database}.${table.name} to transactional table. File: ${entry.path}`,
      );
    }
  }
  await txns.seedWriteId({ database: table.database, table: table.name, seedWriteId });
}
