import type { BytesVector, StructVector } from '@skep/orc';
import type { StatementResult } from './result.js';

/** Nothing but success. */
export const done: StatementResult = { messages: [] };

/** The answer of a SHOW or DESCRIBE: columns of text. */
export function textResult(
  names: readonly string[],
  rows: readonly (readonly (string | null)[])[],
  options: { headerRow?: boolean; padded?: boolean; messages?: readonly string[] } = {},
): StatementResult {
  return {
    columns: names.map((name) => ({ name, type: 'string' })),
    batches: once(textBatch(names, rows)),
    messages: options.messages ?? [],
    ...(options.headerRow ? { headerRow: true } : {}),
    ...(options.padded ? { padded: true } : {}),
  };
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

function textBatch(names: readonly string[], rows: readonly (readonly (string | null)[])[]): StructVector {
  return {
    kind: 'struct',
    length: rows.length,
    fieldNames: names,
    children: names.map((_, column) => textVector(rows.map((row) => row[column] ?? null))),
  };
}

/** A string column out of JavaScript strings. */
export function textVector(values: readonly (string | null)[]): BytesVector {
  const parts = values.map((value) => Buffer.from(value ?? '', 'utf8'));
  const offsets = new Int32Array(values.length + 1);
  const validity = new Uint8Array((values.length + 7) >> 3);
  parts.forEach((part, i) => {
    offsets[i + 1] = offsets[i] + part.length;
    if (values[i] !== null) validity[i >> 3] |= 1 << (i & 7);
  });
  return {
    kind: 'string',
    length: values.length,
    bytes: Buffer.concat(parts),
    offsets,
    ...(values.includes(null) ? { validity } : {}),
  };
}
