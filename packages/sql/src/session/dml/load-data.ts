import { formatOriginalFileName, parseBucketFileName } from '@skep/acid';
import type { ByteSource } from '@skep/core';
import { openOrc } from '@skep/orc';
import type { Table } from '@skep/rpc';
import { copyFile, type FileEntry, joinPath, moveFile, OtherStoreError } from '@skep/storage';
import { freeName, publish, stagingFolder } from '../../formats/index.js';
import type { LoadStatement } from '../../parse/ast.js';
import { resolveTable, type SessionContext } from '../context.js';
import { distrustPartition } from '../distrust-statistics.js';
import { SemanticError, UnsupportedError } from '../errors.js';
import { formatOf } from '../file-format.js';
import { nameOf, newPartition, partitionValues, specText } from '../partition/partitions.js';
import type { StatementResult } from '../result.js';
import { done } from '../text-result.js';
import { isFullAcid, isTransactional } from '../transaction/lock-plan.js';
import { runStatement } from '../transaction/run-statement.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';
import { deleteAllRows, overwriteKind, overwritesByDeletes, refuseOverwriteOfUnseen } from './overwrite.js';
import { dropPartitionsOnRollback } from './partition-rollback.js';
import { emptyBase, folderName, TableWriter } from './table-writer.js';

/**
 * LOAD DATA [LOCAL] INPATH: files go as they are into delta_W_W_S (or base_W with OVERWRITE), where those of a full ACID
 * table get bucket names and their rows ROW__IDs by position, or into the folder of a table that is not transactional;
 * LOCAL copies, otherwise they are moved (org.apache.hadoop.hive.ql.parse.LoadSemanticAnalyzer).
 */
export async function loadData(
  context: SessionContext,
  statement: LoadStatement,
  signal?: AbortSignal,
): Promise<StatementResult> {
  return await runStatement(
    context,
    async (transaction) => {
      const table = await resolveTable(context, statement.table);
      if (formatOf(table.sd?.inputFormat ?? '') === undefined)
        throw new UnsupportedError(`LOAD DATA into a table whose files are ${table.sd?.inputFormat}`);
      const values = statement.partition === undefined ? new Map() : partitionValues(table, statement.partition);
      if (values.size !== table.partitionKeys.length || [...values.values()].includes(undefined)) {
        throw new SemanticError(
          10049,
          `Need to specify all partition columns because the destination table is partitioned: ${specText(values)}`,
          {
            position: statement.table.position,
          },
        );
      }
      const partition = [...values.values()].map(String);
      const name = partition.length === 0 ? undefined : nameOf(table, partition);
      const sources = await sourceFiles(context, statement);
      await checkSources(context, table, sources, statement);
      return {
        reads: [],
        writes: [
          {
            table,
            kind: statement.overwrite ? overwriteKind(transaction, table) : 'insert',
            ...(name === undefined ? {} : { partitions: [name] }),
          },
        ],
        run: async (running) => {
          const location = await targetLocation(context, running, table, partition);
          if (isTransactional(table))
            await loadTransactional(context, running, table, partition, location, sources, statement);
          else await loadPlain(context, running, location, sources, statement);
          return done;
        },
      };
    },
    { signal },
  );
}

async function loadTransactional(
  context: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  partition: readonly string[],
  location: string,
  sources: readonly FileEntry[],
  statement: LoadStatement,
): Promise<void> {
  const { fs } = context.services;
  const writeId = await transaction.writeIdOf(table.database, table.name);
  const byDeletes = statement.overwrite && overwritesByDeletes(transaction, table);
  if (byDeletes) await deleteRowsOf(context, transaction, table, partition);
  const inBase = !isFullAcid(table) && transaction.hasBaseIn(location);
  const toBase = inBase || (statement.overwrite && !byDeletes);
  const directory = joinPath(location, folderName(writeId, transaction.nextStatementId(), toBase));
  if (inBase && statement.overwrite) await emptyBase(context, transaction, directory);
  if (!inBase) transaction.wrote(directory);
  if (statement.overwrite && transaction.isExplicit && !byDeletes) transaction.putBase(location);
  await fs.mkdirs(directory);
  const taken = new Set((await fs.list(directory)).map((entry) => entry.name));
  for (const [i, source] of sources.entries()) {
    // Other tables than full ACID ones keep the names: text may be compressed, which only its name tells.
    const name = isFullAcid(table) ? bucketName(source.name, i, taken) : freeName(source.name, taken);
    const target = joinPath(directory, name);
    if (inBase) transaction.wrote(target);
    if (statement.local || transaction.isExplicit) {
      await copyFile(fs, source.path, target);
      // The transaction may stay open for long, and its process may die: until the commit the user's files stay.
      if (!statement.local) transaction.onCommit(async () => void (await fs.delete(source.path)));
      continue;
    }
    // The files are the user's only ones: they go back where the transaction does not commit.
    await moveFile(fs, source.path, target);
    transaction.onRollback(async () => await moveFile(fs, target, source.path));
  }
  const names = partition.length === 0 ? [] : [nameOf(table, partition)];
  if (statement.overwrite) await refuseOverwriteOfUnseen(context, transaction, table, names);
}

/** The rows that LOAD DATA OVERWRITE replaces in a transaction. */
async function deleteRowsOf(
  context: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  partition: readonly string[],
): Promise<void> {
  const statementId = transaction.nextStatementId();
  const deletes = await TableWriter.open(context, transaction, { table, statementId, kind: 'delete' });
  const { database, name } = table;
  const names = partition.length === 0 ? [] : [nameOf(table, partition)];
  const target =
    names.length === 0
      ? [undefined]
      : (await context.services.catalog.getPartitions({ database, table: name, names })).partitions;
  await deleteAllRows(context, transaction, table, target, deletes);
  await deletes.close();
}

/**
 * Files are renamed into the table. Local ones, and those on another disk than the table, are copied into a hidden folder
 * of it first, so that a copy that fails leaves nothing behind and never half a file is seen.
 */
async function loadPlain(
  context: SessionContext,
  transaction: StatementTransaction,
  location: string,
  sources: readonly FileEntry[],
  statement: LoadStatement,
): Promise<void> {
  const { fs } = context.services;
  const staging = stagingFolder(location, transaction.txnId, transaction.nextStatementId());
  const publishFrom = async (paths: readonly string[]) => {
    const files = paths.map((path, i) => ({ path, name: sources[i].name }));
    await publish(fs, [{ location, files, overwrite: statement.overwrite, staging }]);
  };
  const publishCopies = async () => {
    const copies = sources.map(({ name }) => joinPath(staging, name));
    for (const [i, { path }] of sources.entries()) await copyFile(fs, path, copies[i]);
    await publishFrom(copies);
  };
  try {
    if (statement.local) return await publishCopies();
    await publishFrom(sources.map(({ path }) => path)).catch(async (cause: unknown) => {
      if (!(cause instanceof OtherStoreError)) throw cause;
      await publishCopies();
      for (const { path } of sources) await fs.delete(path);
    });
  } catch (cause) {
    await fs.delete(staging, { recursive: true });
    throw cause;
  }
}

/** The file's own name where it is one of a bucket, otherwise the next number; `_copy_N` where that is taken. */
function bucketName(name: string, index: number, taken: Set<string>): string {
  const { kind, bucket } = parseBucketFileName(name);
  const number = kind === 'original' && bucket !== undefined ? bucket : index;
  for (let copy = 0; ; copy++) {
    const candidate = formatOriginalFileName(number, copy);
    if (taken.has(candidate)) continue;
    taken.add(candidate);
    return candidate;
  }
}

async function sourceFiles(context: SessionContext, statement: LoadStatement): Promise<FileEntry[]> {
  const { fs } = context.services;
  const found = await fs.stat(statement.path);
  if (found === undefined) {
    throw new SemanticError(
      10028,
      `Line ${statement.position.line}:${statement.position.column} Invalid path '${statement.path}': No files matching path ${statement.path}`,
      {
        position: statement.position,
      },
    );
  }
  if (!found.isDirectory) return [found];
  const entries = (await fs.list(found.path)).filter((entry) => !/^[._]/.test(entry.name));
  if (entries.some((entry) => entry.isDirectory))
    throw new UnsupportedError('LOAD DATA from a folder that has folders');
  return entries;
}

/** What the files are must fit the table. */
async function checkSources(
  context: SessionContext,
  table: Table,
  sources: readonly FileEntry[],
  statement: LoadStatement,
): Promise<void> {
  for (const source of sources) {
    checkBucket(table, source);
    if (source.sizeBytes === 0) continue;
    const file = await context.services.fs.open(source.path);
    try {
      await checkContent(table, file, statement);
    } finally {
      await file.close?.();
    }
  }
}

/** Hive rewrites such a LOAD as an INSERT … SELECT; putting rows into the wrong buckets would lose them for joins. */
function checkBucket(table: Table, source: FileEntry): void {
  const buckets = table.sd?.bucketColumns.length === 0 ? 0 : (table.sd?.numBuckets ?? 0);
  if (buckets <= 0) return;
  const { kind, bucket } = parseBucketFileName(source.name);
  if (kind === 'original' && bucket !== undefined && bucket < buckets) return;
  throw new UnsupportedError(
    `LOAD DATA of ${source.name}, whose name is none of the ${buckets} buckets of ${table.database}.${table.name},`,
  );
}

/** Files that already hold ACID columns cannot be loaded as plain rows (Hive's 10413); others must be of the table's format. */
async function checkContent(table: Table, file: ByteSource, statement: LoadStatement): Promise<void> {
  const format = formatOf(table.sd?.inputFormat ?? '');
  if (format === 'textfile') return;
  const magic = format === 'orc' ? 'ORC' : 'PAR1';
  const head = await file.slice(0, Math.min(file.size, magic.length));
  if (new TextDecoder('latin1').decode(head) !== magic) {
    throw new SemanticError(
      40000,
      `Unable to load data to destination table. Error: The file that you are trying to load does not match the file format of the destination table.`,
      { position: statement.position },
    );
  }
  if (format !== 'orc' || !isFullAcid(table)) return;
  const { schema } = await openOrc(file);
  if (schema.fieldNames.join() === 'operation,originalTransaction,bucket,rowId,currentTransaction,row') {
    throw new SemanticError(
      10413,
      `${file.path} was created by an ACID table, as its columns say: it cannot be loaded`,
      { position: statement.position },
    );
  }
}

async function targetLocation(
  context: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  values: readonly string[],
): Promise<string> {
  if (values.length === 0) return table.sd?.location ?? '';
  const { catalog } = context.services;
  const added = await catalog.addPartitions({
    partitions: [newPartition(context, table, values)],
    ifNotExists: true,
  });
  dropPartitionsOnRollback(context, transaction, table, added.partitions);
  const { partitions } = await catalog.getPartitions({
    database: table.database,
    table: table.name,
    names: [nameOf(table, values)],
  });
  const [partition] = partitions;
  if (partition !== undefined) await distrustPartition(catalog, table, nameOf(table, values), partition);
  return partition?.sd?.location ?? '';
}
