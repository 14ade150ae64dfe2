import { filterVector, type StructVector } from '@skep/orc';
import { joinPath } from '@skep/storage';
import { formatBucketFileName } from '../layout/bucket-file-name.js';
import { EventGatherer } from '../read/gather.js';
import { type EventRun, mergeEvents } from '../read/merge-events.js';
import type { EventFile } from '../read/scan-types.js';
import { runAsync } from '../read/steps.js';
import { EventFileWriter } from '../write/event-file-writer.js';
import { StatementFolder } from '../write/statement-folder.js';
import type { CompactionInput } from './compaction-input.js';
import type { RowOrder } from './row-order.js';

/** Rows sorted in memory at once, unless that makes too many parts. */
const PART_ROWS = 131_072;
/** Parts merged at once: each is an open file. */
const MAX_PARTS = 256;

/**
 * The rows in a sorted order (an external merge sort): parts of them are sorted in memory and put aside as files of events
 * whose keys are the places of the rows, and these are merged like any files of events. `folder` is the result's, nobody
 * reads it yet; what is put aside is gone in the end.
 */
export async function* sortedRuns(
  input: CompactionInput,
  folder: string,
  order: RowOrder,
  runs: AsyncIterable<EventRun>,
): AsyncGenerator<EventRun> {
  const { fs, schema, writeIds } = input;
  const aside = new StatementFolder(fs, joinPath(folder, '_tmp_order'), false);
  try {
    const files = await putAside(input, aside, order, runs);
    yield* runAsync(mergeEvents(fs, files, { schema, writeIds, projection: {}, keep: 'all' }));
  } finally {
    await aside.remove();
  }
}

async function putAside(
  input: CompactionInput,
  aside: StatementFolder,
  order: RowOrder,
  runs: AsyncIterable<EventRun>,
): Promise<EventFile[]> {
  const ranks = order.ranks();
  const gatherer = new EventGatherer(Math.max(PART_ROWS, Math.ceil(order.length / MAX_PARTS)));
  const files: EventFile[] = [];
  let done = 0;
  const flush = async () => {
    if (gatherer.length === 0) return;
    input.signal?.throwIfAborted();
    const { keys, row } = gatherer.take();
    const { length } = keys;
    const own = ranks.subarray(done, done + length);
    done += length;
    const selection = Int32Array.from({ length }, (_, i) => i).sort((a, b) => own[a] - own[b]);
    const sink = await aside.createFile(formatBucketFileName(files.length));
    const writer = new EventFileWriter(sink, input.schema, input.orc ?? {}, 'base');
    const allWriteIds = new BigInt64Array(length).fill(order.maxWriteId);
    const places = {
      length,
      writeIds: allWriteIds,
      buckets: new Int32Array(length),
      rowIds: BigInt64Array.from(selection, (i) => BigInt(own[i])),
    };
    await writer.writeInserts(places, allWriteIds, filterVector(row, selection) as StructVector);
    await writer.close();
    files.push({ file: await asDataFile(input, sink.path, files.length), statementId: 0 });
  };
  for await (const run of runs) {
    for (let rest: EventRun | undefined = run; rest !== undefined; ) {
      rest = gatherer.add(rest);
      if (gatherer.isFull) await flush();
    }
  }
  await flush();
  return files;
}

async function asDataFile({ fs }: CompactionInput, path: string, bucket: number): Promise<EventFile['file']> {
  const stat = await fs.stat(path);
  const name = formatBucketFileName(bucket);
  return { path, name, sizeBytes: stat?.sizeBytes ?? 0, modifiedMs: stat?.modifiedMs ?? 0, kind: 'acid', bucket };
}
