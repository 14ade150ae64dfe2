import { type ColumnVector, isNull } from '@skep/orc';
import { formatValue, type HiveType } from '@skep/sql';
import { cellsOf, cellText, type OutputCell, type OutputColumn, type RowFormatter } from './rows.js';

/**
 * One object a line. Numbers are JSON numbers with all their digits (bigint and decimal too: read them with a parser that keeps
 * them); dates, timestamps and intervals are Hive's text; binary is base64; NaN and the infinities, which JSON has not, are text.
 * A map is an object whose keys are the text of its keys. `padded`: text that is filled up with blanks loses them.
 */
export function jsonFormatter(columns: readonly OutputColumn[], padded = false): RowFormatter {
  const textOf = (cell: OutputCell): string =>
    padded && !isNull(cell.vector, cell.row)
      ? JSON.stringify(cellText(cell).trimEnd())
      : jsonText(cell.vector, cell.row, cell.type);
  const keys = columns.map((column) => `${JSON.stringify(column.name)}:`);
  return {
    begin: () => '',
    rows(batch, from) {
      let out = '';
      for (let row = from; row < batch.length; row++) {
        const cells = cellsOf(batch, row, columns);
        out += `{${cells.map((cell, i) => keys[i] + textOf(cell)).join(',')}}\n`;
      }
      return out;
    },
    end: () => '',
  };
}

/** JSON of one value. */
export function jsonText(vector: ColumnVector, row: number, type: HiveType): string {
  if (isNull(vector, row)) return 'null';
  switch (type.kind) {
    case 'boolean':
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'bigint':
    case 'decimal':
      return formatValue(type, vector, row);
    case 'float':
    case 'double':
      return floatText(vector, row, type);
    case 'binary':
      return vector.kind === 'binary'
        ? JSON.stringify(
            Buffer.from(vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1])).toString('base64'),
          )
        : JSON.stringify(formatValue(type, vector, row));
    case 'array':
    case 'map':
    case 'struct':
      return nestedText(vector, row, type);
    default:
      return JSON.stringify(formatValue(type, vector, row));
  }
}

function floatText(vector: ColumnVector, row: number, type: HiveType): string {
  const text = formatValue(type, vector, row);
  return /^-?[\d.]+(E-?\d+)?$/.test(text) ? text : JSON.stringify(text);
}

function nestedText(vector: ColumnVector, row: number, type: HiveType): string {
  if (type.kind === 'struct' && vector.kind === 'struct') {
    const fields = type.fields.map((f, i) => `${JSON.stringify(f.name)}:${jsonText(vector.children[i], row, f.type)}`);
    return `{${fields.join(',')}}`;
  }
  if (type.kind === 'array' && vector.kind === 'list') {
    return `[${range(vector, row, (i) => jsonText(vector.child, i, type.element))}]`;
  }
  if (type.kind === 'map' && vector.kind === 'map') {
    const entry = (i: number) =>
      `${JSON.stringify(formatValue(type.key, vector.keys, i))}:${jsonText(vector.values, i, type.value)}`;
    return `{${range(vector, row, entry)}}`;
  }
  return JSON.stringify(formatValue(type, vector, row));
}

function range(vector: { readonly offsets: Int32Array }, row: number, text: (index: number) => string): string {
  const parts: string[] = [];
  for (let i = vector.offsets[row]; i < vector.offsets[row + 1]; i++) parts.push(text(i));
  return parts.join(',');
}
