import { type ByteSource, memorySink, memorySource } from '@skep/core';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Sarg } from '../sarg/sarg.js';
import { parseType } from '../type-text.js';
import { vectorOf } from '../vector/builder.js';
import { vectorValue } from '../vector/value.js';
import { OrcWriter } from '../write/orc-writer.js';
import type { ReadOptions } from './options.js';
import { openOrc, openOrcSync } from './orc-reader.js';

const ROWS = 20_000;
const STRIDE = 1000;
const schema = parseType('struct<k:string,n:bigint,s:struct<k:string>,payload:string>');
/** No order, so that statistics tell nothing. Every tenth is NULL. */
const scattered = (row: number) => (row % 10 === 7 ? null : String((row * 7919) % ROWS));
const wide = (row: number) => Array.from({ length: 20 }, (_, i) => (row * 31 + i * 7919) % 99_991).join('-');

describe('columns of an equality are looked at before the others are read', () => {
  let bytes: Uint8Array;
  let payloadBytes = 0;

  beforeAll(async () => {
    const sink = memorySink();
    const writer = new OrcWriter(sink, schema, {
      compression: 'zlib',
      rowIndexStride: STRIDE,
      stripeSizeBytes: 1 << 20,
    });
    const rows = Array.from({ length: ROWS }, (_, row) => ({
      k: scattered(row),
      n: scattered(row) === null ? null : BigInt(scattered(row) ?? 0),
      s: row % 3 === 0 ? null : { k: scattered(row) },
      payload: wide(row),
    }));
    for (let row = 0; row < ROWS; row += 2000) await writer.write(vectorOf(schema, rows.slice(row, row + 2000)));
    await writer.close();
    bytes = sink.bytes();
    payloadBytes = await bytesOf({ include: new Set([5]) });
  });

  const bytesOf = async (options: ReadOptions): Promise<number> => {
    const reader = openOrcSync(memorySource(bytes));
    for (const _ of reader.batchesSync(options));
    return reader.bytesRead;
  };
  const keysOf = (sarg: Sarg) => {
    const reader = openOrcSync(memorySource(bytes));
    const found: number[] = [];
    for (const { rowNumber, length, root } of reader.batchesSync({ sarg })) {
      for (let row = 0; row < length; row++) {
        const { k, payload } = vectorValue(root, row) as { k: string | null; payload: string };
        expect([k, payload]).toEqual([scattered(rowNumber + row), wide(rowNumber + row)]);
        found.push(rowNumber + row);
      }
    }
    return { found, read: reader.bytesRead };
  };

  const at = 12_345;
  const literal = scattered(at);
  const point: readonly [string, Sarg][] = [
    ['text', { op: 'equals', column: 'k', literal }],
    ['text, null-safe', { op: 'nullSafeEquals', column: 'k', literal }],
    ['integer', { op: 'equals', column: 'n', literal: BigInt(literal ?? 0) }],
    ['inside a struct', { op: 'equals', column: 's.k', literal: scattered(at + 1) }],
    ['IN', { op: 'in', column: 'k', literals: [literal, 'none'] }],
    [
      'AND with another column, which is not read for it',
      {
        op: 'and',
        children: [
          { op: 'equals', column: 'k', literal },
          { op: 'not', child: { op: 'isNull', column: 'payload' } },
        ],
      },
    ],
    [
      'OR of two columns',
      {
        op: 'or',
        children: [
          { op: 'equals', column: 'k', literal },
          { op: 'equals', column: 'n', literal: BigInt(literal ?? 0) },
        ],
      },
    ],
  ];
  test.each(point)('%s: few row groups of the payload are read', (_, sarg) => {
    const { found, read } = keysOf(sarg);
    expect(found).toContain(sarg.op === 'equals' && sarg.column === 's.k' ? at + 1 : at);
    expect(found.length).toBeLessThanOrEqual(2 * STRIDE);
    // As much as the other columns, whole, and some row groups of the payload.
    expect(read).toBeLessThan(bytes.length - 0.7 * payloadBytes);
  });

  test('nothing of the payload where no row matches', () => {
    expect(keysOf({ op: 'equals', column: 'k', literal: '12x' }).found).toEqual([]);
    expect(keysOf({ op: 'equals', column: 'k', literal: '12x' }).read).toBeLessThan(bytes.length - 0.95 * payloadBytes);
  });

  test('a condition that most row groups satisfy is soon no longer looked at ahead', async () => {
    const sarg: Sarg = { op: 'in', column: 'k', literals: Array.from({ length: 5000 }, (_, i) => String(i)) };
    expect(keysOf(sarg).found.length).toBe(ROWS);
    const both = (await bytesOf({ sarg })) - (await bytesOf({}));
    expect(both).toBeLessThan(0.25 * payloadBytes);
  });

  test('NOT and comparisons of order are left to statistics', () => {
    expect(keysOf({ op: 'not', child: { op: 'equals', column: 'k', literal } }).found.length).toBe(ROWS);
  });

  test('from a source that answers later', async () => {
    const source = memorySource(bytes);
    const later: ByteSource = { ...source, slice: async (start, end) => source.slice(start, end) };
    const reader = await openOrc(later);
    let rows = 0;
    for await (const { length } of reader.batches({ sarg: { op: 'equals', column: 'k', literal } })) rows += length;
    expect(rows).toBe(keysOf({ op: 'equals', column: 'k', literal }).found.length);
  });
});
