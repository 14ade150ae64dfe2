import { SkepError } from '@skep/core';
import type { CatalogService, Partition, Table } from '@skep/rpc';

const ACCURATE = 'COLUMN_STATS_ACCURATE';

/** A table's parameters without the claim that its statistics are exact (StatsSetupConst). */
export function withoutAccurateStatistics(parameters: Table['parameters']): Table['parameters'] {
  const { [ACCURATE]: _, ...others } = parameters;
  return others;
}

/**
 * Before a table is written to: a Hive on the same metastore answers COUNT(*) from statistics that the table calls exact,
 * and ours are not stored. Should the write not come about, only the claim is lost.
 */
export async function distrustStatistics(catalog: CatalogService, database: string, name: string): Promise<void> {
  let table: Table | undefined;
  try {
    ({ table } = await catalog.getTable({ database, name }));
  } catch (error) {
    // CREATE TABLE AS SELECT writes first.
    if (error instanceof SkepError && error.code === 'NO_SUCH_OBJECT') return;
    throw error;
  }
  if (table?.parameters[ACCURATE] === undefined) return;
  await catalog.alterTable({
    database,
    name,
    table: { ...table, parameters: withoutAccurateStatistics(table.parameters) },
  });
}

/** The same of a partition of the table, which has a claim of its own; `name` is k1=v1/k2=v2. */
export async function distrustPartition(
  catalog: CatalogService,
  { database, name: table }: Table,
  name: string,
  partition: Partition,
): Promise<void> {
  if (partition.parameters[ACCURATE] === undefined) return;
  const distrusted = { ...partition, parameters: withoutAccurateStatistics(partition.parameters) };
  await catalog.alterPartitions({ database, table, names: [name], partitions: [distrusted] });
}
