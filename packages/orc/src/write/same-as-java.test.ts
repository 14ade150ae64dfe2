import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memorySink, memorySource } from '@skep/core';
import { describe, expect, it } from 'vitest';
import { decompressRange } from '../compression/chunks.js';
import { codecOf } from '../compression/codecs.js';
import { type ColumnStatistics, RowIndex, StripeFooter } from '../proto/gen/orc_proto.js';
import { type OrcReader, openOrcSync } from '../reader/orc-reader.js';
import { OrcWriter } from './orc-writer.js';

/** Files that Hive 4.0.1 wrote with ORC 1.8.5: what we make of their rows must be the same, stream by stream. */
const RECORDED = join(dirname(fileURLToPath(import.meta.url)), '../../../../test/golden/recorded/hive-4.0.1/cases');

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return /^(bucket_\d|0000)/.test(entry.name) && isOrc(path) ? [path] : [];
  });
}

/** Insert-only tables may be of other formats. */
function isOrc(path: string): boolean {
  return readFileSync(path).subarray(0, 3).toString() === 'ORC';
}

interface FilePart {
  readonly what: string;
  readonly value: unknown;
}

/** Everything in a file that does not depend on how well its bytes were compressed. */
function partsOf(bytes: Uint8Array, reader: OrcReader): FilePart[] {
  const { footer } = reader.tail;
  const parts: FilePart[] = [
    { what: 'types', value: footer.types },
    { what: 'statistics', value: footer.statistics?.map(comparable) },
    { what: 'stripe statistics', value: reader.stripeStatisticsSync().map((stripe) => stripe.map(comparable)) },
    { what: 'block size', value: reader.compressionBlockSize },
  ];
  for (const stripe of footer.stripes ?? []) {
    const { offset = 0n, indexLength = 0n, dataLength = 0n, footerLength = 0n } = stripe;
    const plain = (start: number, length: number) =>
      decompressRange(bytes.subarray(start, start + length), {
        path: 'file',
        name: 'stream',
        fileOffset: start,
        codec: codecOf(reader.compression),
        blockSize: reader.compressionBlockSize,
      });
    const stripeFooter = StripeFooter.decode(
      plain(Number(offset + indexLength + dataLength), Number(footerLength)).bytes,
    );
    parts.push({ what: 'stripe', value: [stripe.numberOfRows, stripeFooter.columns, stripeFooter.writerTimezone] });
    let at = Number(offset);
    const targets = new Map<number, Set<number>>();
    const indexes: { column: number; index: RowIndex }[] = [];
    for (const { kind = 0, column = 0, length = 0n } of stripeFooter.streams ?? []) {
      const stream = plain(at, Number(length));
      at += Number(length);
      const columnChunks = targets.get(column) ?? new Set();
      for (let i = 0; i < stream.chunkStarts.length; i++) if (i > 0) columnChunks.add(stream.chunkStarts[i]);
      targets.set(column, columnChunks);
      if (kind === 6) indexes.push({ column, index: RowIndex.decode(stream.bytes) });
      else parts.push({ what: `column ${column} stream ${kind}`, value: Buffer.from(stream.bytes).toString('hex') });
    }
    for (const { column, index } of indexes) {
      // Offsets of chunks depend on the compressor.
      const inChunk = (position: bigint) => (targets.get(column)?.has(Number(position)) ? 'chunk' : position);
      const entries = index.entry?.map(({ positions = [], statistics }) => ({
        positions: positions.map(inChunk),
        statistics: statistics && comparable(statistics),
      }));
      parts.push({ what: `column ${column} index`, value: entries });
    }
  }
  return parts;
}

/** Java's numbers of children are not those of the rows but its batch's 1,000 (ORC 1.8); sizes depend on the compressor. */
function comparable(statistics: ColumnStatistics): ColumnStatistics {
  return { ...statistics, collectionStatistics: undefined, bytesOnDisk: undefined };
}

/** Java writes wide decimals without the zeros at their end, each with its own scale; we keep the type's scale. */
function wideDecimals(reader: OrcReader): Set<number> {
  return new Set(
    reader.tail.footer.types?.flatMap(({ kind, precision = 0 }, id) => (kind === 14 && precision > 18 ? [id] : [])),
  );
}

describe('OrcWriter makes what Hive made', () => {
  const files = existsSync(RECORDED) ? filesBelow(RECORDED) : [];
  it.each(files.map((file) => [relative(RECORDED, file)]))('%s', async (name) => {
    const java = new Uint8Array(readFileSync(join(RECORDED, name)));
    const reader = openOrcSync(memorySource(java, name));
    const sink = memorySink(name);
    const writer = new OrcWriter(sink, reader.schema, {
      compression: reader.compression === 'lzo' ? 'none' : reader.compression,
      compressionBlockSizeBytes: reader.compressionBlockSize,
      enforceCompressionBlockSize: true,
      rowIndexStride: reader.rowIndexStride,
      stripeSizeBytes: 1 << 30,
    });
    for (const batch of reader.batchesSync({ batchSize: 1000 })) await writer.write(batch.root);
    await writer.close();
    const ours = openOrcSync(memorySource(sink.bytes()));
    expect([ours.writer, ours.writerVersion, ours.calendar, ours.fileVersion]).toEqual([
      reader.writer,
      reader.writerVersion,
      reader.calendar,
      reader.fileVersion,
    ]);
    const skipped = wideDecimals(reader);
    const isSkipped = ({ what }: FilePart) => [...skipped].some((id) => what.startsWith(`column ${id} `));
    const expected = partsOf(java, reader).filter((part) => !isSkipped(part));
    const got = partsOf(sink.bytes(), ours).filter((part) => !isSkipped(part));
    expect(got.map(({ what }) => what)).toEqual(expected.map(({ what }) => what));
    for (let i = 0; i < got.length; i++) expect(got[i], `${name}: ${got[i].what}`).toEqual(expected[i]);
  });
});
