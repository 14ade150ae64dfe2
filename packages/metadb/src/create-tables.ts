import type { SqlValue, Tx } from './database.js';

/** A table in the common SQL of the databases. */
export interface TableDefinition {
  readonly name: string;
  /** Columns and constraints, as between the parentheses of CREATE TABLE. */
  readonly columns: string;
  readonly indexes?: readonly IndexDefinition[];
}

export interface IndexDefinition {
  readonly name: string;
  /** `A, B`: with MySQL a column may be followed by how much of it is indexed, as in `PART(600)`. */
  readonly on: string;
  readonly unique?: boolean;
  /** MySQL indexes foreign keys by itself. */
  readonly onlySqlite?: boolean;
  /** Hive's table does not have it: added where Hive made the table. */
  readonly isOurs?: boolean;
}

/** Creates tables with their indexes. What is there already stays as it is: Hive may have made it. */
export async function createTables(tx: Tx, tables: readonly TableDefinition[]): Promise<void> {
  const isMysql = tx.dialect.name === 'mysql';
  for (const { name, columns, indexes = [] } of tables) {
    const kept = indexes.filter((index) => !isMysql || index.onlySqlite !== true);
    if (isMysql) {
      const keys = kept.map((index) => `, ${index.unique ? 'UNIQUE ' : ''}KEY ${index.name} (${index.on})`);
      const isThere = await hasTable(tx, name);
      if (isThere) await addIndexes(tx, name, kept);
      else await tx.run(`CREATE TABLE IF NOT EXISTS ${name} (${columns}${keys.join('')})${tx.dialect.tableOptions}`);
      continue;
    }
    await tx.run(`CREATE TABLE IF NOT EXISTS ${name} (${columns})`);
    for (const index of kept) {
      const on = index.on.replace(/\(\d+\)/g, '');
      await tx.run(`CREATE ${index.unique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS ${index.name} ON ${name} (${on})`);
    }
  }
}

async function addIndexes(tx: Tx, table: string, indexes: readonly IndexDefinition[]): Promise<void> {
  for (const { name, on, isOurs } of indexes) {
    if (isOurs !== true) continue;
    const found = await tx.get(
      'SELECT 1 AS N FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND INDEX_NAME = ? LIMIT 1',
      [table, name],
    );
    if (found === undefined) await tx.run(`ALTER TABLE ${table} ADD INDEX ${name} (${on})`);
  }
}

/** Inserts the row a table starts with, unless it has any. */
export async function insertFirst(tx: Tx, table: string, row: Readonly<Record<string, SqlValue>>): Promise<void> {
  const columns = Object.keys(row);
  if ((await tx.get(`SELECT 1 AS N FROM ${table} LIMIT 1`)) !== undefined) return;
  await tx.run(
    `INSERT INTO ${table} (${columns.map((column) => `\`${column}\``).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    Object.values(row),
  );
}

export async function hasTable(tx: Tx, name: string): Promise<boolean> {
  return (await tx.get(tx.dialect.tableExists, [name])) !== undefined;
}
