import { rmSync } from 'node:fs';
import { BugError, type ByteSink } from '@skep/core';
import { type ColumnVector, isNull, type StructVector } from '@skep/orc';
import { fillVector } from '../../engine/fill-vector.js';
import { logicalType } from '../../engine/logical-type.js';
import { duckTypeName, quoteName } from '../../types/duck-type.js';
import { UnsupportedFormatError } from '../errors.js';
import type { FileColumn, RowFileWriter } from '../row-file.js';
import { sendFile, temporaryPath } from './local-file.js';
import { ParquetEngine, quoteText } from './parquet-engine.js';
import { refuseUnions } from './parquet-reader.js';
import { hasTimestamp, type TimestampUnit, timestampsOf } from './timestamp-sql.js';

/** DuckDB's STANDARD_VECTOR_SIZE. */
const chunkRows = 2048;
let tableNumber = 0;

/** Codecs by table property parquet.compression; Hive's default is none. */
const CODECS: Readonly<Record<string, string>> = {
  uncompressed: 'uncompressed',
  none: 'uncompressed',
  snappy: 'snappy',
  gzip: 'gzip',
  zstd: 'zstd',
  lz4: 'lz4_raw',
  lz4_raw: 'lz4_raw',
  brotli: 'brotli',
};

/**
 * What Hive asks a file's metadata for (DataWritableReadSupport): without them it takes days before 1582-10-15 for days
 * of the Julian calendar.
 */
const METADATA =
  "{'writer.model.name': 'skep', 'writer.time.zone': 'UTC', 'writer.date.proleptic': 'true', 'writer.zone.conversion.legacy': 'false'}";

/**
 * Writes a Parquet file through DuckDB: the rows are kept in a table there (which spills to disk) until `close`, when the
 * file is made and sent on.
 */
export class ParquetFileWriter implements RowFileWriter {
  private readonly units: TimestampUse[];
  private readonly table = `rows_${tableNumber++}`;
  private appender: ReturnType<ParquetEngine['duck']['appender_create']> | undefined;
  private engine: ParquetEngine | undefined;

  constructor(
    private readonly sink: ByteSink,
    private readonly columns: readonly FileColumn[],
    private readonly tableProperties: Readonly<Record<string, string>>,
  ) {
    for (const { name, type } of columns) refuseUnions(name, type);
    this.codec();
    this.units = columns.map(() => ({ needsNanoseconds: false, isOutOfRange: false }));
  }

  async write(rows: StructVector): Promise<void> {
    const { duck } = await this.open();
    rows.children.forEach((child, i) => {
      if (hasTimestamp(this.columns[i].type)) noteTimestamps(child, this.units[i]);
    });
    const types = this.columns.map(({ type }) => logicalType(duck, type));
    for (let start = 0; start < rows.length; start += chunkRows) {
      const count = Math.min(chunkRows, rows.length - start);
      const chunk = duck.create_data_chunk(types);
      this.columns.forEach(({ type }, i) => {
        fillVector(duck, type, duck.data_chunk_get_vector(chunk, i), rows.children[i], start, count);
      });
      duck.data_chunk_set_size(chunk, count);
      if (this.appender === undefined) throw new BugError('a write after the writer was closed');
      duck.append_data_chunk(this.appender, chunk);
    }
  }

  async close(): Promise<void> {
    const engine = await this.open();
    const path = temporaryPath();
    try {
      if (this.appender !== undefined) engine.duck.appender_close_sync(this.appender);
      this.appender = undefined;
      const columns = this.columns.map((column, i) => `${this.expression(column, i)} AS ${quoteName(column.name)}`);
      await engine.run(
        `COPY (SELECT ${columns.join(', ')} FROM ${this.table}) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION ${this.codec()}, KV_METADATA ${METADATA})`,
      );
      await sendFile(path, this.sink);
      await this.sink.close();
    } finally {
      rmSync(path, { force: true });
      await this.release();
    }
  }

  async abort(): Promise<void> {
    await this.sink.abort();
    await this.release();
  }

  private async open(): Promise<ParquetEngine> {
    if (this.engine !== undefined) return this.engine;
    const engine = await ParquetEngine.acquire();
    this.engine = engine;
    const columns = this.columns.map(({ type }, i) => `c${i} ${duckTypeName(type)}`);
    await engine.run(`CREATE TABLE ${this.table} (${columns.join(', ')})`);
    this.appender = engine.duck.appender_create(engine.connection, null, this.table);
    return engine;
  }

  private async release(): Promise<void> {
    const { engine } = this;
    if (engine === undefined) return;
    this.engine = undefined;
    try {
      if (this.appender !== undefined) engine.duck.appender_close_sync(this.appender);
      this.appender = undefined;
      await engine.run(`DROP TABLE IF EXISTS ${this.table}`);
    } finally {
      await engine.release();
    }
  }

  /**
   * Microseconds, which all readers know, where that loses nothing; nanoseconds where they are needed and their range
   * (1677 to 2262) is enough.
   */
  private expression({ name, type }: FileColumn, index: number): string {
    const column = `c${index}`;
    if (!hasTimestamp(type)) return column;
    const { needsNanoseconds, isOutOfRange } = this.units[index];
    if (needsNanoseconds && isOutOfRange) {
      throw new UnsupportedFormatError(
        `Column ${name}: in one Parquet file timestamps with nanoseconds beside some outside the years 1678 to 2261`,
      );
    }
    const unit: TimestampUnit = needsNanoseconds ? 'ns' : 'us';
    return timestampsOf(type, column, unit);
  }

  private codec(): string {
    const name = this.tableProperties['parquet.compression'] ?? 'uncompressed';
    const codec = CODECS[name.toLowerCase()];
    if (codec === undefined) throw new UnsupportedFormatError(`parquet.compression = ${name}`);
    return codec;
  }
}

interface TimestampUse {
  needsNanoseconds: boolean;
  isOutOfRange: boolean;
}

/** Seconds of the whole years that 64-bit nanoseconds reach. */
const firstNanosecondYear = -9_214_560_000n;
const lastNanosecondYear = 9_214_646_400n;

function noteTimestamps(vector: ColumnVector, use: TimestampUse): void {
  switch (vector.kind) {
    case 'timestamp':
    case 'timestamp_instant':
      for (let row = 0; row < vector.length; row++) {
        if (isNull(vector, row)) continue;
        if (vector.nanos[row] % 1000 !== 0) {
          use.needsNanoseconds = true;
          // DuckDB has no instants of nanoseconds.
          if (vector.kind === 'timestamp_instant') use.isOutOfRange = true;
        }
        const second = vector.seconds[row];
        if (second < firstNanosecondYear || second >= lastNanosecondYear) use.isOutOfRange = true;
      }
      return;
    case 'list':
      noteTimestamps(vector.child, use);
      return;
    case 'map':
      noteTimestamps(vector.keys, use);
      noteTimestamps(vector.values, use);
      return;
    case 'struct':
      for (const child of vector.children) noteTimestamps(child, use);
      return;
    default:
  }
}
