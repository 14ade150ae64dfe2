import { chunked, idList, type SqlValue, type Tx } from '@skep/metadb';
import type { FieldSchema, SerDe, StorageDescriptor } from '@skep/rpc';
import { dependentsOf } from './hive-tables.js';
import { insertParameters, insertRows, nextIds, type Parameters, sameParameters } from './rows.js';

/** The ids of a storage descriptor's rows. */
export interface DescriptorIds {
  readonly sdId: bigint;
  readonly cdId: bigint;
  readonly serdeId: bigint;
}

const emptySerde: SerDe = { name: '', serializationLib: '', parameters: {} };

export function sameColumns(a: readonly FieldSchema[], b: readonly FieldSchema[]): boolean {
  return (
    a.length === b.length &&
    a.every((column, at) => {
      const other = b[at];
      return column.name === other.name && column.type === other.type && column.comment === other.comment;
    })
  );
}

/** A new list of columns (CDS, COLUMNS_V2). */
export async function insertColumns(tx: Tx, columns: readonly FieldSchema[]): Promise<bigint> {
  const cdId = await nextIds(tx, 'MColumnDescriptor');
  await tx.run('INSERT INTO CDS (CD_ID) VALUES (?)', [cdId]);
  const rows = columns.map((c, at) => [cdId, c.comment, c.name.toLowerCase(), c.type, at]);
  await insertRows(tx, 'COLUMNS_V2', ['CD_ID', 'COMMENT', 'COLUMN_NAME', 'TYPE_NAME', 'INTEGER_IDX'], rows);
  return cdId;
}

/** A column list that no descriptor refers to any more goes (ObjectStore.removeUnusedColumnDescriptor). */
export async function removeUnusedColumns(tx: Tx, cdIds: Iterable<bigint>): Promise<void> {
  for (const cdId of cdIds) {
    if ((await tx.get('SELECT 1 FROM SDS WHERE CD_ID = ? LIMIT 1', [cdId])) !== undefined) continue;
    await tx.run('DELETE FROM COLUMNS_V2 WHERE CD_ID = ?', [cdId]);
    await tx.run('DELETE FROM CDS WHERE CD_ID = ?', [cdId]);
  }
}

function descriptorRow(sd: StorageDescriptor, ids: DescriptorIds): SqlValue[] {
  const { inputFormat, outputFormat, location, numBuckets } = sd;
  return [
    ids.sdId,
    ids.cdId,
    inputFormat,
    sd.compressed,
    sd.storedAsSubDirectories,
    location,
    numBuckets,
    outputFormat,
    ids.serdeId,
  ];
}

const SDS_COLUMNS = [
  'SD_ID',
  'CD_ID',
  'INPUT_FORMAT',
  'IS_COMPRESSED',
  'IS_STOREDASSUBDIRECTORIES',
  'LOCATION',
  'NUM_BUCKETS',
  'OUTPUT_FORMAT',
  'SERDE_ID',
];

/** New descriptors, each with the column list it is given; answers their SD_IDs in order. */
export async function insertDescriptors(
  tx: Tx,
  descriptors: readonly { readonly sd: StorageDescriptor; readonly cdId: bigint }[],
): Promise<bigint[]> {
  if (descriptors.length === 0) return [];
  const firstSd = await nextIds(tx, 'MStorageDescriptor', descriptors.length);
  const firstSerde = await nextIds(tx, 'MSerDeInfo', descriptors.length);
  const all = descriptors.map(({ sd, cdId }, at) => {
    return { sd, ids: { sdId: firstSd + BigInt(at), cdId, serdeId: firstSerde + BigInt(at) } };
  });
  const serdes = all.map(({ sd, ids }) => [ids.serdeId, sd.serde?.name, sd.serde?.serializationLib]);
  await insertRows(tx, 'SERDES', ['SERDE_ID', 'NAME', 'SLIB'], serdes);
  const serdeParameters = all.map(({ sd, ids }) => [ids.serdeId, sd.serde?.parameters ?? {}] as const);
  await insertParameters(tx, 'SERDE_PARAMS', 'SERDE_ID', serdeParameters);
  const rows = all.map(({ sd, ids }) => descriptorRow(sd, ids));
  await insertRows(tx, 'SDS', SDS_COLUMNS, rows);
  const parameters = all.map(({ sd, ids }) => [ids.sdId, sd.parameters] as const);
  await insertParameters(tx, 'SD_PARAMS', 'SD_ID', parameters);
  await insertBuckets(tx, all);
  return all.map(({ ids }) => ids.sdId);
}

async function insertBuckets(tx: Tx, all: readonly { sd: StorageDescriptor; ids: { sdId: bigint } }[]): Promise<void> {
  const buckets = all.flatMap(({ sd, ids }) =>
    sd.bucketColumns.map((name, at) => [ids.sdId, name.toLowerCase(), at] as const),
  );
  await insertRows(tx, 'BUCKETING_COLS', ['SD_ID', 'BUCKET_COL_NAME', 'INTEGER_IDX'], buckets);
  const sorts = all.flatMap(({ sd, ids }) =>
    sd.sortColumns.map(({ column, order }, at) => [ids.sdId, column.toLowerCase(), order, at] as const),
  );
  await insertRows(tx, 'SORT_COLS', ['SD_ID', 'COLUMN_NAME', '`ORDER`', 'INTEGER_IDX'], sorts);
}

/** Writes what differs. The column list (`cdId`) is the caller's, since tables and partitions share them. */
export async function updateDescriptor(
  tx: Tx,
  ids: DescriptorIds,
  before: StorageDescriptor,
  after: StorageDescriptor,
): Promise<void> {
  const isPlain =
    before.inputFormat === after.inputFormat &&
    before.outputFormat === after.outputFormat &&
    before.location === after.location &&
    before.compressed === after.compressed &&
    before.storedAsSubDirectories === after.storedAsSubDirectories &&
    before.numBuckets === after.numBuckets &&
    sameColumns(before.columns, after.columns);
  if (!isPlain) {
    const assignments = SDS_COLUMNS.slice(1).map((column) => `${column} = ?`);
    const [sdId, ...values] = descriptorRow(after, ids);
    await tx.run(`UPDATE SDS SET ${assignments.join(', ')} WHERE SD_ID = ?`, [...values, sdId]);
  }
  await replaceParameters(tx, 'SD_PARAMS', 'SD_ID', ids.sdId, before.parameters, after.parameters);
  const old = before.serde ?? emptySerde;
  const serde = after.serde ?? emptySerde;
  if (old.name !== serde.name || old.serializationLib !== serde.serializationLib) {
    const values = [serde.name, serde.serializationLib, ids.serdeId];
    await tx.run('UPDATE SERDES SET NAME = ?, SLIB = ? WHERE SERDE_ID = ?', values);
  }
  await replaceParameters(tx, 'SERDE_PARAMS', 'SERDE_ID', ids.serdeId, old.parameters, serde.parameters);
  const key = (sd: StorageDescriptor) => JSON.stringify([sd.bucketColumns, sd.sortColumns]).toLowerCase();
  if (key(before) === key(after)) return;
  await tx.run('DELETE FROM BUCKETING_COLS WHERE SD_ID = ?', [ids.sdId]);
  await tx.run('DELETE FROM SORT_COLS WHERE SD_ID = ?', [ids.sdId]);
  await insertBuckets(tx, [{ sd: after, ids }]);
}

/** Makes a set of parameters another one, touching only what differs. */
export async function replaceParameters(
  tx: Tx,
  table: string,
  idColumn: string,
  id: bigint,
  before: Parameters,
  after: Parameters,
): Promise<void> {
  if (sameParameters(before, after)) return;
  const added: Parameters = {};
  for (const [key, value] of Object.entries(after)) {
    if (before[key] === undefined) added[key] = value;
    else if (before[key] !== value) {
      await tx.run(`UPDATE ${table} SET PARAM_VALUE = ? WHERE ${idColumn} = ? AND PARAM_KEY = ?`, [value, id, key]);
    }
  }
  for (const key of Object.keys(before)) {
    if (after[key] === undefined)
      await tx.run(`DELETE FROM ${table} WHERE ${idColumn} = ? AND PARAM_KEY = ?`, [id, key]);
  }
  await insertParameters(tx, table, idColumn, [[id, added]]);
}

/** Removes descriptors; call when nothing refers to them any more. */
export async function deleteDescriptors(tx: Tx, sdIds: readonly bigint[]): Promise<void> {
  const cdIds = new Set<bigint>();
  for (const chunk of chunked(sdIds)) {
    const list = idList(chunk);
    const rows = await tx.all<{ CD_ID: bigint | null; SERDE_ID: bigint | null }>(
      `SELECT CD_ID, SERDE_ID FROM SDS WHERE SD_ID IN ${list.sql}`,
      list.params,
    );
    for (const { CD_ID } of rows) if (CD_ID !== null) cdIds.add(CD_ID);
    await tx.run(`DELETE FROM SKEWED_VALUES WHERE SD_ID_OID IN ${list.sql}`, list.params);
    for (const table of ['SD_PARAMS', 'BUCKETING_COLS', 'SORT_COLS', ...dependentsOf('SD_ID'), 'SDS']) {
      await tx.run(`DELETE FROM ${table} WHERE SD_ID IN ${list.sql}`, list.params);
    }
    const serdes = idList(rows.flatMap(({ SERDE_ID }) => (SERDE_ID === null ? [] : [SERDE_ID])));
    for (const table of ['SERDE_PARAMS', 'SERDES']) {
      await tx.run(`DELETE FROM ${table} WHERE SERDE_ID IN ${serdes.sql}`, serdes.params);
    }
  }
  await removeUnusedColumns(tx, cdIds);
}
