import type { StructVector } from '@skep/orc';
import { cellsOf, cellText, type OutputColumn, type RowFormatter } from './rows.js';
import { textWidth, visible } from './text-width.js';

/** So many rows are looked at for the widths of the columns; later ones may stick out. */
const ROWS_FOR_WIDTH = 1000;

const NUMERIC = new Set(['tinyint', 'smallint', 'int', 'bigint', 'float', 'double', 'decimal']);

/** A drawn table as beeline shows it. */
export function tableFormatter(columns: readonly OutputColumn[], names?: readonly string[]): RowFormatter {
  return new TableFormatter(columns, names ?? columns.map((column) => column.name));
}

class TableFormatter implements RowFormatter {
  private waiting: string[][] = [];
  private widths: number[] | undefined;

  constructor(
    private readonly columns: readonly OutputColumn[],
    private readonly names: readonly string[],
  ) {}

  begin(): string {
    return '';
  }

  rows(batch: StructVector, from: number): string {
    const rows: string[][] = [];
    for (let row = from; row < batch.length; row++) {
      rows.push(cellsOf(batch, row, this.columns).map((cell) => visible(cellText(cell))));
    }
    if (this.widths !== undefined) return this.lines(rows, this.widths);
    this.waiting.push(...rows);
    return this.waiting.length < ROWS_FOR_WIDTH ? '' : this.head();
  }

  end(): string {
    const head = this.widths === undefined ? this.head() : '';
    return this.widths === undefined ? head : `${head}${this.rule(this.widths)}`;
  }

  /** Heading and the rows so far. */
  private head(): string {
    const names = this.names.map(visible);
    this.widths = names.map((name, i) =>
      this.waiting.reduce((width, row) => Math.max(width, textWidth(row[i])), textWidth(name)),
    );
    const rule = this.rule(this.widths);
    const text = `${rule}${this.lines([names], this.widths, true)}${rule}${this.lines(this.waiting, this.widths)}`;
    this.waiting = [];
    return text;
  }

  private rule(widths: readonly number[]): string {
    return `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+\n`;
  }

  private lines(rows: readonly string[][], widths: readonly number[], isHead = false): string {
    let out = '';
    for (const row of rows) out += `|${row.map((cell, i) => ` ${this.pad(cell, i, widths[i], isHead)} `).join('|')}|\n`;
    return out;
  }

  private pad(cell: string, column: number, width: number, isHead: boolean): string {
    const blanks = ' '.repeat(Math.max(0, width - textWidth(cell)));
    return !isHead && NUMERIC.has(this.columns[column].type.kind) ? blanks + cell : cell + blanks;
  }
}
