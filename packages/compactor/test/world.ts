import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteWriter, getAcidState, InsertWriter, planSplits, scanSplit } from '@skep/acid';
import { Catalog, catalogMigrations } from '@skep/catalog';
import { type Clock, ManualClock, ValidTxnList, ValidWriteIdList } from '@skep/core';
import { LockManager, lockMigrations, releaseStatements } from '@skep/lock-manager';
import { type Database, openDatabase } from '@skep/metadb';
import { TestDatabase } from '@skep/metadb/testing';
import { parseType, type StructVector, vectorOf, vectorValue } from '@skep/orc';
import {
  bindService,
  type Compaction,
  type CompactionService,
  CompactionServiceService,
  CompactionType,
  connect,
  DataOperation,
  LockComponent,
  type LockService,
  LockType,
  Partition,
  StorageDescriptor,
  serve,
  Table,
  type TransactionService,
  TxnType,
} from '@skep/rpc';
import { type FileSystem, localFileSystem } from '@skep/storage';
import { createLogger } from '@skep/telemetry/log';
import { currentAgentInfo, TxnManager, txnMigrations } from '@skep/txn-manager';
import {
  Cleaner,
  type CompactionFiles,
  CompactionQueue,
  type CompactorConf,
  CompactorMeter,
  type CompactorServices,
  compactorMigrations,
  DEFAULT_COMPACTOR_CONF,
  Initiator,
  localCompactionFiles,
  Worker,
} from '../src/index.js';
import { stateName } from '../src/queue/codes.js';

export const MAJOR = CompactionType.COMPACTION_TYPE_MAJOR;
export const MINOR = CompactionType.COMPACTION_TYPE_MINOR;
const rollback = 50005;

export interface WorldOptions {
  readonly conf?: Partial<CompactorConf>;
  readonly clock?: Clock;
  /** Another process on the same folder. */
  readonly folder?: string;
  readonly isAlive?: (agentInfo: string) => boolean;
  readonly txnTimeoutMs?: number;
  /** The metastore's database; default a file in the folder. */
  readonly url?: string;
}

let mariadb: Promise<TestDatabase> | undefined;

/** A database of the test run's MariaDB as a new World finds it. One World at a time in a test file. */
export async function onMariadb(): Promise<string> {
  mariadb ??= TestDatabase.create(migrationsOf('/w'));
  await (await mariadb).reset();
  return (await mariadb).url;
}

const migrationsOf = (folder: string) => [
  ...catalogMigrations(`file:${folder}`),
  ...txnMigrations,
  ...lockMigrations,
  ...compactorMigrations,
];

async function overGrpc(queue: CompactionService) {
  const server = await serve([bindService(CompactionServiceService, queue)]);
  const connection = connect(CompactionServiceService, server.address);
  return {
    compactions: connection.service as CompactionService,
    async hangUp() {
      connection.close();
      await server.close(500);
    },
  };
}

export type Row = readonly [a: number, b: string | null];
export type RowId = readonly [writeId: bigint, bucket: number, rowId: bigint];

export interface WriteOptions {
  readonly table?: string;
  readonly partition?: string;
  readonly overwrite?: boolean;
  /** What becomes of the transaction; default: commit. */
  readonly end?: 'commit' | 'abort' | 'open';
  readonly isDynamicPartitionWrite?: boolean;
}

const schema = parseType('struct<a:int,b:string>');
const database = 'default';

/** The real services on one SQLite file and a warehouse folder, and a table's writers. Only for tests. */
export class World {
  /** Where Workers have their files done: by default in this process. */
  static filesOf: (fs: FileSystem, world: World) => CompactionFiles = (fs) => localCompactionFiles(fs);
  readonly logged: string[] = [];
  readonly services: CompactorServices;
  private readonly closing: (() => Promise<void>)[] = [];

  private constructor(
    readonly folder: string,
    readonly db: Database,
    readonly clock: Clock,
    readonly txns: TransactionService,
    readonly locks: LockService,
    readonly catalog: Catalog,
    readonly compactions: CompactionService,
    readonly fs: FileSystem,
    conf: CompactorConf,
    private readonly isOwner: boolean,
    private readonly hangUp: (() => Promise<void>) | undefined,
  ) {
    const write = (line: string) => this.logged.push((JSON.parse(line) as { message: string }).message);
    const log = createLogger({ level: 'warn', now: () => clock.now(), write });
    const meter = new CompactorMeter(clock);
    const identity = { user: 'u', host: 'here', agentInfo: currentAgentInfo(), version: '4.0.1' };
    const files = World.filesOf(fs, this);
    this.services = { txns, locks, catalog, compactions, fs, files, clock, conf, ...identity, log, meter };
  }

  static async open(options: WorldOptions = {}): Promise<World> {
    const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'skep-compactor-'));
    const clock = options.clock ?? new ManualClock();
    const url = options.url ?? `sqlite:${folder}/m.db`;
    const db = await openDatabase({ url, clock, migrations: migrationsOf(folder) });
    const { isAlive } = options;
    const timeouts = {
      ...(options.txnTimeoutMs === undefined ? {} : { txnTimeoutMs: options.txnTimeoutMs }),
      useMinHistoryWriteId: options.conf?.useMinHistoryWriteId ?? false,
    };
    const txns = new TxnManager({
      db,
      clock,
      host: 'here',
      conf: timeouts,
      locks: (): LockService => locks,
      releasing: releaseStatements,
      ...(isAlive ? { isAlive } : {}),
    });
    const locks: LockService = new LockManager({ db, clock, localTxns: txns, txns: () => txns });
    const retention = { succeeded: 3, failed: 3, refused: 3, didNotInitiate: 2, timeoutMs: 7 * 24 * 3_600_000 };
    const poolTimeoutMs = 12 * 3_600_000;
    const queue = new CompactionQueue({ db, clock, poolTimeoutMs, retention, txns: () => txns });
    const { compactions, hangUp } = options.overGrpc
      ? await overGrpc(queue)
      : { compactions: queue, hangUp: undefined };
    const fs = localFileSystem({ durable: false });
    const conf = { ...DEFAULT_COMPACTOR_CONF, ...options.conf };
    const isOwner = options.folder === undefined;
    return new World(folder, db, clock, txns, locks, new Catalog(db), compactions, fs, conf, isOwner, hangUp);
  }

  /** What ends before the database does. */
  onClose(end: () => Promise<void>): void {
    this.closing.push(end);
  }

  async close(): Promise<void> {
    for (const end of this.closing) await end();
    await this.hangUp?.();
    await this.db.close();
    if (this.isOwner) rmSync(this.folder, { recursive: true });
  }

  advance(ms: number): void {
    (this.clock as ManualClock).advance(ms);
  }

  /** Services with some in another form: a fake clock's, a failing file system. */
  with(changes: Partial<CompactorServices>): CompactorServices {
    const files = changes.fs === undefined ? this.services.files : World.filesOf(changes.fs, this);
    return { ...this.services, files, ...changes };
  }

  location(table = 't', partition?: string): string {
    return `file:${this.folder}/${table}${partition === undefined ? '' : `/${partition}`}`;
  }

  async createTable(
    name = 't',
    options: { parameters?: Record<string, string>; partitionKeys?: string[]; inputFormat?: string } = {},
  ): Promise<void> {
    const columns = [
      { name: 'a', type: 'int' },
      { name: 'b', type: 'string' },
    ];
    const inputFormat = options.inputFormat ?? 'org.apache.hadoop.hive.ql.io.orc.OrcInputFormat';
    const sd = StorageDescriptor.fromPartial({ columns, location: this.location(name), inputFormat });
    await this.catalog.createTable({
      table: Table.fromPartial({
        name,
        database,
        tableType: 'MANAGED_TABLE',
        parameters: { transactional: 'true', ...options.parameters },
        partitionKeys: (options.partitionKeys ?? []).map((key) => ({ name: key, type: 'string' })),
        sd,
      }),
    });
    await this.fs.mkdirs(this.location(name));
  }

  async addPartition(table: string, name: string): Promise<void> {
    const { table: found } = await this.catalog.getTable({ database, name: table });
    const location = this.location(table, name);
    const values = name.split('/').map((part) => part.slice(part.indexOf('=') + 1));
    const sd = found?.sd && { ...found.sd, location };
    const partition = Partition.fromPartial({ database, table, values, sd });
    await this.catalog.addPartitions({ partitions: [partition], ifNotExists: true });
    await this.fs.mkdirs(location);
  }

  async open(type: TxnType = TxnType.TXN_TYPE_UNSPECIFIED, agentInfo = ''): Promise<bigint> {
    return (await this.txns.openTxns({ count: 1, user: 'u', host: 'here', agentInfo, type })).txnIds[0];
  }

  /** A transaction with its write id and its record of what it writes. */
  async begin(
    operation: DataOperation,
    { table = 't', partition, isDynamicPartitionWrite = false }: WriteOptions,
  ): Promise<{ txnId: bigint; writeId: bigint }> {
    const txnId = await this.open();
    const { txnToWriteIds } = await this.txns.allocateTableWriteIds({
      txnIds: [txnId],
      database,
      table,
      reallocate: false,
    });
    const resource = { database, table, partition };
    await this.txns.addWriteComponents({ txnId, components: [{ resource, operation, isDynamicPartitionWrite }] });
    return { txnId, writeId: txnToWriteIds[0].writeId };
  }

  async end(txnId: bigint, how: WriteOptions['end'] = 'commit'): Promise<void> {
    if (how === 'commit') await this.txns.commitTxn({ txnId });
    else if (how === 'abort') await this.txns.abortTxns({ txnIds: [txnId], reasonCode: rollback });
  }

  async insert(rows: readonly Row[], options: WriteOptions = {}): Promise<{ txnId: bigint; writeId: bigint }> {
    const operation = options.overwrite ? DataOperation.DATA_OPERATION_UPDATE : DataOperation.DATA_OPERATION_INSERT;
    const begun = await this.begin(operation, options);
    await this.writeRows(begun.writeId, rows, options);
    await this.end(begun.txnId, options.end);
    return begun;
  }

  async writeRows(writeId: bigint, rows: readonly Row[], { table = 't', partition, overwrite }: WriteOptions) {
    const found = (await this.catalog.getTable({ database, name: table })).table;
    const writer = new InsertWriter({
      fs: this.fs,
      location: this.location(table, partition),
      schema,
      writeId,
      statementId: 0,
      overwrite: overwrite ?? false,
      insertOnly: found?.parameters.transactional_properties === 'insert_only',
    });
    if (rows.length > 0)
      await writer.write(
        vectorOf(
          schema,
          rows.map(([a, b]) => ({ a, b })),
        ) as StructVector,
      );
    await writer.close();
  }

  async remove(ids: readonly RowId[], options: WriteOptions = {}): Promise<{ txnId: bigint; writeId: bigint }> {
    const begun = await this.begin(DataOperation.DATA_OPERATION_DELETE, options);
    const location = this.location(options.table, options.partition);
    const { writeId } = begun;
    const writer = new DeleteWriter({ fs: this.fs, location, schema, writeId, statementId: 0 });
    const { length } = ids;
    await writer.write({
      writeId: { kind: 'long', length, values: BigInt64Array.from(ids, (id) => id[0]) },
      bucket: { kind: 'int', length, values: Int32Array.from(ids, (id) => id[1]) },
      rowId: { kind: 'long', length, values: BigInt64Array.from(ids, (id) => id[2]) },
    });
    await writer.close();
    await this.end(begun.txnId, options.end);
    return begun;
  }

  /** A snapshot: of a transaction, or of now. */
  async snapshot(table = 't', txnId?: bigint): Promise<{ validTxns: ValidTxnList; writeIds: ValidWriteIdList }> {
    const { validTxns } = await this.txns.getValidTxns({ txnId });
    const answer = await this.txns.getValidWriteIds({ tables: [`${database}.${table}`], validTxns });
    return { validTxns: ValidTxnList.parse(validTxns), writeIds: ValidWriteIdList.parse(answer.validWriteIds[0]) };
  }

  /** Rows as `a|b`, sorted; with `ids` as `writeId,bucket,rowId|a|b`, in the order read. */
  async rows(
    options: {
      table?: string;
      partition?: string;
      ids?: boolean;
      snapshot?: Awaited<ReturnType<World['snapshot']>>;
      insertOnly?: boolean;
    } = {},
  ): Promise<string[]> {
    const { table = 't', partition, ids = false, insertOnly = false } = options;
    const { validTxns, writeIds } = options.snapshot ?? (await this.snapshot(table));
    const location = this.location(table, partition);
    const state = await getAcidState(this.fs, location, writeIds, validTxns, { insertOnly });
    const found: string[] = [];
    for (const split of await planSplits(this.fs, state, { insertOnly })) {
      for await (const batch of scanSplit(this.fs, split, { schema, writeIds, rowIds: ids })) {
        for (let row = 0; row < batch.length; row++) {
          const id = batch.rowIds;
          const key = id ? [`${id.writeId.values[row]},${id.bucket.values[row]},${id.rowId.values[row]}`] : [];
          const values = batch.root.children.map((column) => String(vectorValue(column, row)));
          found.push([...key, ...values].join('|'));
        }
      }
    }
    return ids ? found : found.sort();
  }

  /** Names in a table's or partition's folder. */
  ls(table = 't', partition?: string): string[] {
    return readdirSync(this.location(table, partition).slice('file:'.length)).sort();
  }

  /** As who drops or renames it has it; answers the lock's id. */
  async lockTable(table: string, partition?: string): Promise<bigint> {
    const component = LockComponent.fromPartial({
      type: LockType.LOCK_TYPE_EXCLUSIVE,
      database: 'default',
      table,
      partition,
    });
    const who = { user: 'u', host: 'here', agentInfo: '' };
    const request = { ...who, txnId: 0n, zeroWaitRead: false, exclusiveCtas: false, components: [component] };
    return (await this.locks.lock(request)).lockId;
  }

  async compact(type: CompactionType, options: { table?: string; partition?: string; pool?: string } = {}) {
    const { table = 't', partition, pool = '' } = options;
    return await this.compactions.compact({
      database,
      table,
      partition,
      type,
      runAs: '',
      properties: {},
      initiatorId: 'here-manual',
      initiatorVersion: '',
      poolName: pool,
      orderBy: '',
    });
  }

  async worker(services = this.services): Promise<boolean> {
    return await new Worker(services, 'here-1').runOnce();
  }

  async cleaner(services = this.services): Promise<number> {
    return await new Cleaner(services).runAll();
  }

  async initiator(services = this.services): Promise<bigint[]> {
    return await new Initiator(services).runOnce();
  }

  async show(): Promise<Compaction[]> {
    return (await this.compactions.showCompactions({ limit: 0n })).compactions;
  }

  /** `id state` of each request, in the order of SHOW COMPACTIONS. */
  async states(): Promise<string[]> {
    return (await this.show()).map((c) => `${c.id} ${stateName(c.state)}`);
  }

  /** Time passes, transactions come and go, and all that may be forgotten is. */
  async age(): Promise<void> {
    for (let i = 0; i < 4; i++) {
      this.advance(1_000_000);
      await this.end(await this.open());
      this.advance(10_000);
      await this.txns.runHousekeeping({ abortDeadHolders: false });
    }
  }

  async count(table: string): Promise<number> {
    const row = await this.db.read((tx) => tx.get<{ N: bigint }>(`SELECT COUNT(*) AS N FROM ${table}`));
    return Number(row?.N ?? -1n);
  }
}

/** The Cleaner finds what was ready for less than a second too young, where nothing was compacted. */
export const A_WHILE_MS = 1001;
