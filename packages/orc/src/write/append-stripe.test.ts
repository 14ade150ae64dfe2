import { memorySink, memorySource } from '@skep/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ColumnStatistics } from '../proto/gen/orc_proto.js';
import { type OrcReader, openOrc, openOrcSync } from '../reader/orc-reader.js';
import type { Sarg } from '../sarg/sarg.js';
import { arbitraryTable } from '../testing/arbitrary.js';
import type { TypeDescription } from '../type-description.js';
import { parseType } from '../type-text.js';
import { type AppendableValue, vectorOf } from '../vector/builder.js';
import { vectorValue } from '../vector/value.js';
import { appendableStripes } from './append-stripe.js';
import type { OrcWriterOptions } from './options.js';
import { OrcWriter } from './orc-writer.js';

const small: OrcWriterOptions = {
  rowIndexStride: 5,
  compressionBlockSizeBytes: 64,
  enforceCompressionBlockSize: true,
};

/** A file with a stripe of each group of rows. */
async function fileOf(schema: TypeDescription, groups: readonly AppendableValue[][], options: OrcWriterOptions = {}) {
  const sink = memorySink('source.orc');
  const writer = new OrcWriter(sink, schema, options);
  for (const rows of groups) {
    await writer.write(vectorOf(schema, rows));
    await writer.flushStripe();
  }
  await writer.close();
  return openOrc(memorySource(sink.bytes(), 'source.orc'));
}

function rowsOf(reader: OrcReader, sarg?: Sarg): unknown[] {
  const rows: unknown[] = [];
  for (const { root, length } of reader.batchesSync(sarg === undefined ? {} : { sarg })) {
    for (let row = 0; row < length; row++) rows.push(vectorValue(root, row));
  }
  return rows;
}

/** How well bytes were compressed is not compared. */
const comparable = (all: readonly ColumnStatistics[] | undefined) =>
  all?.map((statistics) => ({ ...statistics, bytesOnDisk: undefined }));

async function appended(
  schema: TypeDescription,
  source: OrcReader,
  groups: readonly AppendableValue[][],
  isCopied: (stripe: number) => boolean,
  options: OrcWriterOptions,
): Promise<OrcReader> {
  const sink = memorySink('target.orc');
  const writer = new OrcWriter(sink, schema, options);
  for (const [stripe, rows] of groups.entries()) {
    if (isCopied(stripe)) await writer.appendStripe(await source.wholeStripe(stripe));
    else await writer.write(vectorOf(schema, rows));
    await writer.flushStripe();
  }
  expect(writer.numberOfRows).toBe(groups.flat().length);
  await writer.close();
  return openOrcSync(memorySource(sink.bytes(), 'target.orc'));
}

describe('a stripe that is appended as it is', () => {
  it('gives the rows and statistics that writing its rows gives', async () => {
    const property = fc.asyncProperty(
      arbitraryTable(40),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
      fc.constantFrom('none', 'zlib', 'snappy', 'lz4', 'zstd'),
      fc.boolean(),
      async ({ schema, rows }, copied, compression, withBlooms) => {
        const each = Math.ceil(rows.length / copied.length);
        const groups = copied.map((_, i) => rows.slice(i * each, (i + 1) * each)).filter((group) => group.length > 0);
        const blooms = withBlooms ? { bloomFilterColumns: [schema.children[0].id] } : {};
        const options = { ...small, compression, ...blooms } as const;
        const source = await fileOf(schema, groups, options);
        const check = appendableStripes(schema, options);
        for (const [number] of groups.entries()) {
          const stripe = await source.wholeStripe(number);
          // As if bytes had been lost, which a text that holds this character looks like.
          const looksLost = stripe.statistics?.some(({ stringStatistics: texts }) =>
            `${texts?.minimum}${texts?.maximum}`.includes('\ufffd'),
          );
          fc.pre(looksLost !== true);
          expect(check(stripe)).toBeUndefined();
        }
        const target = await appended(schema, source, groups, (stripe) => copied[stripe], options);
        expect(rowsOf(target)).toEqual(rowsOf(source));
        expect(comparable(target.statistics)).toEqual(comparable(source.statistics));
        const [own, theirs] = [target.stripeStatisticsSync(), source.stripeStatisticsSync()];
        expect(own.map(comparable)).toEqual(theirs.map(comparable));
        expect(target.stripes.map((stripe) => stripe.numberOfRows)).toEqual(groups.map((group) => group.length));
      },
    );
    await fc.assert(property, { numRuns: 150 });
  });

  const schema = parseType('struct<a:int,s:string>');
  const groups = [0, 1, 2].map((group) =>
    Array.from({ length: 20 }, (_, i) => ({ a: group * 100 + i, s: `text ${group * 100 + i}` })),
  );

  it('keeps its row index and bloom filters, in chunks larger than the file would have', async () => {
    const options = { ...small, bloomFilterColumns: ['s'] };
    const source = await fileOf(schema, groups, options);
    const smaller = { ...options, compressionBlockSizeBytes: 32 };
    const target = await appended(schema, source, groups, (stripe) => stripe !== 1, smaller);
    expect(target.compressionBlockSize).toBe(64);
    const matching = (column: string, literal: bigint | string) =>
      rowsOf(target, { op: 'equals', column, literal }).map((row) => (row as { a: number }).a);
    expect(matching('a', 203n)).toEqual([200, 201, 202, 203, 204]);
    expect(matching('s', 'text 7')).toEqual([5, 6, 7, 8, 9]);
    expect(matching('s', 'text 20')).toEqual([]);
    expect(target.bytesRead).toBeGreaterThan(0);
  });

  it('begins where a block of the file system begins when it would cross its end', async () => {
    const source = await fileOf(schema, groups, small);
    const padded = { ...small, blockPadding: true, stripeSizeBytes: 2000, paddingTolerance: 0.5, blockSizeBytes: 1000 };
    const target = await appended(schema, source, groups, () => true, padded);
    expect(rowsOf(target)).toEqual(rowsOf(source));
    expect(target.stripes.some(({ offset }) => offset % 1000 === 0)).toBe(true);
  });

  it.each<[string, OrcWriterOptions, RegExp]>([
    ['another codec', { compression: 'snappy' }, /compressed by zlib, not snappy/],
    ['another stride', { rowIndexStride: 10 }, /row groups of 5 rows, not 10/],
    ['other bloom filters', { bloomFilterColumns: ['a'] }, /other bloom filters of column 1/],
  ])('is refused for %s, and the writer goes on', async (_, more, why) => {
    const source = await fileOf(schema, groups, small);
    const options = { ...small, ...more };
    const stripe = await source.wholeStripe(0);
    expect(appendableStripes(schema, options)(stripe)).toMatch(why);
    const sink = memorySink('target.orc');
    const writer = new OrcWriter(sink, schema, options);
    await writer.write(vectorOf(schema, groups[1]));
    const refused = writer.appendStripe(stripe);
    await expect(refused).rejects.toThrow(why);
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_WRITE' });
    await writer.write(vectorOf(schema, groups[2]));
    await writer.close();
    expect(rowsOf(openOrcSync(memorySource(sink.bytes())))).toHaveLength(40);
  });

  it.each<[string, OrcWriterOptions]>([
    ['how hard to compress', { compressionStrategy: 'compression' }],
    ['how to pack', { encodingStrategy: 'compression' }],
    ['no dictionaries', { dictionaryKeySizeThreshold: 0 }],
    ['smaller stripes', { stripeSizeBytes: 64 }],
  ])('could be appended but is not as the options say: %s', async (_, more) => {
    const source = await fileOf(schema, groups, small);
    expect(appendableStripes(schema, { ...small, ...more })(await source.wholeStripe(0))).toMatch(/asked for/);
  });

  it('is refused for another schema, and for text that is no UTF-8', async () => {
    const source = await fileOf(schema, groups, small);
    const other = parseType('struct<a:int,t:string>');
    expect(appendableStripes(other, small)(await source.wholeStripe(0))).toMatch(/struct<a:int,s:string>, not/);
    const bytes = { kind: 'string', length: 1, bytes: Uint8Array.of(0xff), offsets: Int32Array.of(0, 1) } as const;
    const sink = memorySink('bytes.orc');
    const writer = new OrcWriter(sink, parseType('struct<s:string>'), small);
    await writer.write({ kind: 'struct', length: 1, fieldNames: ['s'], children: [bytes] });
    await writer.close();
    const reader = openOrcSync(memorySource(sink.bytes(), 'bytes.orc'));
    const why = appendableStripes(reader.schema, small)(await reader.wholeStripe(0));
    expect(why).toMatch(/incomplete statistics of column 1/);
  });
});
