import { formatPartitionName } from '@skep/core';
import { chunked, idList, type Tx } from '@skep/metadb';
import type { AlterPartitionsRequest, FieldSchema, Partition, StorageDescriptor } from '@skep/rpc';
import { AlreadyExistsError, InvalidObjectError, InvalidOperationError, noSuchPartition } from './errors.js';
import { dependentsOf } from './hive-tables.js';
import { groupBy, insertParameters, insertRows, isTrue, nextIds, type Parameters } from './rows.js';
import {
  type DescriptorIds,
  deleteDescriptors,
  insertColumns,
  insertDescriptors,
  removeUnusedColumns,
  replaceParameters,
  sameColumns,
  updateDescriptor,
} from './storage-descriptor.js';
import { type Expected, requireExpected, requireTable, type StoredTable } from './tables.js';

/** `k1=v1/k2=v2` with Hive's escapes (Warehouse.makePartName). */
function partitionName(table: StoredTable, values: readonly string[]): string {
  const { partitionKeys } = table.table;
  if (partitionKeys.length === 0 || values.length !== partitionKeys.length) {
    const name = `${table.table.database}.${table.table.name}`;
    throw new InvalidObjectError(
      `Invalid partition for table ${name}: ${values.length} values for ${partitionKeys.length} keys`,
    );
  }
  return formatPartitionName(partitionKeys.map((key, at) => ({ column: key.name, value: values[at] })));
}

/** Partitions with the columns of their table share its list (ObjectStore.convertToMPart); others get their own. */
async function columnsFor(tx: Tx, table: StoredTable, columns: readonly FieldSchema[]): Promise<bigint> {
  if (table.cdId !== null && sameColumns(table.columns, columns)) return table.cdId;
  return await insertColumns(tx, columns);
}

function descriptorFor(table: StoredTable, partition: Partition): StorageDescriptor {
  const sd = partition.sd ?? table.table.sd;
  if (sd === undefined) throw new InvalidObjectError('the partition has no storage descriptor');
  return { ...sd, columns: sd.columns.map((column) => ({ ...column, name: column.name.toLowerCase() })) };
}

async function existingNames(tx: Tx, tblId: bigint, names: readonly string[]): Promise<Map<string, bigint>> {
  const found = new Map<string, bigint>();
  for (const chunk of chunked(names, 500)) {
    const marks = Array(chunk.length).fill('?').join(',');
    const rows = await tx.all<{ PART_NAME: string; PART_ID: bigint }>(
      `SELECT PART_NAME, PART_ID FROM PARTITIONS WHERE TBL_ID = ? AND PART_NAME IN (${marks})`,
      [tblId, ...chunk],
    );
    for (const row of rows) found.set(row.PART_NAME, row.PART_ID);
  }
  return found;
}

/** Adds partitions of one or more tables, all or none; answers those that are new. */
export async function insertPartitions(
  tx: Tx,
  partitions: readonly Partition[],
  ifNotExists: boolean,
): Promise<Partition[]> {
  const added: Partition[] = [];
  for (const group of groupBy(partitions, (p) => `${p.database}.${p.table}`.toLowerCase()).values()) {
    const table = await requireTable(tx, group[0].database, group[0].table);
    added.push(...(await insertInto(tx, table, group, ifNotExists)));
  }
  return added;
}

async function insertInto(tx: Tx, table: StoredTable, partitions: readonly Partition[], ifNotExists: boolean) {
  const named = new Map<string, Partition>();
  for (const partition of partitions) {
    const name = partitionName(table, partition.values);
    if (named.has(name) && !ifNotExists) throw new AlreadyExistsError(`Duplicate partitions in the list: ${name}`);
    if (!named.has(name)) named.set(name, partition);
  }
  const there = await existingNames(tx, table.tblId, [...named.keys()]);
  const [first] = there.keys();
  if (first !== undefined && !ifNotExists) throw new AlreadyExistsError(`Partition already exists: ${first}`);
  const fresh = [...named].filter(([name]) => !there.has(name));
  if (fresh.length === 0) return [];
  const { database, name: tableName } = table.table;
  const firstId = await nextIds(tx, 'MPartition', fresh.length);
  const createTime = Number((await tx.now()) / 1000n);
  const all: { name: string; partition: Partition; sd: StorageDescriptor; cdId: bigint }[] = [];
  for (const [at, [name, given]] of fresh.entries()) {
    const sd = descriptorFor(table, given);
    const id = firstId + BigInt(at);
    const partition = { ...given, id, database, table: tableName, sd, createTime: given.createTime || createTime };
    all.push({ name, partition, sd, cdId: await columnsFor(tx, table, sd.columns) });
  }
  const sdIds = await insertDescriptors(tx, all);
  await insertRows(
    tx,
    'PARTITIONS',
    ['PART_ID', 'CREATE_TIME', 'LAST_ACCESS_TIME', 'PART_NAME', 'SD_ID', 'TBL_ID', 'WRITE_ID'],
    all.map(({ name, partition: p }, at) => {
      return [p.id, p.createTime, p.lastAccessTime, name, sdIds[at], table.tblId, p.writeId];
    }),
  );
  await insertValues(
    tx,
    all.map(({ partition }) => partition),
  );
  const parameters = all.map(({ partition }) => [partition.id, partition.parameters] as const);
  await insertParameters(tx, 'PARTITION_PARAMS', 'PART_ID', parameters);
  return all.map(({ partition }) => partition);
}

const insertValues = (tx: Tx, partitions: readonly Partition[]) =>
  insertRows(
    tx,
    'PARTITION_KEY_VALS',
    ['PART_ID', 'PART_KEY_VAL', 'INTEGER_IDX'],
    partitions.flatMap((p) => p.values.map((value, at) => [p.id, value, at])),
  );

interface PartitionRow {
  PART_ID: bigint;
  CREATE_TIME: bigint;
  LAST_ACCESS_TIME: bigint;
  PART_NAME: string;
  WRITE_ID: bigint | null;
  SD_ID: bigint;
  CD_ID: bigint;
  SERDE_ID: bigint;
  INPUT_FORMAT: string | null;
  OUTPUT_FORMAT: string | null;
  IS_COMPRESSED: bigint | Uint8Array;
  IS_STOREDASSUBDIRECTORIES: bigint | Uint8Array;
  LOCATION: string | null;
  NUM_BUCKETS: bigint;
  SERDE_NAME: string | null;
  SLIB: string | null;
}

const SELECT_PARTITIONS = `SELECT P.PART_ID, P.CREATE_TIME, P.LAST_ACCESS_TIME, P.PART_NAME, P.WRITE_ID, S.SD_ID, S.CD_ID,
  S.SERDE_ID, S.INPUT_FORMAT, S.OUTPUT_FORMAT, S.IS_COMPRESSED, S.IS_STOREDASSUBDIRECTORIES, S.LOCATION, S.NUM_BUCKETS,
  E.NAME AS SERDE_NAME, E.SLIB
  FROM PARTITIONS P JOIN SDS S ON S.SD_ID = P.SD_ID JOIN SERDES E ON E.SERDE_ID = S.SERDE_ID WHERE P.TBL_ID = ?`;

/** A partition with its name and the ids of its rows. */
interface StoredPartition {
  readonly name: string;
  readonly partition: Partition;
  readonly descriptor: DescriptorIds;
}

/** By name, in Hive's order. */
export async function readPartitions(
  tx: Tx,
  table: StoredTable,
  names: readonly string[] | undefined,
): Promise<StoredPartition[]> {
  const rows: PartitionRow[] = [];
  if (names === undefined) rows.push(...(await tx.all<PartitionRow>(SELECT_PARTITIONS, [table.tblId])));
  else {
    for (const chunk of chunked([...new Set(names)], 500)) {
      const marks = Array(chunk.length).fill('?').join(',');
      const sql = `${SELECT_PARTITIONS} AND P.PART_NAME IN (${marks})`;
      rows.push(...(await tx.all<PartitionRow>(sql, [table.tblId, ...chunk])));
    }
  }
  rows.sort((a, b) => (a.PART_NAME < b.PART_NAME ? -1 : 1));
  const stored: StoredPartition[] = [];
  for (const chunk of chunked(rows)) stored.push(...(await withParts(tx, table, chunk)));
  return stored;
}

interface ListRow {
  ID: bigint;
  A: string;
  B: string | null;
}

async function withParts(tx: Tx, table: StoredTable, rows: readonly PartitionRow[]): Promise<StoredPartition[]> {
  const lists = async (sql: string, ids: readonly bigint[]) => {
    const list = idList(ids);
    return groupBy(await tx.all<ListRow>(sql.replace('(?)', list.sql), list.params), (row) => row.ID);
  };
  const partIds = rows.map((row) => row.PART_ID);
  const sdIds = rows.map((row) => row.SD_ID);
  const foreignColumns = [...new Set(rows.map((row) => row.CD_ID))].filter((id) => id !== table.cdId);
  const values = await lists(
    'SELECT PART_ID AS ID, PART_KEY_VAL AS A, NULL AS B FROM PARTITION_KEY_VALS WHERE PART_ID IN (?) ORDER BY PART_ID, INTEGER_IDX',
    partIds,
  );
  const parameters = await lists(
    'SELECT PART_ID AS ID, PARAM_KEY AS A, PARAM_VALUE AS B FROM PARTITION_PARAMS WHERE PART_ID IN (?)',
    partIds,
  );
  const sdParameters = await lists(
    'SELECT SD_ID AS ID, PARAM_KEY AS A, PARAM_VALUE AS B FROM SD_PARAMS WHERE SD_ID IN (?)',
    sdIds,
  );
  const serdeParameters = await lists(
    'SELECT SERDE_ID AS ID, PARAM_KEY AS A, PARAM_VALUE AS B FROM SERDE_PARAMS WHERE SERDE_ID IN (?)',
    rows.map((row) => row.SERDE_ID),
  );
  const buckets = await lists(
    'SELECT SD_ID AS ID, BUCKET_COL_NAME AS A, NULL AS B FROM BUCKETING_COLS WHERE SD_ID IN (?) ORDER BY SD_ID, INTEGER_IDX',
    sdIds,
  );
  const sorts = await lists(
    "SELECT SD_ID AS ID, COLUMN_NAME AS A, CASE WHEN `ORDER` = 1 THEN 'asc' ELSE 'desc' END AS B FROM SORT_COLS WHERE SD_ID IN (?) ORDER BY SD_ID, INTEGER_IDX",
    sdIds,
  );
  const columns = new Map<bigint, FieldSchema[]>();
  for (const cdId of foreignColumns) columns.set(cdId, await readColumns(tx, cdId));
  const map = (list: readonly ListRow[] | undefined): Parameters =>
    Object.fromEntries((list ?? []).map((row) => [row.A, row.B ?? '']));
  return rows.map((row) => {
    const { SD_ID: sdId, CD_ID: cdId, SERDE_ID: serdeId } = row;
    const sd: StorageDescriptor = {
      columns: columns.get(cdId) ?? table.columns.map((column) => ({ ...column })),
      location: row.LOCATION ?? '',
      inputFormat: row.INPUT_FORMAT ?? '',
      outputFormat: row.OUTPUT_FORMAT ?? '',
      compressed: isTrue(row.IS_COMPRESSED),
      numBuckets: Number(row.NUM_BUCKETS),
      serde: {
        name: row.SERDE_NAME ?? '',
        serializationLib: row.SLIB ?? '',
        parameters: map(serdeParameters.get(serdeId)),
      },
      bucketColumns: (buckets.get(sdId) ?? []).map((bucket) => bucket.A),
      sortColumns: (sorts.get(sdId) ?? []).map((sort) => ({ column: sort.A, order: sort.B === 'asc' ? 1 : 0 })),
      parameters: map(sdParameters.get(sdId)),
      storedAsSubDirectories: isTrue(row.IS_STOREDASSUBDIRECTORIES),
    };
    const partition: Partition = {
      id: row.PART_ID,
      database: table.table.database,
      table: table.table.name,
      values: (values.get(row.PART_ID) ?? []).map((value) => value.A),
      createTime: Number(row.CREATE_TIME),
      lastAccessTime: Number(row.LAST_ACCESS_TIME),
      sd,
      parameters: map(parameters.get(row.PART_ID)),
      writeId: row.WRITE_ID ?? 0n,
    };
    return { name: row.PART_NAME, partition, descriptor: { sdId, cdId, serdeId } };
  });
}

async function readColumns(tx: Tx, cdId: bigint): Promise<FieldSchema[]> {
  const rows = await tx.all<{ COLUMN_NAME: string; TYPE_NAME: string | null; COMMENT: string | null }>(
    'SELECT COLUMN_NAME, TYPE_NAME, COMMENT FROM COLUMNS_V2 WHERE CD_ID = ? ORDER BY INTEGER_IDX',
    [cdId],
  );
  return rows.map((c) => ({ name: c.COLUMN_NAME, type: c.TYPE_NAME ?? '', comment: c.COMMENT ?? undefined }));
}

/** Replaces definitions; other values are another name: answers which were renamed. */
export async function updatePartitions(
  tx: Tx,
  request: Pick<AlterPartitionsRequest, 'database' | 'table' | 'names' | 'partitions'>,
  expected: Expected = {},
): Promise<[from: string, to: string][]> {
  const { database, table: tableName, names, partitions } = request;
  if (names.length !== partitions.length) throw new InvalidOperationError('names and partitions differ in number');
  const table = await requireTable(tx, database, tableName);
  const stored = new Map((await readPartitions(tx, table, names)).map((one) => [one.name, one]));
  const renamed: [string, string][] = [];
  for (const [at, name] of names.entries()) {
    const before = stored.get(name);
    if (before === undefined) throw noSuchPartition(table.table.database, table.table.name, name);
    requireExpected(before.partition.parameters, `partition ${name} of ${table.table.name}`, expected);
    await updatePartition(tx, table, before, partitions[at]);
    const after = partitionName(table, partitions[at].values);
    if (after !== name) renamed.push([name, after]);
  }
  return renamed;
}

async function updatePartition(tx: Tx, table: StoredTable, before: StoredPartition, after: Partition): Promise<void> {
  const name = partitionName(table, after.values);
  const { id } = before.partition;
  if (name !== before.name) {
    if ((await existingNames(tx, table.tblId, [name])).size > 0) {
      throw new InvalidOperationError(`Partition already exists: ${name}`);
    }
    await tx.run('UPDATE PART_COL_STATS SET PARTITION_NAME = ? WHERE PART_ID = ?', [name, id]);
    await tx.run('DELETE FROM PARTITION_KEY_VALS WHERE PART_ID = ?', [id]);
    await insertValues(tx, [{ ...after, id }]);
  }
  await tx.run('UPDATE PARTITIONS SET PART_NAME = ?, LAST_ACCESS_TIME = ?, WRITE_ID = ? WHERE PART_ID = ?', [
    name,
    after.lastAccessTime,
    after.writeId,
    id,
  ]);
  await replaceParameters(tx, 'PARTITION_PARAMS', 'PART_ID', id, before.partition.parameters, after.parameters);
  const old = descriptorFor(table, before.partition);
  const sd = descriptorFor(table, after);
  const columnsChanged = !sameColumns(old.columns, sd.columns);
  const cdId = columnsChanged ? await columnsFor(tx, table, sd.columns) : before.descriptor.cdId;
  await updateDescriptor(tx, { ...before.descriptor, cdId }, old, sd);
  if (columnsChanged) await removeUnusedColumns(tx, [before.descriptor.cdId]);
}

/** All of them or none. */
export async function deletePartitions(tx: Tx, table: StoredTable, names: readonly string[]): Promise<void> {
  const ids = await existingNames(tx, table.tblId, names);
  const missing = names.find((name) => !ids.has(name));
  if (missing !== undefined) throw noSuchPartition(table.table.database, table.table.name, missing);
  const sdIds: bigint[] = [];
  for (const chunk of chunked([...ids.values()])) {
    const list = idList(chunk);
    const rows = await tx.all<{ SD_ID: bigint | null }>(
      `SELECT SD_ID FROM PARTITIONS WHERE PART_ID IN ${list.sql}`,
      list.params,
    );
    sdIds.push(...rows.flatMap(({ SD_ID }) => (SD_ID === null ? [] : [SD_ID])));
    for (const from of ['PARTITION_PARAMS', 'PARTITION_KEY_VALS', ...dependentsOf('PART_ID'), 'PARTITIONS']) {
      await tx.run(`DELETE FROM ${from} WHERE PART_ID IN ${list.sql}`, list.params);
    }
  }
  await deleteDescriptors(tx, sdIds);
}
