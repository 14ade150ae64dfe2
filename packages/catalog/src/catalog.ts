import type { Database, Tx } from '@skep/metadb';
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

/** What a renamed table or partition was called, or is. */
export interface RenamedName {
  readonly database: string;
  readonly table: string;
  /** k1=v1/k2=v2. */
  readonly partition?: string;
}

/** What the other services keep in the same database: changed in one transaction with the catalog. */
export interface OtherFacts {
  /** TXN_ABORTED or NO_SUCH_TXN unless the transaction is open, and stays so until `tx` has ended. */
  requireOpen(tx: Tx, txnId: bigint): Promise<void>;
  /** Answers whether everything that names it was renamed. What `txnId` leaves to the Cleaner keeps its name. */
  rename(tx: Tx, from: RenamedName, to: RenamedName, txnId: bigint | undefined): Promise<boolean>;
  /** What `txnId` drops, a table or some of its partitions. Answers whether all that was known of it is forgotten. */
  forget(tx: Tx, dropped: Omit<rpc.ForgetResourceRequest, 'table'> & { readonly table: string }): Promise<boolean>;
}

/** Databases, tables and partitions as Hive's metastore keeps them (org.apache.hadoop.hive.metastore.ObjectStore). */
export class Catalog implements rpc.CatalogService {
  /** `info`: what GetServerInfo answers, from whoever composes the services; in process nobody asks. */
  constructor(
    private readonly db: Database,
    private readonly info: rpc.GetServerInfoResponse = { version: '', warehouseUri: '', parameters: {} },
    private readonly facts?: OtherFacts,
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
    const { database, name, txnId, ...expected } = request;
    return await this.db.transaction(async (tx) => {
      await this.requireOpen(tx, txnId);
      const isRenamed = await updateTable(tx, database, name, table, expected);
      if (!isRenamed) return { factsRenamed: true };
      const [from, to] = [
        { database, table: name },
        { database: table.database, table: table.name },
      ];
      return { factsRenamed: (await this.facts?.rename(tx, from, to, txnId)) ?? false };
    });
  }

  async dropTable(request: rpc.DropTableRequest): Promise<rpc.DropTableResponse> {
    const { database, name, txnId, keepWriteIds = false } = request;
    return await this.db.transaction(async (tx) => {
      await this.requireOpen(tx, txnId);
      await dropTableRows(tx, (await requireTable(tx, database, name)).tblId);
      return { factsForgotten: await this.forget(tx, { database, table: name, partitions: [], keepWriteIds, txnId }) };
    });
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
    const { database, table, names, partitions, txnId, ...expected } = request;
    return await this.db.transaction(async (tx) => {
      await this.requireOpen(tx, txnId);
      const renamed = await updatePartitions(tx, { database, table, names, partitions }, expected);
      let factsRenamed = true;
      for (const [from, to] of renamed) {
        const isDone = await this.facts?.rename(
          tx,
          { database, table, partition: from },
          { database, table, partition: to },
          txnId,
        );
        factsRenamed &&= isDone ?? false;
      }
      return { factsRenamed };
    });
  }

  async dropPartitions(request: rpc.DropPartitionsRequest): Promise<rpc.DropPartitionsResponse> {
    const { database, table, names, txnId } = request;
    return await this.db.transaction(async (tx) => {
      await this.requireOpen(tx, txnId);
      await deletePartitions(tx, await requireTable(tx, database, table), names);
      if (names.length === 0) return { factsForgotten: true };
      const dropped = { database, table, partitions: names, keepWriteIds: false, txnId };
      return { factsForgotten: await this.forget(tx, dropped) };
    });
  }

  /** A drop that is no transaction's takes something back that nobody has used yet. */
  private async forget(tx: Tx, dropped: Parameters<OtherFacts['forget']>[1]): Promise<boolean> {
    return dropped.txnId !== undefined && ((await this.facts?.forget(tx, dropped)) ?? false);
  }

  private async requireOpen(tx: Tx, txnId: bigint | undefined): Promise<void> {
    if (txnId !== undefined) await this.facts?.requireOpen(tx, txnId);
  }
}
