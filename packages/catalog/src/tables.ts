import type { Tx } from '@skep/metadb';
import type { Constraint, FieldSchema, StorageDescriptor, Table } from '@skep/rpc';
import { type ConstrainedTable, deleteConstraints, insertConstraints, readConstraints } from './constraints.js';
import {
  AlreadyExistsError,
  InvalidObjectError,
  InvalidOperationError,
  noSuchDatabase,
  noSuchTable,
} from './errors.js';
import { dependentsOf } from './hive-tables.js';
import { insertParameters, insertRows, isTrue, nextIds, type Parameters } from './rows.js';
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
import { isValidName } from './valid-name.js';

interface TableRow {
  TBL_ID: bigint;
  DB_NAME: string;
  CREATE_TIME: bigint;
  LAST_ACCESS_TIME: bigint;
  OWNER: string | null;
  OWNER_TYPE: string | null;
  RETENTION: bigint;
  TBL_NAME: string;
  TBL_TYPE: string | null;
  VIEW_EXPANDED_TEXT: string | null;
  VIEW_ORIGINAL_TEXT: string | null;
  IS_REWRITE_ENABLED: bigint | Uint8Array;
  WRITE_ID: bigint | null;
  SD_ID: bigint | null;
  CD_ID: bigint | null;
  SERDE_ID: bigint | null;
  INPUT_FORMAT: string | null;
  OUTPUT_FORMAT: string | null;
  IS_COMPRESSED: bigint | Uint8Array | null;
  IS_STOREDASSUBDIRECTORIES: bigint | Uint8Array | null;
  LOCATION: string | null;
  NUM_BUCKETS: bigint | null;
  SERDE_NAME: string | null;
  SLIB: string | null;
}

const SELECT_TABLE = `SELECT T.TBL_ID, D.NAME AS DB_NAME, T.CREATE_TIME, T.LAST_ACCESS_TIME, T.OWNER, T.OWNER_TYPE,
  T.RETENTION, T.TBL_NAME, T.TBL_TYPE, T.VIEW_EXPANDED_TEXT, T.VIEW_ORIGINAL_TEXT, T.IS_REWRITE_ENABLED, T.WRITE_ID,
  S.SD_ID, S.CD_ID, S.SERDE_ID, S.INPUT_FORMAT, S.OUTPUT_FORMAT, S.IS_COMPRESSED, S.IS_STOREDASSUBDIRECTORIES,
  S.LOCATION, S.NUM_BUCKETS, E.NAME AS SERDE_NAME, E.SLIB
  FROM TBLS T JOIN DBS D ON D.DB_ID = T.DB_ID
  LEFT JOIN SDS S ON S.SD_ID = T.SD_ID LEFT JOIN SERDES E ON E.SERDE_ID = S.SERDE_ID
  WHERE D.NAME = ? AND D.CTLG_NAME = 'hive' AND T.TBL_NAME = ?`;

/** All that hangs on a table in one statement: with MySQL each is a round trip. */
const SELECT_PARTS = `SELECT 'column' AS KIND, INTEGER_IDX AS IDX, COLUMN_NAME AS A, TYPE_NAME AS B, COMMENT AS C
  FROM COLUMNS_V2 WHERE CD_ID = ?
  UNION ALL SELECT 'key', INTEGER_IDX, PKEY_NAME, PKEY_TYPE, PKEY_COMMENT FROM PARTITION_KEYS WHERE TBL_ID = ?
  UNION ALL SELECT 'parameter', 0, PARAM_KEY, PARAM_VALUE, NULL FROM TABLE_PARAMS WHERE TBL_ID = ?
  UNION ALL SELECT 'serde', 0, PARAM_KEY, PARAM_VALUE, NULL FROM SERDE_PARAMS WHERE SERDE_ID = ?
  UNION ALL SELECT 'sd', 0, PARAM_KEY, PARAM_VALUE, NULL FROM SD_PARAMS WHERE SD_ID = ?
  UNION ALL SELECT 'bucket', INTEGER_IDX, BUCKET_COL_NAME, NULL, NULL FROM BUCKETING_COLS WHERE SD_ID = ?
  UNION ALL SELECT CASE WHEN \`ORDER\` = 1 THEN 'asc' ELSE 'desc' END, INTEGER_IDX, COLUMN_NAME, NULL, NULL
    FROM SORT_COLS WHERE SD_ID = ?`;

interface PartRow {
  KIND: 'column' | 'key' | 'parameter' | 'serde' | 'sd' | 'bucket' | 'asc' | 'desc';
  IDX: bigint;
  A: string;
  B: string | null;
  C: string | null;
}

/** A table with the ids of its rows. */
export interface StoredTable extends ConstrainedTable {
  readonly table: Table;
  readonly descriptor: DescriptorIds | undefined;
}

const field = (row: PartRow): FieldSchema => ({ name: row.A, type: row.B ?? '', comment: row.C ?? undefined });

function parameters(rows: readonly PartRow[], kind: PartRow['KIND']): Parameters {
  return Object.fromEntries(rows.filter((row) => row.KIND === kind).map((row) => [row.A, row.B ?? '']));
}

function descriptorOf(row: TableRow, rows: readonly PartRow[]): StorageDescriptor {
  const parts = (...kinds: PartRow['KIND'][]) => rows.filter((part) => kinds.includes(part.KIND));
  return {
    columns: parts('column').map(field),
    location: row.LOCATION ?? '',
    inputFormat: row.INPUT_FORMAT ?? '',
    outputFormat: row.OUTPUT_FORMAT ?? '',
    compressed: isTrue(row.IS_COMPRESSED),
    numBuckets: Number(row.NUM_BUCKETS ?? -1n),
    serde: { name: row.SERDE_NAME ?? '', serializationLib: row.SLIB ?? '', parameters: parameters(rows, 'serde') },
    bucketColumns: parts('bucket').map((part) => part.A),
    sortColumns: parts('asc', 'desc').map((part) => ({ column: part.A, order: part.KIND === 'asc' ? 1 : 0 })),
    parameters: parameters(rows, 'sd'),
    storedAsSubDirectories: isTrue(row.IS_STOREDASSUBDIRECTORIES),
  };
}

export async function readTable(tx: Tx, db: string, name: string): Promise<StoredTable | undefined> {
  const row = await tx.get<TableRow>(SELECT_TABLE, [db.toLowerCase(), name.toLowerCase()]);
  if (row === undefined) return undefined;
  const { TBL_ID: id, SD_ID: sdId, CD_ID: cdId, SERDE_ID: serdeId } = row;
  const rows = await tx.all<PartRow>(SELECT_PARTS, [cdId, id, id, serdeId, sdId, sdId, sdId]);
  rows.sort((a, b) => (a.IDX === b.IDX ? (a.A < b.A ? -1 : 1) : a.IDX < b.IDX ? -1 : 1));
  const sd = sdId === null ? undefined : descriptorOf(row, rows);
  const partitionKeys = rows.filter((part) => part.KIND === 'key').map(field);
  const place: ConstrainedTable = { tblId: id, cdId, columns: sd?.columns ?? [], partitionKeys };
  const table: Table = {
    id,
    name: row.TBL_NAME,
    database: row.DB_NAME,
    owner: row.OWNER ?? '',
    ownerType: row.OWNER_TYPE ?? '',
    createTime: Number(row.CREATE_TIME),
    lastAccessTime: Number(row.LAST_ACCESS_TIME),
    retention: Number(row.RETENTION),
    sd,
    partitionKeys,
    parameters: parameters(rows, 'parameter'),
    viewOriginalText: row.VIEW_ORIGINAL_TEXT ?? undefined,
    viewExpandedText: row.VIEW_EXPANDED_TEXT ?? undefined,
    tableType: row.TBL_TYPE ?? '',
    constraints: await readConstraints(tx, place),
    rewriteEnabled: isTrue(row.IS_REWRITE_ENABLED),
    writeId: row.WRITE_ID ?? 0n,
  };
  const descriptor =
    sdId === null || cdId === null || serdeId === null ? undefined : ({ sdId, cdId, serdeId } as DescriptorIds);
  return { ...place, table, descriptor };
}

export async function requireTable(tx: Tx, db: string, name: string): Promise<StoredTable> {
  const found = await readTable(tx, db, name);
  if (found === undefined) throw noSuchTable(db.toLowerCase(), name.toLowerCase());
  return found;
}

/** Names are Hive's (MetaStoreUtils.validateName), columns are there once. */
function checkTable(table: Table): void {
  if (!isValidName(table.name)) throw new InvalidObjectError(`${table.name} is not a valid object name`);
  const seen = new Set<string>();
  for (const { name } of [...(table.sd?.columns ?? []), ...table.partitionKeys]) {
    const lower = name.toLowerCase();
    if (lower === '') throw new InvalidObjectError('a column has no name');
    if (seen.has(lower)) throw new InvalidObjectError(`Duplicate column name: ${name}`);
    seen.add(lower);
  }
}

async function databaseId(tx: Tx, name: string): Promise<bigint> {
  const row = await tx.get<{ DB_ID: bigint }>("SELECT DB_ID FROM DBS WHERE NAME = ? AND CTLG_NAME = 'hive'", [
    name.toLowerCase(),
  ]);
  if (row === undefined) throw noSuchDatabase(name.toLowerCase());
  return row.DB_ID;
}

async function exists(tx: Tx, dbId: bigint, name: string): Promise<boolean> {
  return (
    (await tx.get('SELECT 1 FROM TBLS WHERE TBL_NAME = ? AND DB_ID = ?', [name.toLowerCase(), dbId])) !== undefined
  );
}

const insertPartitionKeys = (tx: Tx, tblId: bigint, keys: readonly FieldSchema[]) =>
  insertRows(
    tx,
    'PARTITION_KEYS',
    ['TBL_ID', 'PKEY_COMMENT', 'PKEY_NAME', 'PKEY_TYPE', 'INTEGER_IDX'],
    keys.map((key, at) => [tblId, key.comment, key.name.toLowerCase(), key.type, at]),
  );

function writeConstraints(tx: Tx, place: ConstrainedTable, table: Table, constraints: readonly Constraint[]) {
  return insertConstraints(tx, place, constraints, async (name) => {
    const [db, parent] = name.includes('.') ? name.split('.') : [table.database, name];
    if (db.toLowerCase() === table.database.toLowerCase() && parent.toLowerCase() === table.name.toLowerCase()) {
      return place;
    }
    return await requireTable(tx, db, parent);
  });
}

const lowerNames = (columns: readonly FieldSchema[]): FieldSchema[] =>
  columns.map((column) => ({ ...column, name: column.name.toLowerCase() }));

export async function insertTable(tx: Tx, table: Table): Promise<Table> {
  checkTable(table);
  const dbId = await databaseId(tx, table.database);
  if (await exists(tx, dbId, table.name)) {
    const name = `hive.${table.database.toLowerCase()}.${table.name.toLowerCase()}`;
    throw new AlreadyExistsError(`Table ${name} already exists`);
  }
  const id = await nextIds(tx, 'MTable');
  const { sd } = table;
  const cdId = sd === undefined ? null : await insertColumns(tx, sd.columns);
  const [sdId] = sd === undefined || cdId === null ? [null] : await insertDescriptors(tx, [{ sd, cdId }]);
  const createTime = table.createTime || Number((await tx.now()) / 1000n);
  const columns = `TBL_ID, CREATE_TIME, DB_ID, LAST_ACCESS_TIME, OWNER, OWNER_TYPE, RETENTION, SD_ID, TBL_NAME, TBL_TYPE,
    VIEW_EXPANDED_TEXT, VIEW_ORIGINAL_TEXT, IS_REWRITE_ENABLED, WRITE_ID`;
  await tx.run(`INSERT INTO TBLS (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
    id,
    createTime,
    dbId,
    table.lastAccessTime,
    table.owner,
    table.ownerType,
    table.retention,
    sdId,
    table.name.toLowerCase(),
    table.tableType,
    table.viewExpandedText,
    table.viewOriginalText,
    table.rewriteEnabled,
    table.writeId,
  ]);
  await insertPartitionKeys(tx, id, table.partitionKeys);
  await insertParameters(tx, 'TABLE_PARAMS', 'TBL_ID', [[id, table.parameters]]);
  const partitionKeys = lowerNames(table.partitionKeys);
  const place = { tblId: id, cdId, columns: lowerNames(sd?.columns ?? []), partitionKeys };
  await writeConstraints(tx, place, table, table.constraints);
  return await requireTable(tx, table.database, table.name).then((stored) => stored.table);
}

/** A parameter by which it is known whether somebody else has changed a definition meanwhile (Hive's EXPECTED_PARAMETER_KEY). */
export interface Expected {
  readonly expectedParameterKey?: string | undefined;
  readonly expectedParameterValue?: string | undefined;
}

export function requireExpected(parameters: Readonly<Record<string, string>>, what: string, expected: Expected): void {
  const { expectedParameterKey: key, expectedParameterValue: value } = expected;
  if (key === undefined || parameters[key] === value) return;
  throw new InvalidOperationError(
    `The ${what} has been modified. The parameter value for key '${key}' is '${parameters[key] ?? 'absent'}'. The expected was value was '${value ?? 'absent'}'`,
  );
}

/**
 * Replaces a definition, writing only what differs: most alterations are a few parameters. The partitions inside the folder of a
 * table that is renamed go with it (HiveAlterHandler). Answers whether it was.
 */
export async function updateTable(
  tx: Tx,
  db: string,
  name: string,
  after: Table,
  expected: Expected = {},
): Promise<boolean> {
  checkTable(after);
  const stored = await requireTable(tx, db, name);
  const { table: before, tblId } = stored;
  requireExpected(before.parameters, `table ${before.database}.${before.name}`, expected);
  const dbId = await databaseId(tx, after.database);
  const isRenamed = before.name !== after.name.toLowerCase() || before.database !== after.database.toLowerCase();
  if (isRenamed && (await exists(tx, dbId, after.name))) {
    const target = `${after.database.toLowerCase()}.${after.name.toLowerCase()}`;
    throw new InvalidOperationError(`new table ${target} already exists`);
  }
  await tx.run(
    `UPDATE TBLS SET DB_ID = ?, TBL_NAME = ?, OWNER = ?, OWNER_TYPE = ?, LAST_ACCESS_TIME = ?, RETENTION = ?,
     TBL_TYPE = ?, VIEW_EXPANDED_TEXT = ?, VIEW_ORIGINAL_TEXT = ?, IS_REWRITE_ENABLED = ?, WRITE_ID = ? WHERE TBL_ID = ?`,
    [
      dbId,
      after.name.toLowerCase(),
      after.owner,
      after.ownerType,
      after.lastAccessTime,
      after.retention,
      after.tableType,
      after.viewExpandedText,
      after.viewOriginalText,
      after.rewriteEnabled,
      after.writeId,
      tblId,
    ],
  );
  if (isRenamed) {
    // Hive's statistics name their table.
    for (const of of [
      ['TAB_COL_STATS', 'TBL_ID = ?'],
      ['PART_COL_STATS', 'PART_ID IN (SELECT PART_ID FROM PARTITIONS WHERE TBL_ID = ?)'],
    ]) {
      const names = [after.database.toLowerCase(), after.name.toLowerCase()];
      await tx.run(`UPDATE ${of[0]} SET DB_NAME = ?, TABLE_NAME = ? WHERE ${of[1]}`, [...names, tblId]);
    }
    await movePartitions(tx, tblId, before.sd?.location ?? '', after.sd?.location ?? '');
  }
  await replaceParameters(tx, 'TABLE_PARAMS', 'TBL_ID', tblId, before.parameters, after.parameters);
  const cdId = await updateTableDescriptor(tx, stored, after);
  const keysChanged = !sameColumns(before.partitionKeys, lowerNames(after.partitionKeys));
  if (keysChanged) {
    await tx.run('DELETE FROM PARTITION_KEYS WHERE TBL_ID = ?', [tblId]);
    await insertPartitionKeys(tx, tblId, after.partitionKeys);
  }
  const isSame =
    cdId === stored.cdId && !keysChanged && JSON.stringify(before.constraints) === JSON.stringify(after.constraints);
  if (isSame) return isRenamed;
  await deleteConstraints(tx, tblId, false);
  const columns = lowerNames(after.sd?.columns ?? []);
  const place = { tblId, cdId, columns, partitionKeys: lowerNames(after.partitionKeys) };
  await writeConstraints(tx, place, after, after.constraints);
  return isRenamed;
}

/** The folders inside `from` are inside `to`. */
async function movePartitions(tx: Tx, tblId: bigint, from: string, to: string): Promise<void> {
  if (from === to || from === '' || to === '') return;
  // In characters, as the database counts them.
  const length = BigInt([...from].length + 1);
  await tx.run(
    `UPDATE SDS SET LOCATION = REPLACE(LOCATION, ?, ?) WHERE SUBSTR(LOCATION, 1, ?) = ? AND SD_ID IN
     (SELECT SD_ID FROM PARTITIONS WHERE TBL_ID = ?)`,
    [`${from}/`, `${to}/`, length, `${from}/`, tblId],
  );
}

/** Partitions keep the old list of columns, as in Hive, until they are altered themselves. */
async function updateTableDescriptor(tx: Tx, stored: StoredTable, after: Table): Promise<bigint | null> {
  const { table: before, descriptor, tblId } = stored;
  if (after.sd === undefined) return stored.cdId;
  const sd = { ...after.sd, columns: lowerNames(after.sd.columns) };
  if (before.sd === undefined || descriptor === undefined) {
    const cdId = await insertColumns(tx, sd.columns);
    const [sdId] = await insertDescriptors(tx, [{ sd, cdId }]);
    await tx.run('UPDATE TBLS SET SD_ID = ? WHERE TBL_ID = ?', [sdId, tblId]);
    return cdId;
  }
  const columnsChanged = !sameColumns(before.sd.columns, sd.columns);
  const cdId = columnsChanged ? await insertColumns(tx, sd.columns) : descriptor.cdId;
  await updateDescriptor(tx, { ...descriptor, cdId }, before.sd, sd);
  if (columnsChanged) {
    // Foreign keys of other tables that refer to this one.
    await tx.run('UPDATE KEY_CONSTRAINTS SET PARENT_CD_ID = ? WHERE PARENT_TBL_ID = ? AND PARENT_CD_ID = ?', [
      cdId,
      tblId,
      descriptor.cdId,
    ]);
    await removeUnusedColumns(tx, [descriptor.cdId]);
  }
  return cdId;
}

/** Removes a table and all that hangs on it, partitions included. */
export async function dropTableRows(tx: Tx, tblId: bigint): Promise<void> {
  const rows = await tx.all<{ SD_ID: bigint | null }>(
    'SELECT SD_ID FROM PARTITIONS WHERE TBL_ID = ? UNION ALL SELECT SD_ID FROM TBLS WHERE TBL_ID = ?',
    [tblId, tblId],
  );
  for (const table of ['PARTITION_PARAMS', 'PARTITION_KEY_VALS', ...dependentsOf('PART_ID')]) {
    await tx.run(`DELETE FROM ${table} WHERE PART_ID IN (SELECT PART_ID FROM PARTITIONS WHERE TBL_ID = ?)`, [tblId]);
  }
  await deleteConstraints(tx, tblId, true);
  for (const table of [...dependentsOf('TBL_ID'), 'PARTITIONS', 'PARTITION_KEYS', 'TABLE_PARAMS', 'TBLS']) {
    await tx.run(`DELETE FROM ${table} WHERE TBL_ID = ?`, [tblId]);
  }
  await deleteDescriptors(
    tx,
    rows.flatMap(({ SD_ID }) => (SD_ID === null ? [] : [SD_ID])),
  );
}

export async function tableNames(tx: Tx, db: string, tableType: string | undefined): Promise<string[]> {
  const byType = tableType === undefined ? '' : ' AND T.TBL_TYPE = ?';
  const rows = await tx.all<{ TBL_NAME: string }>(
    `SELECT T.TBL_NAME FROM TBLS T JOIN DBS D ON D.DB_ID = T.DB_ID
     WHERE D.NAME = ? AND D.CTLG_NAME = 'hive'${byType} ORDER BY T.TBL_NAME`,
    tableType === undefined ? [db.toLowerCase()] : [db.toLowerCase(), tableType],
  );
  return rows.map((row) => row.TBL_NAME);
}
