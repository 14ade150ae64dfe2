import { SkepError } from '@skep/core';
import type { CatalogService, Table } from '@skep/rpc';

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
