import { type AcidBatch, NoDataError, readTableDir } from '@skep/acid';
import { type PartitionValue, ValidWriteIdList } from '@skep/core';
import { type ColumnVector, createPrimitive, type StructVector, vectorOf } from '@skep/orc';
import { fromTypeDescription, ROW_ID_TYPE, type StatementResult, typeName } from '@skep/sql';
import { type FileSystem, localFileSystem } from '@skep/storage';
import { UsageError } from '../error-line.js';
import type { CliIo } from '../io.js';
import type { OutputFormat } from '../output/rows.js';
import { writeResult } from '../output/write-result.js';

export interface ReadFolderOptions {
  readonly format: OutputFormat;
  readonly rowIds: boolean;
  /** Deleted rows too, with ROW__IS__DELETED behind the columns. */
  readonly deleted: boolean;
  /** Hive's string form; absent: everything is committed. */
  readonly writeIds?: string;
}

/** `skep read`: the rows of a folder of an ACID table; partition columns come from the folders' names. */
export async function readFolder(io: CliIo, dir: string, options: ReadFolderOptions): Promise<void> {
  const fs = localFileSystem();
  if ((await fs.stat(dir))?.isDirectory !== true) throw new UsageError(`no such folder: ${dir}`);
  const { writeIds, format } = options;
  const reading = await readVisible(fs, dir, {
    rowIds: options.rowIds,
    includeDeleted: options.deleted,
    ...(writeIds === undefined ? {} : { writeIds: ValidWriteIdList.parse(writeIds) }),
  });
  const rowIds = options.rowIds && !reading.insertOnly;
  const { schema, partitionColumns } = reading;
  const result: StatementResult = {
    columns: [
      ...(rowIds ? [{ name: 'row__id', type: typeName(ROW_ID_TYPE) }] : []),
      ...schema.children.map((type, i) => ({ name: schema.fieldNames[i], type: typeName(fromTypeDescription(type)) })),
      ...partitionColumns.map((name) => ({ name, type: 'string' })),
      ...(options.deleted ? [{ name: 'row__is__deleted', type: 'boolean' }] : []),
    ],
    batches: batchesOf(reading.batches(), rowIds),
    messages: [],
  };
  await writeResult(result, io.stdout, { format, header: false });
}

/** Where the list of write ids sees none of the folder's files, there are no rows; their columns are those of what it does not see. */
async function readVisible(
  fs: FileSystem,
  dir: string,
  options: Parameters<typeof readTableDir>[2],
): ReturnType<typeof readTableDir> {
  try {
    return await readTableDir(fs, dir, options);
  } catch (error) {
    if (!(error instanceof NoDataError) || options?.writeIds === undefined) throw error;
    return { ...(await readTableDir(fs, dir, {})), batches: noBatches };
  }
}

async function* noBatches(): AsyncGenerator<never> {}

async function* batchesOf(
  batches: AsyncIterable<AcidBatch & { readonly partition: readonly PartitionValue[] }>,
  rowIds: boolean,
): AsyncGenerator<StructVector> {
  for await (const batch of batches) {
    const children: ColumnVector[] = [...batch.root.children];
    if (rowIds && batch.rowIds !== undefined) children.unshift(rowIdVector(batch.length, batch.rowIds));
    for (const { value } of batch.partition) children.push(repeated(value, batch.length));
    if (batch.isDeleted !== undefined) children.push(batch.isDeleted);
    yield { kind: 'struct', length: batch.length, fieldNames: children.map((_, i) => `c${i}`), children };
  }
}

const rowIdVector = (length: number, ids: NonNullable<AcidBatch['rowIds']>): StructVector => ({
  kind: 'struct',
  length,
  fieldNames: ['writeid', 'bucketid', 'rowid'],
  children: [ids.writeId, ids.bucket, ids.rowId],
});

const repeated = (value: string | null, length: number): ColumnVector =>
  vectorOf(
    createPrimitive('string'),
    Array.from({ length }, () => value),
  );
