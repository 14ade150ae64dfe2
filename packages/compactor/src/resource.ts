import { SkepError } from '@skep/core';
import type { Partition, Table } from '@skep/rpc';
import type { WorkerServices } from './worker-services.js';

/** A table or a partition as the compactor sees it. */
export interface CompactedResource {
  readonly table: Table;
  readonly partition: Partition | undefined;
  /** The folder whose files are compacted. */
  readonly location: string;
  readonly insertOnly: boolean;
}

export const isInsertOnly = ({ parameters }: Table): boolean =>
  parameters.transactional_properties?.toLowerCase() === 'insert_only';

/** The table and folder a request names; undefined: gone. */
export async function findResource(
  services: WorkerServices,
  names: { database: string; table: string; partition?: string | undefined },
): Promise<CompactedResource | undefined> {
  const table = await tableOf(services, names.database, names.table);
  if (table === undefined) return undefined;
  const insertOnly = isInsertOnly(table);
  if (names.partition === undefined)
    return { table, partition: undefined, location: table.sd?.location ?? '', insertOnly };
  const { partitions } = await services.catalog.getPartitions({
    database: names.database,
    table: names.table,
    names: [names.partition],
  });
  if (partitions.length === 0) return undefined;
  return { table, partition: partitions[0], location: partitions[0].sd?.location ?? '', insertOnly };
}

/** undefined: gone. */
export async function tableOf(services: WorkerServices, database: string, name: string): Promise<Table | undefined> {
  try {
    return (await services.catalog.getTable({ database, name })).table;
  } catch (error) {
    if (error instanceof SkepError && error.code === 'NO_SUCH_OBJECT') return undefined;
    throw error;
  }
}

/** Files of other formats can be gathered but not merged (insert-only tables); without a name it is ORC. */
export function isOrc({ table, partition }: CompactedResource): boolean {
  const inputFormat = (partition?.sd ?? table.sd)?.inputFormat ?? '';
  return inputFormat === '' || inputFormat.endsWith('.OrcInputFormat');
}

/** Whether the Cleaner is to leave a table or partition alone: `no_cleanup`, in lower or upper case. */
export const isCleaningOff = ({ parameters }: Pick<Table | Partition, 'parameters'>): boolean =>
  (parameters.no_cleanup ?? parameters.NO_CLEANUP)?.toLowerCase() === 'true';
