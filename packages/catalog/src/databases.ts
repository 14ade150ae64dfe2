import type { Tx } from '@skep/metadb';
import type { Database } from '@skep/rpc';
import { AlreadyExistsError, InvalidObjectError, InvalidOperationError, noSuchDatabase } from './errors.js';
import { dependentsOf } from './hive-tables.js';
import { insertParameters, nextIds, type Parameters } from './rows.js';
import { replaceParameters } from './storage-descriptor.js';
import { dropTableRows } from './tables.js';
import { isValidName } from './valid-name.js';

interface DatabaseRow {
  DB_ID: bigint;
  NAME: string;
  DESC: string | null;
  DB_LOCATION_URI: string;
  OWNER_NAME: string | null;
  OWNER_TYPE: string | null;
  CREATE_TIME: bigint | null;
}

export async function readDatabase(tx: Tx, name: string): Promise<{ id: bigint; database: Database } | undefined> {
  const row = await tx.get<DatabaseRow>(
    `SELECT DB_ID, NAME, \`DESC\`, DB_LOCATION_URI, OWNER_NAME, OWNER_TYPE, CREATE_TIME FROM DBS
     WHERE NAME = ? AND CTLG_NAME = 'hive'`,
    [name.toLowerCase()],
  );
  if (row === undefined) return undefined;
  const parameters: Parameters = {};
  const sql = 'SELECT PARAM_KEY, PARAM_VALUE FROM DATABASE_PARAMS WHERE DB_ID = ? ORDER BY PARAM_KEY';
  for (const { PARAM_KEY, PARAM_VALUE } of await tx.all<{ PARAM_KEY: string; PARAM_VALUE: string | null }>(sql, [
    row.DB_ID,
  ])) {
    parameters[PARAM_KEY] = PARAM_VALUE ?? '';
  }
  const database: Database = {
    name: row.NAME,
    description: row.DESC ?? '',
    locationUri: row.DB_LOCATION_URI,
    parameters,
    ownerName: row.OWNER_NAME ?? '',
    ownerType: row.OWNER_TYPE ?? '',
    createTime: Number(row.CREATE_TIME ?? 0n),
  };
  return { id: row.DB_ID, database };
}

export async function requireDatabase(tx: Tx, name: string): Promise<{ id: bigint; database: Database }> {
  const found = await readDatabase(tx, name);
  if (found === undefined) throw noSuchDatabase(name.toLowerCase());
  return found;
}

/** As Hive (MetaStoreUtils.validateName): letters, digits, underscores. */
function checkName(name: string): string {
  if (!isValidName(name)) throw new InvalidObjectError(`${name} is not a valid database name`);
  return name.toLowerCase();
}

export async function insertDatabase(tx: Tx, database: Database, ifNotExists: boolean): Promise<void> {
  const name = checkName(database.name);
  if ((await readDatabase(tx, name)) !== undefined) {
    if (ifNotExists) return;
    throw new AlreadyExistsError(`Database ${name} already exists`);
  }
  const id = await nextIds(tx, 'MDatabase');
  await tx.run(
    `INSERT INTO DBS (DB_ID, \`DESC\`, DB_LOCATION_URI, NAME, OWNER_NAME, OWNER_TYPE, CTLG_NAME, CREATE_TIME)
     VALUES (?, ?, ?, ?, ?, ?, 'hive', ?)`,
    [
      id,
      database.description,
      database.locationUri,
      name,
      database.ownerName,
      database.ownerType,
      database.createTime || (await tx.now()) / 1000n,
    ],
  );
  await insertParameters(tx, 'DATABASE_PARAMS', 'DB_ID', [[id, database.parameters]]);
}

export async function updateDatabase(tx: Tx, name: string, after: Database): Promise<void> {
  const { id, database: before } = await requireDatabase(tx, name);
  await tx.run('UPDATE DBS SET `DESC` = ?, DB_LOCATION_URI = ?, OWNER_NAME = ?, OWNER_TYPE = ? WHERE DB_ID = ?', [
    after.description,
    after.locationUri,
    after.ownerName,
    after.ownerType,
    id,
  ]);
  await replaceParameters(tx, 'DATABASE_PARAMS', 'DB_ID', id, before.parameters, after.parameters);
}

export async function deleteDatabase(tx: Tx, name: string, cascade: boolean): Promise<void> {
  const { id, database } = await requireDatabase(tx, name);
  if (database.name === 'default') throw new InvalidOperationError('Can not drop default database in catalog hive');
  const tables = await tx.all<{ TBL_ID: bigint }>('SELECT TBL_ID FROM TBLS WHERE DB_ID = ?', [id]);
  if (tables.length > 0 && !cascade) {
    throw new InvalidOperationError(`Database ${database.name} is not empty. One or more tables exist.`);
  }
  for (const { TBL_ID } of tables) await dropTableRows(tx, TBL_ID);
  await tx.run('DELETE FROM DATABASE_PARAMS WHERE DB_ID = ?', [id]);
  await tx.run('DELETE FROM FUNC_RU WHERE FUNC_ID IN (SELECT FUNC_ID FROM FUNCS WHERE DB_ID = ?)', [id]);
  for (const table of dependentsOf('DB_ID')) await tx.run(`DELETE FROM ${table} WHERE DB_ID = ?`, [id]);
  await tx.run('DELETE FROM DBS WHERE DB_ID = ?', [id]);
}

/** Names sorted by code point, as Hive sorts them. */
export async function databaseNames(tx: Tx): Promise<string[]> {
  const rows = await tx.all<{ NAME: string }>("SELECT NAME FROM DBS WHERE CTLG_NAME = 'hive' ORDER BY NAME");
  return rows.map((row) => row.NAME);
}
