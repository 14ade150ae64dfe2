import { type PartitionValue, parsePartitionPathElement, SkepError, ValidTxnList, ValidWriteIdList } from '@skep/core';
import type { TypeDescription } from '@skep/orc';
import type { FileSystem } from '@skep/storage';
import { isHiddenName, parseAcidDirectoryName } from '../layout/directory-name.js';
import type { AcidState, DataFile } from '../state/acid-directory.js';
import { getAcidState } from '../state/get-acid-state.js';
import { userSchema } from './acid-schema.js';
import { DeleteCache } from './delete-cache.js';
import { openOrcFile } from './orc-file.js';
import { planSplits } from './plan-splits.js';
import { scanSplit } from './scan-split.js';
import type { AcidBatch } from './scan-types.js';
import { resultAsync } from './steps.js';

/** A folder in which no data file is. */
export class NoDataError extends SkepError {
  constructor(dir: string) {
    super('NO_DATA', 'invalid', `${dir} holds no data file of a table`);
  }
}

export interface ReadTableDirOptions {
  /** Absent: everything is committed. */
  readonly writeIds?: ValidWriteIdList;
  readonly txns?: ValidTxnList;
  /** Not for insert-only tables, which have none. */
  readonly rowIds?: boolean;
  readonly includeDeleted?: boolean;
  readonly batchSize?: number;
}

export interface TableDirReading {
  /** Of the newest data file: the columns without the partition columns. */
  readonly schema: TypeDescription;
  /** From folder names, in order. */
  readonly partitionColumns: readonly string[];
  readonly insertOnly: boolean;
  /** Rows partition by partition. */
  batches(): AsyncGenerator<AcidBatch & { readonly partition: readonly PartitionValue[] }>;
}

/** A folder with data, and the partition it is; no values where the table has no partitions. */
export interface PartitionDir {
  readonly dir: string;
  readonly values: readonly PartitionValue[];
}

/** Reads a table's or partition's folder without any metastore. */
export async function readTableDir(
  fs: FileSystem,
  dir: string,
  options: ReadTableDirOptions = {},
): Promise<TableDirReading> {
  const writeIds = options.writeIds ?? ValidWriteIdList.allValid();
  const txns = options.txns ?? ValidTxnList.allValid();
  const partitions = await findPartitions(fs, dir);
  const statesOf = async (insertOnly: boolean) => {
    const states: AcidState[] = [];
    for (const partition of partitions) {
      states.push(await getAcidState(fs, partition.dir, writeIds, txns, { insertOnly }));
    }
    return states;
  };
  let states = await statesOf(false);
  const insertOnly = looksInsertOnly(states);
  // Files of any name count in insert-only tables.
  if (insertOnly) states = await statesOf(true);
  const newest = newestFile(states);
  if (newest === undefined) throw new NoDataError(dir);
  const schema = await schemaOfFile(fs, newest);

  async function* batches() {
    const { includeDeleted, batchSize } = options;
    const rowIds = options.rowIds && !insertOnly;
    for (const [at, state] of states.entries()) {
      const scan = { schema, writeIds, rowIds, includeDeleted, batchSize, deleteCache: new DeleteCache() };
      for (const split of await planSplits(fs, state, { insertOnly })) {
        for await (const batch of scanSplit(fs, split, scan)) yield { ...batch, partition: partitions[at].values };
      }
    }
  }
  const partitionColumns = (partitions[0]?.values ?? []).map(({ column }) => column);
  return { schema, partitionColumns, insertOnly, batches };
}

/** Folders below `column=value` folders; the folder itself where there are none. */
export async function findPartitions(
  fs: FileSystem,
  dir: string,
  values: readonly PartitionValue[] = [],
): Promise<PartitionDir[]> {
  const found: PartitionDir[] = [];
  for (const entry of await fs.list(dir)) {
    if (!entry.isDirectory || isHiddenName(entry.name) || parseAcidDirectoryName(entry.name) !== undefined) continue;
    const value = parsePartitionPathElement(entry.name);
    if (value !== undefined) found.push(...(await findPartitions(fs, entry.path, [...values, value])));
  }
  return found.length > 0 ? found : [{ dir, values }];
}

/** Full ACID tables have bucket files or deletes somewhere; folders with plain files alone are an insert-only table's. */
function looksInsertOnly(states: readonly AcidState[]): boolean {
  const directories = states.flatMap((state) => [...(state.base ? [state.base] : []), ...state.deltas]);
  const isAcid = directories.some((directory) => directory.kind === 'deleteDelta' || directory.hasVersionFile);
  const files = directories.flatMap((directory) => directory.files);
  if (isAcid || files.some((file) => file.kind === 'acid')) return false;
  return directories.length > 0;
}

/** Of the highest write; of files from before, the last one changed. */
function newestFile(states: readonly AcidState[]): DataFile | undefined {
  const candidates = states.flatMap((state) => [
    ...state.originals.map((file) => ({ file, writeId: -1n })),
    ...(state.base?.files ?? []).map((file) => ({ file, writeId: state.base?.writeId ?? 0n })),
    ...state.deltas.flatMap((delta) => delta.files.map((file) => ({ file, writeId: delta.maxWriteId }))),
  ]);
  let newest: (typeof candidates)[number] | undefined;
  for (const candidate of candidates) {
    if (candidate.file.sizeBytes === 0) continue;
    const isNewer =
      newest === undefined ||
      candidate.writeId > newest.writeId ||
      (candidate.writeId === newest.writeId && candidate.file.modifiedMs > newest.file.modifiedMs);
    if (isNewer) newest = candidate;
  }
  return newest?.file;
}

async function schemaOfFile(fs: FileSystem, file: DataFile): Promise<TypeDescription> {
  const orc = await resultAsync(openOrcFile(fs, file));
  try {
    if (orc.reader === undefined) throw new NoDataError(file.path);
    return userSchema(orc.reader.schema, file.path);
  } finally {
    orc.close();
  }
}
