import type { Database } from '@skep/metadb';
import type * as rpc from '@skep/rpc';
import { databaseNames, deleteDatabase, insertDatabase, readDatabase, updateDatabase } from './databases.js';
import { InvalidObjectError, noSuchDatabase } from './errors.js';
import { deletePartitions, insertPartitions, readPartitions, updatePartitions } from './partitions.js';
import { nameMatcher } from './pattern.js';
import { dropTableRows, insertTable, requireTable, tableNames, updateTable } from './tables.js';

function given<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new InvalidObjectError(`the request has no ${what}`);
  return value;
}

/** Databases, tables and partitions as Hive's metastore keeps them (org.apache.hadoop.hive.metastore.ObjectStore). */
export class Catalog implements rpc.CatalogService {
  /** `info`: what GetServerInfo answers, from whoever composes the services; in process nobody asks. */
  constructor(
    private readonly db: Database,
    private readonly info: rpc.GetServerInfoResponse = { version: '', warehouseUri: '', parameters: {} },
  ) {}

  async getServerInfo(_request: rpc.GetServerInfoRequest): Promise<rpc.GetServerInfoResponse> {
    return this.info;
  }

  async createDatabase(request: rpc.CreateDatabaseRequest): Promise<rpc.CreateDatabaseResponse> {
    const database = given(request.database, 'database');
    await this.db.transaction((tx) => insertDatabase(tx, database, request.ifNotExists));
    return {};
  }

  async getDatabase({ name }: rpc.GetDatabaseRequest): Promise<rpc.GetDatabaseResponse> {
    const found = await this.db.read((tx) => readDatabase(tx, name));
    if (found === undefined) throw noSuchDatabase(name.toLowerCase());
    return { database: found.database };
  }

  async listDatabases({ pattern }: rpc.ListDatabasesRequest): Promise<rpc.ListDatabasesResponse> {
    const names = await this.db.read(databaseNames);
    return { names: names.filter(nameMatcher(pattern)) };
  }

  async alterDatabase(request: rpc.AlterDatabaseRequest): Promise<rpc.AlterDatabaseResponse> {
    const database = given(request.database, 'database');
    await this.db.transaction((tx) => updateDatabase(tx, request.name, database));
    return {};
  }

  async dropDatabase({ name, cascade }: rpc.DropDatabaseRequest): Promise<rpc.DropDatabaseResponse> {
    await this.db.transaction((tx) => deleteDatabase(tx, name, cascade));
    return {};
  }

  async createTable(request: rpc.CreateTableRequest): Promise<rpc.CreateTableResponse> {
    const table = given(request.table, 'table');
    return { table: await this.db.transaction((tx) => insertTable(tx, table)) };
  }

  async getTable({ database, name }: rpc.GetTableRequest): Promise<rpc.GetTableResponse> {
    const { table } = await this.db.read((tx) => requireTable(tx, database, name));
    return { table };
  }

  async listTables({ database, pattern, tableType }: rpc.ListTablesRequest): Promise<rpc.ListTablesResponse> {
    const names = await this.db.read((tx) => tableNames(tx, database, tableType));
    return { names: names.filter(nameMatcher(pattern)) };
  }

  async alterTable(request: rpc.AlterTableRequest): Promise<rpc.AlterTableResponse> {
    const table = given(request.table, 'table');
    await this.db.transaction((tx) => updateTable(tx, request.database, request.name, table));
    return {};
  }

  async dropTable({ database, name }: rpc.DropTableRequest): Promise<rpc.DropTableResponse> {
    await this.db.transaction(async (tx) => {
      await dropTableRows(tx, (await requireTable(tx, database, name)).tblId);
    });
    return {};
  }

  async addPartitions({ partitions, ifNotExists }: rpc.AddPartitionsRequest): Promise<rpc.AddPartitionsResponse> {
    return { partitions: await this.db.transaction((tx) => insertPartitions(tx, partitions, ifNotExists)) };
  }

  async getPartitions(request: rpc.GetPartitionsRequest): Promise<rpc.GetPartitionsResponse> {
    const names = request.names.length === 0 ? undefined : request.names;
    const stored = await this.db.read(async (tx) => {
      return await readPartitions(tx, await requireTable(tx, request.database, request.table), names);
    });
    return { partitions: stored.map(({ partition }) => partition) };
  }

  async alterPartitions(request: rpc.AlterPartitionsRequest): Promise<rpc.AlterPartitionsResponse> {
    const { database, table, names, partitions } = request;
    await this.db.transaction((tx) => updatePartitions(tx, database, table, names, partitions));
    return {};
  }

  async dropPartitions({ database, table, names }: rpc.DropPartitionsRequest): Promise<rpc.DropPartitionsResponse> {
    await this.db.transaction(async (tx) => {
      await deletePartitions(tx, await requireTable(tx, database, table), names);
    });
    return {};
  }
}
