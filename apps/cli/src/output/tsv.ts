import { cellsOf, cellText, type OutputColumn, type RowFormatter } from './rows.js';

/** Hive's text: tabs between columns, NULL, nested values as JSON, nothing escaped. `header`: hive.cli.print.header. */
export function tsvFormatter(columns: readonly OutputColumn[], header: boolean): RowFormatter {
  return {
    begin: () => (header ? `${columns.map((column) => column.name).join('\t')}\n` : ''),
    rows(batch, from) {
      let out = '';
      for (let row = from; row < batch.length; row++)
        out += `${cellsOf(batch, row, columns).map(cellText).join('\t')}\n`;
      return out;
    },
    end: () => '',
  };
}
