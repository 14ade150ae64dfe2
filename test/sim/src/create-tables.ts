import { Catalog } from '@skep/catalog';
import type { Database } from '@skep/metadb';
import { Partition, StorageDescriptor, Table } from '@skep/rpc';
import type { FileSystem } from '@skep/storage';

const ORC = {
  inputFormat: 'org.apache.hadoop.hive.ql.io.orc.OrcInputFormat',
  outputFormat: 'org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat',
};
const COLUMNS = [
  { name: 'a', type: 'int' },
  { name: 'b', type: 'string' },
];

/** `t` with partitions, `u` without, `m` for inserts only, `r1` to be renamed with its partition (client-tables.ts). */
export async function createTables(db: Database, files: FileSystem): Promise<void> {
  const catalog = new Catalog(db);
  const tables = [
    { name: 't', partitionKeys: [{ name: 'p', type: 'string' }], properties: 'default' },
    { name: 'u', partitionKeys: [], properties: 'default' },
    { name: 'm', partitionKeys: [], properties: 'insert_only' },
    { name: 'r1', partitionKeys: [{ name: 'p', type: 'string' }], properties: 'default' },
  ];
  for (const { name, partitionKeys, properties } of tables) {
    const sd = StorageDescriptor.fromPartial({ ...ORC, columns: COLUMNS, location: `file:/w/${name}` });
    const parameters = { transactional: 'true', transactional_properties: properties };
    const table = { name, database: 'default', tableType: 'MANAGED_TABLE', parameters, partitionKeys, sd };
    await catalog.createTable({ table: Table.fromPartial(table) });
    await files.mkdirs(`file:/w/${name}`);
  }
  const partitionOf = (table: string, value: string) => {
    const sd = StorageDescriptor.fromPartial({ ...ORC, columns: COLUMNS, location: `file:/w/${table}/p=${value}` });
    return Partition.fromPartial({ database: 'default', table, values: [value], sd });
  };
  for (const partitions of [[partitionOf('t', 'a'), partitionOf('t', 'b')], [partitionOf('r1', 'a')]]) {
    await catalog.addPartitions({ partitions, ifNotExists: true });
    for (const { sd } of partitions) await files.mkdirs(sd?.location ?? '');
  }
}
