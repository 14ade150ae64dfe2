import type { FileSystem } from '@skep/storage';
import { duckTypeName, quoteName } from '../../types/duck-type.js';
import { BIGINT, type HiveType } from '../../types/hive-type.js';
import { UnsupportedFormatError } from '../errors.js';
import type { FileColumn, RowBatch } from '../row-file.js';
import { fromInt96, prolepticDates, withInt96 } from './int96.js';
import { type LocalFile, localFile, type RemoteFile, withoutInt96 } from './local-file.js';
import { ParquetEngine, quoteText } from './parquet-engine.js';
import { hasTimestamp, nanosecondsOf } from './timestamp-sql.js';

/** How one column of a file is read. */
interface ColumnPlan {
  readonly sql: string;
  /** As DuckDB gives it. */
  readonly type: HiveType;
  /** As the table has it. */
  readonly wanted: HiveType;
  readonly isInt96: boolean;
}

/**
 * The rows of Parquet files by path, with all of `columns` (org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe:
 * columns are matched by name). Everything is read ahead into memory: DuckDB answers later, but a scan inside a query must
 * not wait. Ask for the columns that are needed only.
 */
export async function readParquet(
  fs: FileSystem,
  files: readonly RemoteFile[],
  columns: readonly FileColumn[],
): Promise<Map<string, RowBatch[]>> {
  const rows = new Map<string, RowBatch[]>();
  if (files.length === 0) return rows;
  for (const { name, type } of columns) refuseUnions(name, type);
  const engine = await ParquetEngine.acquire();
  try {
    for (const file of files) rows.set(file.path, await readOne(engine, fs, file, columns));
  } finally {
    await engine.release();
  }
  return rows;
}

/** How many rows a Parquet file has, by its footer. */
export async function countParquetRows(fs: FileSystem, file: RemoteFile): Promise<number> {
  const engine = await ParquetEngine.acquire();
  const local = await localFile(fs, file);
  try {
    return await count(engine, local);
  } finally {
    local.dispose();
    await engine.release();
  }
}

async function readOne(
  engine: ParquetEngine,
  fs: FileSystem,
  file: RemoteFile,
  columns: readonly FileColumn[],
): Promise<RowBatch[]> {
  let local = await localFile(fs, file);
  try {
    if (columns.length === 0) return [{ length: await count(engine, local), columns: [] }];
    const physical = await engine.texts(`SELECT type FROM parquet_schema(${quoteText(globless(local.path))})`, 1);
    if (columns.some(({ type }) => hasTimestamp(type)) && physical.some(([type]) => type === 'INT96')) {
      const original = local;
      local = await withoutInt96(fs, file);
      original.dispose();
    }
    const metadata = await metadataOf(engine, local);
    const plans = await planColumns(engine, local, columns);
    const zone = metadata.get('writer.time.zone') ?? 'UTC';
    const isOldCalendar = metadata.get('writer.date.proleptic') === 'false';
    const batches: RowBatch[] = [];
    const sql = `SELECT ${plans.map((plan) => plan.sql).join(', ')} FROM ${table(local)}`;
    const types = plans.map((plan) => plan.type);
    for await (const batch of engine.query(sql, types)) {
      const vectors = batch.columns.map((vector, i) => {
        const dated = isOldCalendar ? prolepticDates(vector) : vector;
        return plans[i].isInt96 ? fromInt96(plans[i].wanted, dated, zone) : dated;
      });
      batches.push({ length: batch.length, columns: vectors });
    }
    return batches;
  } finally {
    local.dispose();
  }
}

// A path like p=x/… says nothing here: partition columns are the table's affair.
const table = (file: LocalFile): string => `read_parquet(${quoteText(globless(file.path))}, hive_partitioning = false)`;

/** DuckDB takes *, ? and [ in paths for patterns. */
const globless = (path: string): string => path.replace(/[*?[]/g, (c) => `[${c}]`);

async function count(engine: ParquetEngine, file: LocalFile): Promise<number> {
  for await (const { columns } of engine.query(`SELECT count(*) FROM ${table(file)}`, [BIGINT])) {
    const [vector] = columns;
    if (vector.kind === 'long') return Number(vector.values[0]);
  }
  return 0;
}

async function metadataOf(engine: ParquetEngine, file: LocalFile): Promise<Map<string, string>> {
  const pairs = await engine.texts(
    `SELECT decode(key), decode(value) FROM parquet_kv_metadata(${quoteText(globless(file.path))}) WHERE decode(key) LIKE 'writer.%'`,
    2,
  );
  return new Map(pairs.map(([key, value]) => [String(key), String(value)]));
}

async function planColumns(
  engine: ParquetEngine,
  file: LocalFile,
  columns: readonly FileColumn[],
): Promise<ColumnPlan[]> {
  const found = await engine.texts(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${table(file)})`, 2);
  const types = new Map(
    found.map(([name, type]) => [String(name).toLowerCase(), { name: String(name), type: String(type) }]),
  );
  return columns.map(({ name, type }): ColumnPlan => {
    const source = types.get(name);
    const plain = { type, wanted: type, isInt96: false };
    // A column that was added to the table later is NULL.
    if (source === undefined) return { ...plain, sql: `CAST(NULL AS ${duckTypeName(type)})` };
    const column = quoteName(source.name);
    if (hasTimestamp(type)) {
      if (source.type.includes('TIMESTAMP')) {
        return { ...plain, sql: nanosecondsOf(type, column, source.type.includes('TIMESTAMP_NS') ? 'ns' : 'us') };
      }
      const bytes = withInt96(type);
      return { wanted: type, type: bytes, isInt96: true, sql: `CAST(${column} AS ${duckTypeName(bytes)})` };
    }
    const isText = type.kind === 'string' || type.kind === 'varchar' || type.kind === 'char';
    // Old writers leave the annotation of text out.
    if (isText && source.type === 'BLOB') return { ...plain, sql: `decode(${column})` };
    return { ...plain, sql: `CAST(${column} AS ${duckTypeName(type)})` };
  });
}

/** As Hive's ParquetHiveSerDe, which has no unions either. */
export function refuseUnions(name: string, type: HiveType): void {
  switch (type.kind) {
    case 'uniontype':
      throw new UnsupportedFormatError(`A union in Parquet (column ${name})`);
    case 'array':
      refuseUnions(name, type.element);
      return;
    case 'map':
      refuseUnions(name, type.value);
      return;
    case 'struct':
      for (const field of type.fields) refuseUnions(name, field.type);
      return;
    default:
  }
}
