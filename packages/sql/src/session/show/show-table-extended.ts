import { isHiddenName } from '@skep/acid';
import type { Partition, Table } from '@skep/rpc';
import type { FileEntry, FileSystem } from '@skep/storage';
import type { Identifier, PartitionSpec } from '../../parse/ast.js';
import { parseTypeName } from '../../query.js';
import type { HiveType } from '../../types/hive-type.js';
import { findTable, requireDatabase, resolveTable, type SessionContext } from '../context.js';
import { requirePartition } from '../partition/partitions.js';
import type { StatementResult } from '../result.js';
import { textResult } from '../text-result.js';

/** SHOW TABLE EXTENDED LIKE … [PARTITION (…)] (org.apache.hadoop.hive.ql.ddl.table.info.show.status). */
export async function showTableExtended(
  context: SessionContext,
  what: { readonly database?: Identifier; readonly pattern: string; readonly partition?: PartitionSpec },
  matches: (name: string) => boolean,
): Promise<StatementResult> {
  const database =
    what.database === undefined ? context.currentDatabase : await requireDatabase(context, what.database);
  const lines: string[] = [];
  if (what.partition !== undefined) {
    // With a partition the text is a table's name.
    const { position } = what.partition;
    const table = await resolveTable(context, {
      database: { name: database, quoted: true, position },
      name: { name: what.pattern, quoted: true, position },
      position,
    });
    lines.push(...(await statusLines(context, table, await requirePartition(context, table, what.partition))));
  } else {
    const { names } = await context.services.catalog.listTables({ database });
    for (const name of names.filter(matches)) {
      const table = await findTable(context, database, name);
      if (table !== undefined) lines.push(...(await statusLines(context, table)));
    }
  }
  return textResult(
    ['tab_name'],
    lines.map((line) => [line]),
  );
}

async function statusLines(context: SessionContext, table: Table, partition?: Partition): Promise<string[]> {
  const sd = partition?.sd ?? table.sd;
  const isView = table.tableType === 'VIRTUAL_VIEW';
  const keys = table.partitionKeys.map((key) => `${thriftType(key.type)} ${key.name}`);
  const lines = [
    `tableName:${table.name}`,
    `owner:${table.owner}`,
    `location:${isView ? 'null' : sd?.location}`,
    `inputformat:${sd?.inputFormat}`,
    `outputformat:${sd?.outputFormat}`,
    `columns:struct columns { ${(sd?.columns ?? []).map((c) => `${thriftType(c.type)} ${c.name}`).join(', ')}}`,
    `partitioned:${keys.length > 0}`,
    `partitionColumns:${keys.length > 0 ? `struct partition_columns { ${keys.join(', ')}}` : ''}`,
  ];
  if (isView) return [...lines, ''];
  const files = await filesBelow(context.services.fs, sd?.location ?? '');
  const sizes = files.map((file) => file.sizeBytes);
  const newest = Math.trunc(files.reduce((latest, file) => Math.max(latest, file.modifiedMs), 0));
  return [
    ...lines,
    `totalNumberFiles:${files.length}`,
    `totalFileSize:${sizes.reduce((sum, size) => sum + size, 0)}`,
    `maxFileSize:${sizes.reduce((most, size) => Math.max(most, size), 0)}`,
    `minFileSize:${sizes.length === 0 ? 0 : sizes.reduce((least, size) => Math.min(least, size))}`,
    // File systems seldom keep the times of reads.
    `lastAccessTime:${newest}`,
    `lastUpdateTime:${newest}`,
    '',
  ];
}

/** All files of the folder, also those that a snapshot does not see: what the disk holds. */
async function filesBelow(fs: FileSystem, folder: string): Promise<FileEntry[]> {
  const found: FileEntry[] = [];
  if ((await fs.stat(folder)) === undefined) return found;
  for (const entry of await fs.list(folder)) {
    if (entry.isDirectory) {
      if (!isHiddenName(entry.name)) found.push(...(await filesBelow(fs, entry.path)));
    } else found.push(entry);
  }
  return found;
}

const THRIFT_NAMES: Readonly<Partial<Record<HiveType['kind'], string>>> = {
  boolean: 'bool',
  tinyint: 'byte',
  smallint: 'i16',
  int: 'i32',
  bigint: 'i64',
};

/** A type as Thrift's language would say it (MetaStoreUtils.typeToThriftType). */
function thriftType(name: string): string {
  return THRIFT_NAMES[parseTypeName(name).kind] ?? name.replace(/^array/, 'list');
}
