import type { ByteSource } from '@skep/core';
import type { FileColumn, RowBatch } from '../row-file.js';
import type { TextFormat } from './text-format.js';
import { plainText, TextLines } from './text-lines.js';
import { appendItem, itemEnd, textColumn } from './text-nested.js';

const rowsPerBatch = 8192;

/**
 * The rows of a text file, read without waiting (org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe). `wanted`: indexes in
 * `columns`, the table's own.
 */
export function* readText(
  path: string,
  file: ByteSource,
  columns: readonly FileColumn[],
  wanted: readonly number[],
  format: TextFormat,
): Generator<RowBatch, undefined, undefined> {
  const source = plainText(path, file);
  const last = Math.max(-1, ...wanted);
  // By position in the line; undefined where a field is skipped.
  const builders = columns
    .slice(0, last + 1)
    .map((column, i) => (wanted.includes(i) ? textColumn(column.type, format) : undefined));
  const restOf = format.lastColumnTakesRest ? columns.length - 1 : -1;
  let length = 0;
  for (const lines of dataLines(source, format)) {
    const { bytes, end } = lines;
    let at = lines.start;
    for (let i = 0; i <= last; i++) {
      const builder = builders[i];
      // Fields that are missing at the end of the line are NULL.
      if (at > end) {
        builder?.appendNull();
        continue;
      }
      const to = i === restOf ? end : itemEnd(bytes, at, end, format.separators[0], format.escapeByte);
      if (builder !== undefined) appendItem(builder, format, bytes, at, to);
      at = to + 1;
    }
    if (++length === rowsPerBatch) {
      yield batch();
      length = 0;
    }
  }
  if (length > 0) yield batch();
  return undefined;

  function batch(): RowBatch {
    const built = builders.map((builder) => builder?.build());
    return { length, columns: wanted.flatMap((i) => built[i] ?? []) };
  }
}

/** How many rows a text file has. */
export function countTextRows(path: string, file: ByteSource, format: TextFormat): number {
  let count = 0;
  for (const _ of dataLines(plainText(path, file), format)) count++;
  return count;
}

/** The lines between header and footer (skip.header.line.count, skip.footer.line.count), of each file. */
function* dataLines(source: ByteSource, format: TextFormat): Generator<TextLines, undefined, undefined> {
  if (source.size === 0) return undefined;
  let left = Number.POSITIVE_INFINITY;
  if (format.footerLines > 0) {
    left = -format.footerLines;
    for (const lines = new TextLines(source); lines.advance(); ) left++;
  }
  const lines = new TextLines(source);
  for (let number = 0; number < left && lines.advance(); number++) {
    if (number >= format.headerLines) yield lines;
  }
  return undefined;
}
