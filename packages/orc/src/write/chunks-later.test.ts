import { createHash } from 'node:crypto';
import { memorySink, memorySource } from '@skep/core';
import { describe, expect, it } from 'vitest';
import { openOrcSync } from '../reader/orc-reader.js';
import { parseType } from '../type-text.js';
import { vectorOf } from '../vector/builder.js';
import { vectorValue } from '../vector/value.js';
import { ChunksLater } from './chunks-later.js';
import type { OrcWriterOptions } from './options.js';
import { OrcWriter } from './orc-writer.js';

const schema = parseType('struct<id:bigint,noise:string,text:string,maybe:int>');
const BATCHES = 12;
const batches = Array.from({ length: BATCHES }, (_, batch) =>
  vectorOf(
    schema,
    Array.from({ length: 4000 }, (_, i) => {
      const id = batch * 4000 + i;
      const noise = createHash('sha256').update(String(id)).digest('hex');
      const maybe = (id * 7919) % 5 === 0 ? null : (id * 2_654_435_761) | 0;
      return { id: BigInt(id), noise, text: `a text that is much like the others, ${id}`, maybe };
    }),
  ),
);

async function write(options: OrcWriterOptions): Promise<Uint8Array> {
  const sink = memorySink();
  const writer = new OrcWriter(sink, schema, {
    compressionBlockSizeBytes: 65_536,
    enforceCompressionBlockSize: true,
    stripeSizeBytes: 1_000_000,
    rowIndexStride: 1000,
    ...options,
  });
  for (const batch of batches) await writer.write(batch);
  await writer.close();
  return sink.bytes();
}

describe('chunks that are compressed on other threads', () => {
  it.each(['zlib', 'snappy', 'none'] as const)('give the same file (%s)', async (compression) => {
    const [here, later] = [await write({ compression }), await write({ compression, compressLater: true })];
    expect(Buffer.compare(here, later)).toBe(0);
    const reader = openOrcSync(memorySource(later));
    expect(reader.stripes.length).toBeGreaterThan(1);
    let row = 0;
    for (const batch of reader.batchesSync({ sarg: { op: 'between', column: 'id', low: 20_000n, high: 20_999n } })) {
      for (let i = 0; i < batch.length; i++, row++) {
        expect(vectorValue(batch.root, i)).toMatchObject({ id: 20_000n + BigInt(row) });
      }
    }
    expect(row).toBe(1000);
  });

  it('are not looked through for repetitions where there are none', async () => {
    const sizeOf = async (column: number) => {
      const layout = openOrcSync(memorySource(await write({}))).stripeLayoutSync(0);
      return layout.streams.filter((stream) => stream.column === column && stream.kind === 1)[0].length;
    };
    const rows = openOrcSync(memorySource(await write({}))).stripes[0].numberOfRows;
    // 4 bits of each hexadecimal digit are the least; matches of three digits cost more.
    expect((await sizeOf(2)) / (rows * 64)).toBeLessThan(0.52);
    expect((await sizeOf(3)) / (rows * 41)).toBeLessThan(0.25);
  });

  it('tell of an error where they are waited for', async () => {
    const chunks = new ChunksLater();
    chunks.start(
      new Uint8Array(10),
      () => Promise.reject(new RangeError('no thread')),
      () => {},
    );
    await chunks.bound();
    await expect(chunks.settle()).rejects.toThrow('no thread');
  });
});
