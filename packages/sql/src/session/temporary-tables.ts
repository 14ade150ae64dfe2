import { DEFAULT_PARTITION_NAME, formatPartitionName } from '@skep/core';
import { type CatalogService, Partition, Table } from '@skep/rpc';
import type { FileSystem } from '@skep/storage';
import { MetaError } from './errors.js';

interface TemporaryTable {
  table: Table;
  /** By name, k1=v1/k2=v2. */
  readonly partitions: Map<string, Partition>;
}

const keyOf = (database: string, name: string): string => `${database.toLowerCase()}.${name.toLowerCase()}`;

/**
 * Tables of CREATE TEMPORARY TABLE (org.apache.hadoop.hive.ql.metadata.SessionHiveMetaStoreClient): one session's own, in no
 * catalog; they hide tables of the same name, and go with the session.
 */
export class TemporaryTables {
  private readonly tables = new Map<string, TemporaryTable>();

  has(database: string, name: string): boolean {
    return this.tables.has(keyOf(database, name));
  }

  add(table: Table): void {
    this.tables.set(keyOf(table.database, table.name), { table, partitions: new Map() });
  }

  /** Removes the files of all that are left. */
  async close(fs: FileSystem): Promise<void> {
    const locations = [...this.tables.values()].map(({ table }) => table.sd?.location ?? '');
    this.tables.clear();
    for (const location of locations) await fs.delete(location, { recursive: true });
  }

  /** The catalog as the session sees it. */
  over(catalog: CatalogService): CatalogService {
    const find = (database: string, name: string) => this.tables.get(keyOf(database, name));
    return {
      createDatabase: (request) => catalog.createDatabase(request),
      getDatabase: (request) => catalog.getDatabase(request),
      listDatabases: (request) => catalog.listDatabases(request),
      alterDatabase: (request) => catalog.alterDatabase(request),
      dropDatabase: (request) => catalog.dropDatabase(request),
      createTable: (request) => catalog.createTable(request),
      getServerInfo: (request) => catalog.getServerInfo(request),
      getTable: async (request) => {
        const own = find(request.database, request.name);
        return own === undefined ? await catalog.getTable(request) : { table: Table.fromPartial(own.table) };
      },
      listTables: async (request) => {
        const { names } = await catalog.listTables(request);
        const { database, pattern, tableType } = request;
        if (pattern !== undefined || (tableType !== undefined && tableType !== 'MANAGED_TABLE')) return { names };
        const own = [...this.tables.values()].filter(({ table }) => table.database === database.toLowerCase());
        return { names: [...new Set([...names, ...own.map(({ table }) => table.name)])].sort() };
      },
      alterTable: async (request) => {
        const own = find(request.database, request.name);
        if (own === undefined) return await catalog.alterTable(request);
        if (request.table === undefined) return { factsRenamed: true };
        const { database, name } = request.table;
        this.tables.delete(keyOf(request.database, request.name));
        this.tables.set(keyOf(database, name), { ...own, table: Table.fromPartial(request.table) });
        return { factsRenamed: true };
      },
      dropTable: async (request) => {
        if (this.tables.delete(keyOf(request.database, request.name))) return { factsForgotten: true };
        return await catalog.dropTable(request);
      },
      addPartitions: async (request) => {
        const [first] = request.partitions;
        const own = first && find(first.database, first.table);
        return own === undefined ? await catalog.addPartitions(request) : addPartitions(own, request);
      },
      getPartitions: async (request) => {
        const own = find(request.database, request.table);
        if (own === undefined) return await catalog.getPartitions(request);
        const names = request.names.length === 0 ? [...own.partitions.keys()].sort() : request.names;
        return { partitions: names.flatMap((name) => own.partitions.get(name) ?? []) };
      },
      alterPartitions: async (request) => {
        const own = find(request.database, request.table);
        if (own === undefined) return await catalog.alterPartitions(request);
        for (const name of request.names) own.partitions.delete(name);
        for (const partition of request.partitions) own.partitions.set(partitionName(own.table, partition), partition);
        return { factsRenamed: true };
      },
      dropPartitions: async (request) => {
        const own = find(request.database, request.table);
        if (own === undefined) return await catalog.dropPartitions(request);
        for (const name of request.names) own.partitions.delete(name);
        return { factsForgotten: true };
      },
    };
  }
}

function addPartitions(
  { table, partitions }: TemporaryTable,
  request: { readonly partitions: readonly Partition[]; readonly ifNotExists: boolean },
): { partitions: Partition[] } {
  const fresh = request.partitions.filter((partition) => !partitions.has(partitionName(table, partition)));
  if (fresh.length < request.partitions.length && !request.ifNotExists) {
    throw new MetaError(`AlreadyExistsException(message:Partition already exists in ${table.database}.${table.name})`);
  }
  for (const partition of fresh) partitions.set(partitionName(table, partition), Partition.fromPartial(partition));
  return { partitions: fresh };
}

const partitionName = (table: Table, { values }: Partition): string =>
  formatPartitionName(
    table.partitionKeys.map((key, i) => ({
      column: key.name,
      value: values[i] === DEFAULT_PARTITION_NAME ? null : values[i],
    })),
  );
