import { isNull } from '@skep/orc';
import { cellsOf, cellText, type OutputCell, type OutputColumn, type RowFormatter } from './rows.js';

/** RFC 4180: quotes where a comma, a quote or a line break needs them; CRLF. NULL is empty, an empty text is `""`. */
export function csvFormatter(columns: readonly OutputColumn[]): RowFormatter {
  return {
    begin: () => `${columns.map((column) => quote(column.name)).join(',')}\r\n`,
    rows(batch, from) {
      let out = '';
      for (let row = from; row < batch.length; row++) out += `${cellsOf(batch, row, columns).map(field).join(',')}\r\n`;
      return out;
    },
    end: () => '',
  };
}

function field(cell: OutputCell): string {
  if (isNull(cell.vector, cell.row)) return '';
  const text = cellText(cell);
  return text === '' ? '""' : quote(text);
}

const quote = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
