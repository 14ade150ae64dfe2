import type { Writable } from 'node:stream';
import type { StructVector } from '@skep/orc';
import type { StatementResult } from '@skep/sql';
import { write } from '../io.js';
import { csvFormatter } from './csv.js';
import { jsonFormatter } from './json.js';
import { cellsOf, cellText, columnsOf, type OutputColumn, type OutputFormat, type RowFormatter } from './rows.js';
import { tableFormatter } from './table.js';
import { tsvFormatter } from './tsv.js';

export interface WriteOptions {
  readonly format: OutputFormat;
  /** tsv only: hive.cli.print.header. */
  readonly header: boolean;
  /** Before anything is written. */
  readonly onRows?: () => void;
}

function formatterOf(
  options: WriteOptions,
  { padded = false }: StatementResult,
  columns: OutputColumn[],
  names?: readonly string[],
): RowFormatter {
  switch (options.format) {
    case 'tsv':
      return tsvFormatter(columns, options.header);
    case 'csv':
      return csvFormatter(columns);
    case 'json':
      return jsonFormatter(columns, padded);
    case 'table':
      return tableFormatter(columns, names);
  }
}

/**
 * Writes the rows of a result and returns their number. The heading row of SHOW TRANSACTIONS and its like is a row in tsv, as
 * Hive's CLI prints it, the heading in a table, and left out where columns have names of their own.
 */
export async function writeResult(result: StatementResult, stream: Writable, options: WriteOptions): Promise<number> {
  if (result.batches === undefined) return 0;
  const columns = columnsOf(result);
  const skipsHeading = result.headerRow === true && options.format !== 'tsv';
  let formatter: RowFormatter | undefined;
  let count = 0;
  let skipped = false;
  for await (const batch of result.batches) {
    options.onRows?.();
    let from = 0;
    let names: string[] | undefined;
    if (skipsHeading && !skipped && batch.length > 0) {
      names = headingOf(batch, columns);
      from = 1;
      skipped = true;
    }
    if (formatter === undefined) {
      formatter = formatterOf(options, result, columns, names);
      await write(stream, formatter.begin());
    }
    count += batch.length - from;
    const text = formatter.rows(batch, from);
    if (text !== '') await write(stream, text);
  }
  options.onRows?.();
  if (formatter === undefined) {
    formatter = formatterOf(options, result, columns);
    await write(stream, formatter.begin());
  }
  await write(stream, formatter.end());
  return count;
}

const headingOf = (batch: StructVector, columns: readonly OutputColumn[]): string[] =>
  cellsOf(batch, 0, columns).map(cellText);
