import {
  type Bucketing,
  DeleteWriter,
  formatAcidDirectoryName,
  InsertWriter,
  type RowIdVectors,
  type WriteResult,
} from '@skep/acid';
import { type ColumnVector, filterVector, type IntVector, type LongVector, type StructVector } from '@skep/orc';
import { DataOperation, type Partition, type Table } from '@skep/rpc';
import { joinPath } from '@skep/storage';
import { FolderWriter, PlainWriter, stagingFolder } from '../../formats/index.js';
import type { SessionContext } from '../context.js';
import { distrustPartition } from '../distrust-statistics.js';
import { ExecutionError, UnsupportedError } from '../errors.js';
import { partitionText } from '../partition/partition-value.js';
import { findByValue, listForValues, nameOf, newPartition } from '../partition/partitions.js';
import { layoutOf, tableSchema } from '../scan/table-scan.js';
import { isFullAcid, isInsertOnly, isTransactional } from '../transaction/lock-plan.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';
import { refuseWriteBelowBase } from './overwrite.js';
import { dropPartitionsOnRollback, removeEmptyFolders } from './partition-rollback.js';

/** One leg of a statement's write: inserts or deletes, into one table, under one statement id. */
export interface WriteLeg {
  readonly table: Table;
  readonly statementId: number;
  readonly kind: 'insert' | 'overwrite' | 'delete';
  /** Partitions are known only from the rows: the transaction is told which they were, and that this was done to them. */
  readonly dynamicOperation?: DataOperation;
}

type PartitionWriter = {
  write(rows: StructVector | RowIdVectors): Promise<void>;
  close(): Promise<WriteResult>;
  abort(): Promise<void>;
};

/**
 * Writes the rows of one leg, each into its partition's folder; partitions that are not there yet are made. Nothing is
 * visible before the transaction commits, or of tables that are not transactional before the statement has succeeded, when
 * the files of all its targets are renamed at once; `abort` removes what was written.
 */
export class TableWriter {
  private readonly writers = new Map<string, PartitionWriter>();
  private readonly partitionValues = new Map<string, readonly string[]>();
  /** Of partitions whose values are stored in another form than ours (hr=06). */
  private readonly storedValues = new Map<string, readonly string[]>();
  /** Where partitions would be that the catalog does not have yet. */
  private readonly newLocations: string[] = [];
  private othersListed: readonly Partition[] | undefined;
  private rowsIn = 0n;
  /** Writers that add files to a base which an earlier statement of the transaction wrote. */
  private readonly addsToBase = new Set<PartitionWriter>();

  private constructor(
    private readonly context: SessionContext,
    private readonly transaction: StatementTransaction,
    private readonly leg: WriteLeg,
    /** undefined: the table is not transactional. */
    private readonly writeId: bigint | undefined,
  ) {}

  static async open(context: SessionContext, transaction: StatementTransaction, leg: WriteLeg): Promise<TableWriter> {
    const { table } = leg;
    if (layoutOf(table) !== undefined && isFullAcid(table)) {
      throw new UnsupportedError('A full ACID table that is not ORC');
    }
    const writeId = isTransactional(table) ? await transaction.writeIdOf(table.database, table.name) : undefined;
    return new TableWriter(context, transaction, leg, writeId);
  }

  get rows(): bigint {
    return this.rowsIn;
  }

  /** The partition folders touched so far, k1=v1/k2=v2. */
  get partitions(): string[] {
    const names = [...this.writers.keys()].filter((name) => name !== '');
    return names.map((name) => {
      const stored = this.storedValues.get(name);
      return stored === undefined ? name : nameOf(this.leg.table, stored);
    });
  }

  /** Of a leg of deletes: the writer of each partition folder. */
  *deleteWriters(): Generator<readonly [partition: string, writer: DeleteWriter]> {
    for (const [name, writer] of this.writers) if (writer instanceof DeleteWriter) yield [name, writer];
  }

  /**
   * `rows`: the data columns of inserts or the ROW__IDs of deletes; `keys`: the partition columns, a vector each in the
   * table's order, or text where the value is fixed for the statement.
   */
  async write(
    rows: StructVector | RowIdVectors,
    length: number,
    keys: readonly (ColumnVector | string)[],
  ): Promise<void> {
    if (length === 0) return;
    this.rowsIn += BigInt(length);
    for (const [name, group] of this.groups(length, keys)) {
      const writer = await this.writerOf(name);
      await writer.write(group.length === length ? rows : select(rows, group));
    }
  }

  /** A partition that is written even if it gets no rows: the static target of an overwrite. */
  async touch(values: readonly string[]): Promise<void> {
    const name = this.remember(values);
    await this.writerOf(name);
  }

  async close(): Promise<WriteResult> {
    const results: WriteResult[] = [];
    for (const writer of this.writers.values()) {
      const result = await writer.close();
      results.push(result);
      if (this.addsToBase.has(writer)) for (const file of result.files) this.transaction.wrote(file);
    }
    const plain = [...this.writers.values()].filter((writer) => writer instanceof PlainWriter);
    if (this.partitions.length > 0) await this.registerPartitions();
    this.transaction.publish(plain.map((writer) => writer.publication));
    return {
      files: results.flatMap((result) => result.files),
      insertedRows: results.reduce((sum, result) => sum + result.insertedRows, 0),
      deletedRows: results.reduce((sum, result) => sum + result.deletedRows, 0),
      bytes: results.reduce((sum, result) => sum + result.bytes, 0),
    };
  }

  async abort(): Promise<void> {
    for (const writer of this.writers.values()) await writer.abort();
    const root = this.leg.table.sd?.location ?? '';
    for (const location of this.newLocations) await removeEmptyFolders(this.context, root, location);
  }

  /** Rows by partition name; '' for a table without partition columns. */
  private groups(length: number, keys: readonly (ColumnVector | string)[]): Map<string, Int32Array> {
    const { partitionKeys } = this.leg.table;
    if (keys.every((key) => typeof key === 'string')) {
      return new Map([[this.remember(keys as readonly string[]), all(length)]]);
    }
    const rowsOf = new Map<string, number[]>();
    for (let row = 0; row < length; row++) {
      const values = keys.map((key, i) =>
        typeof key === 'string' ? key : partitionText(partitionKeys[i].type, key, row),
      );
      const name = this.remember(values);
      const known = rowsOf.get(name);
      if (known === undefined) rowsOf.set(name, [row]);
      else known.push(row);
    }
    return new Map([...rowsOf].map(([name, rows]) => [name, Int32Array.from(rows)]));
  }

  private remember(values: readonly string[]): string {
    const name = values.length === 0 ? '' : nameOf(this.leg.table, values);
    if (!this.partitionValues.has(name)) this.partitionValues.set(name, values);
    return name;
  }

  private async writerOf(name: string): Promise<PartitionWriter> {
    const known = this.writers.get(name);
    if (known !== undefined) return known;
    const { kind, dynamicOperation } = this.leg;
    // UPDATE makes no partitions.
    const adds = kind === 'overwrite' || dynamicOperation === DataOperation.DATA_OPERATION_INSERT;
    if (adds && dynamicOperation !== undefined) this.refuseTooMany(this.writers.size + 1);
    const writer = await this.openWriter(name);
    this.writers.set(name, writer);
    return writer;
  }

  /** Hive has the first limit for each of its tasks (FileSinkOperator), the other for the statement (Utilities): here one task does all. */
  private refuseTooMany(partitions: number): void {
    const { conf } = this.context;
    const ofTask = conf.getInt('hive.exec.max.dynamic.partitions.pernode');
    if (partitions > ofTask) {
      throw new ExecutionError(
        `[Error 20004]: Fatal error occurred when node tried to create too many dynamic partitions. The maximum number of dynamic partitions is controlled by hive.exec.max.dynamic.partitions and hive.exec.max.dynamic.partitions.pernode. Maximum was set to ${ofTask} partitions per node, number of dynamic partitions on this node: ${partitions}`,
        { hiveCode: 20004 },
      );
    }
    const all = conf.getInt('hive.exec.max.dynamic.partitions');
    if (partitions > all) {
      throw new ExecutionError(
        `Number of dynamic partitions created is ${partitions}, which is more than ${all}. To solve this try to set hive.exec.max.dynamic.partitions to at least ${partitions}.`,
      );
    }
  }

  private async openWriter(name: string): Promise<PartitionWriter> {
    const { table, kind, statementId } = this.leg;
    const { fs } = this.context.services;
    const partition = await this.partitionOf(name);
    if (partition !== undefined) {
      await distrustPartition(this.context.services.catalog, table, nameOf(table, partition.values), partition);
    }
    const location =
      partition?.sd?.location ?? (name === '' ? (table.sd?.location ?? '') : `${table.sd?.location}/${name}`);
    if (name !== '' && partition === undefined) this.newLocations.push(location);
    const layout = layoutOf(table, partition?.sd ?? table.sd);
    const baseDeltaRatio = this.context.conf.getInt('hive.exec.orc.base.delta.ratio');
    const compress = 'hive.exec.orc.default.compress';
    const asked = this.context.conf.isSet(compress) ? this.context.conf.get(compress) : undefined;
    const tableProperties = asked === undefined ? table.parameters : { 'orc.compress': asked, ...table.parameters };
    const versionFile = this.context.conf.getBoolean('hive.txn.write.acid.version.file');
    const orc = { tableProperties, baseDeltaRatio, versionFile };
    const overwrite = kind === 'overwrite';
    if (this.writeId === undefined) {
      const staging = stagingFolder(location, this.transaction.txnId, statementId);
      const schema = tableSchema(table);
      const target = { fs, location, staging, overwrite, schema, layout, orc, ...bucketingOf(table) };
      return (await PlainWriter.open(target)) as PartitionWriter;
    }
    if (kind === 'insert') {
      const at = { table, partition: name === '' ? undefined : name, location, writeId: this.writeId };
      await refuseWriteBelowBase(this.context, this.transaction, at);
    }
    const inBase = await this.openBase(location);
    const copy = inBase ? statementId : undefined;
    const folder = joinPath(location, folderName(this.writeId, statementId, overwrite || inBase, kind === 'delete'));
    if (!inBase) this.transaction.wrote(folder);
    const marked = <W>(writer: W): PartitionWriter => {
      if (inBase) this.addsToBase.add(writer as PartitionWriter);
      return writer as PartitionWriter;
    };
    if (layout !== undefined) {
      return marked(new FolderWriter({ fs, folder, layout, overwrite, copy, ...bucketingOf(table) }));
    }
    const target = {
      fs,
      location,
      writeId: this.writeId,
      statementId,
      schema: tableSchema(table),
      ...bucketingOf(table),
      orc,
    };
    if (kind === 'delete') return marked(new DeleteWriter(target));
    return marked(new InsertWriter({ ...target, overwrite, insertOnly: isInsertOnly(table), copyInBase: copy }));
  }

  /**
   * Whether the rows go beside others into base_W: readers take no other folder of the write beside it. A statement of an
   * explicit transaction that overwrites makes or empties the base once it has succeeded. (Full ACID tables have no such bases:
   * see overwrite.ts.)
   */
  private async openBase(location: string): Promise<boolean> {
    const { transaction, leg, writeId } = this;
    if (!transaction.isExplicit || writeId === undefined || leg.kind === 'delete') return false;
    const inBase = transaction.hasBaseIn(location);
    if (leg.kind !== 'overwrite') return inBase;
    if (inBase) await emptyBase(this.context, transaction, joinPath(location, folderName(writeId, 0, true)));
    transaction.putBase(location);
    return inBase;
  }

  private async partitionOf(name: string): Promise<Partition | undefined> {
    if (name === '') return undefined;
    const { database, name: table } = this.leg.table;
    const { partitions } = await this.context.services.catalog.getPartitions({ database, table, names: [name] });
    if (partitions.length > 0) return partitions[0];
    this.othersListed ??= await listForValues(this.context, this.leg.table);
    const other = findByValue(this.leg.table, this.othersListed, this.partitionValues.get(name) ?? []);
    if (other !== undefined) this.storedValues.set(name, other.values);
    return other;
  }

  private async registerPartitions(): Promise<void> {
    const { table, dynamicOperation } = this.leg;
    const { catalog } = this.context.services;
    const names = this.partitions;
    if (this.leg.kind !== 'delete') {
      const fresh = [...this.writers.keys()].filter((name) => name !== '' && !this.storedValues.has(name));
      const partitions = fresh.map((name) => newPartition(this.context, table, this.partitionValues.get(name) ?? []));
      const { partitions: added } = await catalog.addPartitions({ partitions, ifNotExists: true });
      dropPartitionsOnRollback(this.context, this.transaction, table, added);
    }
    if (dynamicOperation === undefined || this.writeId === undefined) return;
    this.transaction.wroteTo({
      writeId: this.writeId,
      database: table.database,
      table: table.name,
      partitions: names,
      operation: dynamicOperation,
    });
  }
}

/** The files that are in a base go once the statement has succeeded. */
export async function emptyBase(
  { services: { fs } }: SessionContext,
  transaction: StatementTransaction,
  base: string,
): Promise<void> {
  if ((await fs.stat(base)) === undefined) return;
  for (const { path } of await fs.list(base)) transaction.onStatementEnd(async () => void (await fs.delete(path)));
}

/** The folder of a statement's insert, overwrite or delete in a transactional table. */
export const folderName = (writeId: bigint, statementId: number, overwrite: boolean, deletes = false): string =>
  overwrite
    ? formatAcidDirectoryName({ kind: 'base', writeId, visibilityTxnId: 0n })
    : formatAcidDirectoryName({
        kind: deletes ? 'deleteDelta' : 'delta',
        minWriteId: writeId,
        maxWriteId: writeId,
        statementId,
        visibilityTxnId: 0n,
      });

/** CLUSTERED BY, and which of Hive's two hash functions; a missing bucketing_version means the old one (bug report B98). */
export function bucketingOf(table: Table): { bucketing: Bucketing } | Record<string, never> {
  const { sd } = table;
  if (sd === undefined || sd.bucketColumns.length === 0 || sd.numBuckets <= 0) return {};
  return {
    bucketing: {
      columns: sd.bucketColumns.map((name) => sd.columns.findIndex((column) => column.name === name)),
      buckets: sd.numBuckets,
      version: table.parameters.bucketing_version === '2' ? 2 : 1,
    },
  };
}

const all = (length: number): Int32Array => Int32Array.from({ length }, (_, i) => i);

function select(rows: StructVector | RowIdVectors, selection: Int32Array): StructVector | RowIdVectors {
  if ('kind' in rows) return filterVector(rows, selection) as StructVector;
  return {
    writeId: filterVector(rows.writeId, selection) as LongVector,
    bucket: filterVector(rows.bucket, selection) as IntVector,
    rowId: filterVector(rows.rowId, selection) as LongVector,
  };
}
