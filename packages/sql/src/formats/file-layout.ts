import type { ByteSink, ByteSource } from '@skep/core';
import { memorySource } from '@skep/core';
import type { FileSystem } from '@skep/storage';
import { countParquetRows, readParquet } from './parquet/parquet-reader.js';
import { ParquetFileWriter } from './parquet/parquet-writer.js';
import type { FileColumn, RowBatch, RowFileWriter } from './row-file.js';
import { textFormat } from './text/text-format.js';
import { countTextRows, readText } from './text/text-reader.js';
import { TextFileWriter } from './text/text-writer.js';

/** What a table's or partition's definition says of its files, other than ORC ones. */
export interface FileLayout {
  readonly format: 'textfile' | 'parquet';
  /** The table's columns, without the partition columns. */
  readonly columns: readonly FileColumn[];
  readonly serdeParameters: Readonly<Record<string, string>>;
  readonly tableProperties: Readonly<Record<string, string>>;
}

/** A file as the listing has it. */
export interface ListedFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** Files that can be read without waiting. */
export interface PreparedFiles {
  /** The rows of one of the files: the columns with these indexes, all of which were prepared. */
  rows(path: string, wanted: readonly number[]): Iterable<RowBatch>;
}

/** Makes files ready for a scan inside a query, which must not wait. `columns`: indexes of the columns it may ask for. */
export async function prepareFiles(
  fs: FileSystem,
  layout: FileLayout,
  files: readonly ListedFile[],
  columns: readonly number[],
): Promise<PreparedFiles> {
  switch (layout.format) {
    case 'textfile':
      return await prepareText(fs, layout, files);
    case 'parquet': {
      const batches = await readParquet(
        fs,
        files,
        columns.map((i) => layout.columns[i]),
      );
      return {
        rows: (path, wanted) =>
          (batches.get(path) ?? []).map((batch) => ({
            length: batch.length,
            columns: wanted.map((i) => batch.columns[columns.indexOf(i)]),
          })),
      };
    }
  }
}

async function prepareText(fs: FileSystem, layout: FileLayout, files: readonly ListedFile[]): Promise<PreparedFiles> {
  const format = textFormat(layout.serdeParameters, layout.tableProperties);
  // Local files are read as the scan goes on; those of an object store ahead.
  const ahead = new Map<string, Uint8Array>();
  for (const { path } of files) {
    const opened = fs.open(path);
    if (opened instanceof Promise) {
      const source = await opened;
      ahead.set(path, await source.slice(0, source.size));
      await source.close?.();
    } else void opened.close?.();
  }
  return {
    *rows(path, wanted) {
      const bytes = ahead.get(path);
      const source = bytes === undefined ? (fs.open(path) as ByteSource) : memorySource(bytes, path);
      try {
        yield* readText(path, source, layout.columns, wanted, format);
      } finally {
        void source.close?.();
      }
    },
  };
}

/** A new file of the layout's format, into `sink`. */
export function openRowFile(sink: ByteSink, layout: FileLayout): RowFileWriter {
  switch (layout.format) {
    case 'textfile':
      return new TextFileWriter(sink, layout.columns, textFormat(layout.serdeParameters, layout.tableProperties));
    case 'parquet':
      return new ParquetFileWriter(sink, layout.columns, layout.tableProperties);
  }
}

/** How many rows a file has: of text all of it is read. */
export async function countRows(fs: FileSystem, layout: FileLayout, file: ListedFile): Promise<number> {
  switch (layout.format) {
    case 'textfile': {
      const source = await fs.open(file.path);
      const answers = source.slice(0, 0);
      const readable =
        answers instanceof Promise ? memorySource(await source.slice(0, source.size), file.path) : source;
      try {
        return countTextRows(file.path, readable, textFormat(layout.serdeParameters, layout.tableProperties));
      } finally {
        await source.close?.();
      }
    }
    case 'parquet':
      return await countParquetRows(fs, file);
  }
}
