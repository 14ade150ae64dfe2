import { formatAcidDirectoryName, formatOriginalFileName, parseBucketFileName } from '@skep/acid';
import { openOrc } from '@skep/orc';
import type { Table } from '@skep/rpc';
import { type FileEntry, joinPath, readFile, writeFile } from '@skep/storage';
import type { LoadStatement } from '../parse/ast.js';
import { resolveTable, type SessionContext } from './context.js';
import { SemanticError, UnsupportedError } from './errors.js';
import { formatOf } from './file-format.js';
import { isInsertOnly, isTransactional } from './lock-plan.js';
import { nameOf, newPartition, partitionValues, specText } from './partitions.js';
import type { StatementResult } from './result.js';
import { runStatement } from './run-statement.js';
import { done } from './text-result.js';

/**
 * LOAD DATA [LOCAL] INPATH: files go as they are into delta_W_W_S (or base_W with OVERWRITE), where their rows get
 * ROW__IDs by position; LOCAL copies, otherwise they are moved (org.apache.hadoop.hive.ql.parse.LoadSemanticAnalyzer).
 */
export async function loadData(
  context: SessionContext,
  statement: LoadStatement,
  signal?: AbortSignal,
): Promise<StatementResult> {
  return await runStatement(
    context,
    async () => {
      const table = await resolveTable(context, statement.table);
      if (formatOf(table.sd?.inputFormat ?? '') !== 'orc')
        throw new UnsupportedError('LOAD DATA into a table that is not ORC');
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
            kind: statement.overwrite ? 'insert-overwrite' : 'insert',
            ...(name === undefined ? {} : { partitions: [name] }),
          },
        ],
        run: async (transaction) => {
          const location = await targetLocation(context, table, partition);
          const directory = isTransactional(table)
            ? joinPath(
                location,
                folderName(
                  await transaction.writeIdOf(table.database, table.name),
                  transaction.nextStatementId(),
                  statement,
                ),
              )
            : location;
          const { fs } = context.services;
          if (!isTransactional(table) && statement.overwrite && (await fs.stat(location)) !== undefined) {
            for (const entry of await fs.list(location)) await fs.delete(entry.path, { recursive: true });
          }
          await fs.mkdirs(directory);
          const taken = new Set((await fs.list(directory)).map((entry) => entry.name));
          for (const [i, source] of sources.entries()) {
            const target = joinPath(directory, freeName(source.name, i, taken));
            if (statement.local) await writeFile(fs, target, await readFile(fs, source.path));
            else await fs.rename(source.path, target);
          }
          return done;
        },
      };
    },
    { signal },
  );
}

const folderName = (writeId: bigint, statementId: number, statement: LoadStatement): string =>
  statement.overwrite
    ? formatAcidDirectoryName({ kind: 'base', writeId, visibilityTxnId: 0n })
    : formatAcidDirectoryName({
        kind: 'delta',
        minWriteId: writeId,
        maxWriteId: writeId,
        statementId,
        visibilityTxnId: 0n,
      });

/** The file's own name where it is one of a bucket, otherwise the next number; `_copy_N` where that is taken. */
function freeName(name: string, index: number, taken: Set<string>): string {
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

/** Files that already hold ACID columns cannot be loaded as plain rows (Hive's 10413); others must be ORC. */
async function checkSources(
  context: SessionContext,
  table: Table,
  sources: readonly FileEntry[],
  statement: LoadStatement,
): Promise<void> {
  for (const source of sources) {
    const bytes = await context.services.fs.open(source.path);
    const reader = await openOrc(bytes);
    const isAcid =
      reader.schema.fieldNames.join() === 'operation,originalTransaction,bucket,rowId,currentTransaction,row';
    await bytes.close?.();
    if (isAcid && !isInsertOnly(table)) {
      throw new SemanticError(
        10413,
        `${source.path} was created by an ACID table, as its columns say: it cannot be loaded`,
        {
          position: statement.position,
        },
      );
    }
  }
}

async function targetLocation(context: SessionContext, table: Table, values: readonly string[]): Promise<string> {
  if (values.length === 0) return table.sd?.location ?? '';
  const { catalog } = context.services;
  await catalog.addPartitions({ partitions: [newPartition(context, table, values)], ifNotExists: true });
  const { partitions } = await catalog.getPartitions({
    database: table.database,
    table: table.name,
    names: [nameOf(table, values)],
  });
  return partitions[0]?.sd?.location ?? '';
}
