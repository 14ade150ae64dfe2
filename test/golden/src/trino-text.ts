/** How the recordings of Trino (its Python client's text) write what Hive writes in its own way. */

const TYPES: readonly (readonly [RegExp, string])[] = [
  [/\binteger\b/g, 'int'],
  [/\breal\b/g, 'float'],
  [/\bvarbinary\b/g, 'binary'],
  [/\btimestamp\(\d\)/g, 'timestamp'],
  [/\bvarchar(?!\()/g, 'string'],
  [/,\s+/g, ','],
];

/** `name:type` with Hive's type text. */
export function trinoColumn(column: string): string {
  const at = column.indexOf(':');
  return `${column.slice(0, at)}:${hiveType(column.slice(at + 1).trim())}`;
}

function hiveType(type: string): string {
  const nested = /^(array|map|row)\((.*)\)$/s.exec(type);
  if (nested === null) return TYPES.reduce((text, [pattern, by]) => text.replace(pattern, by), type);
  const parts = splitTopLevel(nested[2]);
  if (nested[1] === 'array') return `array<${hiveType(parts[0])}>`;
  if (nested[1] === 'map') return `map<${parts.map(hiveType).join(',')}>`;
  const fields = parts.map((part) => {
    const space = part.indexOf(' ');
    return `${part.slice(0, space)}:${hiveType(part.slice(space + 1).trim())}`;
  });
  return `struct<${fields.join(',')}>`;
}

export function splitTopLevel(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    if (text[i] === '(') depth++;
    if (text[i] === ')') depth--;
    if (i === text.length || (text[i] === ',' && depth === 0)) {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  return parts;
}

/** Our row (ROW__ID first, Hive's text) as the recording writes it. */
export function trinoRow(row: string, columns: readonly string[]): string {
  const [, ...cells] = row.split('\t');
  return cells.map((cell, i) => trinoCell(cell, columns[i]?.slice(columns[i].indexOf(':') + 1) ?? 'string')).join('\t');
}

function trinoCell(cell: string, type: string): string {
  if (cell === 'NULL') return cell;
  if (type === 'boolean') return cell === 'true' ? 'True' : 'False';
  if (type === 'float' || type === 'double') return pythonFloat(cell);
  if (type === 'timestamp') return microseconds(cell);
  if (/^(array|map|struct)</.test(type)) return pythonValue(JSON.parse(cell), type);
  return cell;
}

/** Python's repr: an exponent has a sign and at least two digits, and begins at 1e16. */
function pythonFloat(text: string): string {
  const value = Number(text);
  if (Object.is(value, -0)) return '-0.0';
  if (Number.isInteger(value) && Math.abs(value) < 1e16) return `${value}.0`;
  return String(value).replace(/e([+-])(\d)$/, 'e$10$2');
}

export function pythonBytes(bytes: Uint8Array): string {
  let out = "b'";
  for (const byte of bytes) {
    out += byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return `${out}'`;
}

/** Rounded to microseconds, as the client got it. */
function microseconds(text: string): string {
  const [whole, fraction = ''] = text.split('.');
  const micros = Math.round(Number(fraction.padEnd(9, '0').slice(0, 9)) / 1000);
  return micros === 0 ? whole : `${whole}.${String(micros).padStart(6, '0')}`;
}

function pythonValue(value: unknown, type: string): string {
  if (value === null || value === undefined) return 'None';
  const inner = type.slice(type.indexOf('<') + 1, -1);
  if (type.startsWith('array<')) return `[${(value as unknown[]).map((v) => pythonValue(v, inner)).join(', ')}]`;
  if (type.startsWith('map<')) {
    const of = inner.slice(inner.indexOf(',') + 1);
    const pairs = Object.entries(value as Record<string, unknown>).map(([k, v]) => `'${k}': ${pythonValue(v, of)}`);
    return `{${pairs.join(', ')}}`;
  }
  if (type.startsWith('struct<')) {
    const types = inner.split(',').map((field) => field.slice(field.indexOf(':') + 1));
    const fields = Object.entries(value as Record<string, unknown>).map(
      ([k, v], i) => `${k}: ${pythonValue(v, types[i])}`,
    );
    return `(${fields.join(', ')})`;
  }
  if (type === 'string') return `'${String(value)}'`;
  if (type === 'double' || type === 'float') return pythonFloat(String(value));
  return String(value);
}
