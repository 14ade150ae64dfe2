import { setTimeout as sleep } from 'node:timers/promises';
import { type ByteSource, CorruptFileError, memorySink, memorySource } from '@skep/core';
import { beforeAll, expect, test } from 'vitest';
import { OrcWriter, openOrc, parseType, vectorOf } from '../index.js';

const ROWS_A_STRIPE = 4000;
const STRIPES = 4;
const STRIDE = 1000;

let file = new Uint8Array(0);

beforeAll(async () => {
  const sink = memorySink();
  const type = parseType('struct<a:bigint>');
  const writer = new OrcWriter(sink, type, { compression: 'none', rowIndexStride: STRIDE, stripeSizeBytes: 25_000 });
  for (let stripe = 0; stripe < STRIPES; stripe++) {
    const rows = Array.from({ length: ROWS_A_STRIPE }, (_, i) => ({
      a: (BigInt(i + stripe) * 6_364_136_223_846_793n) % 1_000_000_007_000_003n,
    }));
    await writer.write(vectorOf(type, rows));
  }
  await writer.close();
  file = new Uint8Array(sink.bytes());
});

interface SlowSource extends ByteSource {
  begun: number;
  finished: number;
}

/** Answers later, as an object store does; `fail` refuses reads that begin behind an offset. */
function slowSource(fail = Number.POSITIVE_INFINITY): SlowSource {
  const memory = memorySource(file);
  return {
    path: memory.path,
    size: memory.size,
    begun: 0,
    finished: 0,
    async slice(start, end) {
      this.begun++;
      await sleep(2);
      this.finished++;
      if (start >= fail && end < memory.size - 1000) throw new CorruptFileError(memory.path, start, 'no answer');
      return memory.slice(start, end);
    },
  };
}

const parts = { segmentBytes: 9000, batchSize: 500 };

test('the next part is on its way while rows of one are handed out, and only that one', async () => {
  const source = slowSource();
  const reader = await openOrc(source);
  expect(reader.stripes.length).toBe(STRIPES);
  let overlapping = 0;
  let batches = 0;
  let rows = 0;
  for await (const batch of reader.batches(parts)) {
    expect(batch.rowNumber).toBe(rows);
    rows += batch.length;
    batches++;
    if (source.begun > source.finished) overlapping++;
    // One read at a time: the next part, or the next stripe step by step (its footer, its index, its first part).
    expect(source.begun - source.finished).toBeLessThanOrEqual(1);
  }
  expect(rows).toBe(STRIPES * ROWS_A_STRIPE);
  expect(source.begun).toBe(source.finished);
  // Each part but the last has its first batch while the next one is asked for.
  expect(overlapping).toBeGreaterThanOrEqual(STRIPES * 4 - 1);
  expect(batches).toBe((STRIPES * ROWS_A_STRIPE) / parts.batchSize);
});

test('the same bytes are read as without reading ahead', async () => {
  const slow = await openOrc(slowSource());
  for await (const batch of slow.batches(parts)) expect(batch.length).toBeGreaterThan(0);
  const quick = await openOrc(memorySource(file));
  let rows = 0;
  for (const batch of quick.batchesSync(parts)) rows += batch.length;
  expect([slow.bytesRead, rows]).toEqual([quick.bytesRead, STRIPES * ROWS_A_STRIPE]);
});

test('a source that answers at once is asked for nothing before it is needed', async () => {
  const memory = memorySource(file);
  let begun = 0;
  const counting: ByteSource = {
    path: memory.path,
    size: memory.size,
    slice(start, end) {
      begun++;
      return memory.slice(start, end);
    },
  };
  const reader = await openOrc(counting);
  let first = 0;
  for await (const batch of reader.batches(parts)) {
    if (batch.rowNumber === 0) first = begun;
    else expect(begun).toBe(first);
    if (batch.rowNumber === parts.batchSize) break;
  }
});

test('who stops early waits for what was asked for: nothing is read later', async () => {
  const source = slowSource();
  const reader = await openOrc(source);
  for await (const batch of reader.batches(parts)) {
    expect(batch.rowNumber).toBe(0);
    expect(source.begun).toBeGreaterThan(source.finished);
    break;
  }
  expect(source.begun).toBe(source.finished);
});

test('a read ahead that fails is an error where its rows would come', async () => {
  const { stripes } = await openOrc(memorySource(file));
  const reader = await openOrc(slowSource(stripes[1].offset));
  let rows = 0;
  const all = (async () => {
    for await (const batch of reader.batches(parts)) rows += batch.length;
  })();
  await expect(all).rejects.toThrow(/no answer/);
  expect(rows).toBe(ROWS_A_STRIPE);
});
