import { encodeBucketProperty } from '../layout/bucket-property.js';
import { formatAcidDirectoryName } from '../layout/directory-name.js';
import { OPERATION } from '../read/acid-schema.js';
import { EventGatherer } from '../read/gather.js';
import { type EventRun, mergeEvents, runsWithout } from '../read/merge-events.js';
import { eventFiles } from '../read/plan-splits.js';
import { consecutiveKeys } from '../read/row-keys.js';
import type { EventFile } from '../read/scan-types.js';
import { runAsync } from '../read/steps.js';
import type { EventFileWriter } from '../write/event-file-writer.js';
import type { StatementFolder } from '../write/statement-folder.js';
import { type CompactionInput, type CompactionResult, highWatermark } from './compaction-input.js';
import { BATCH_ROWS, byBucket, newFile, newFolder, writeFolders } from './result-folders.js';
import { RowOrder, type SortKey } from './row-order.js';
import { sortedRuns } from './sorted-runs.js';

export interface RebalanceInput extends CompactionInput {
  /** CLUSTERED INTO n BUCKETS; absent: as many as there are distinct bucket numbers. */
  readonly buckets?: number;
  /** ORDER BY: rows are sorted by these columns, then by their ROW__IDs, and all get the highest write id of them. */
  readonly orderBy?: readonly SortKey[];
}

/**
 * Rebalance compaction of an unbucketed table: base_{highWatermark}_vT with the rows, in the order of their ROW__IDs or of
 * the columns asked for, spread evenly over the buckets. Rows keep their write ids and are numbered through
 * (org.apache.hadoop.hive.ql.txn.compactor.RebalanceQueryCompactor).
 */
export async function compactRebalance(input: RebalanceInput): Promise<CompactionResult> {
  const { state, visibilityTxnId, orderBy = [] } = input;
  const writeId = highWatermark(input);
  const folder = newFolder(input, formatAcidDirectoryName({ kind: 'base', writeId, visibilityTxnId }));
  const files = eventFiles(state);
  const dataFiles = eventFiles({ ...state, deltas: state.deltas.filter(({ kind }) => kind === 'delta') });
  const buckets = input.buckets ?? Math.max(1, byBucket(dataFiles).size);
  return writeFolders(input, [folder], async () => {
    const order = new RowOrder(orderBy);
    for await (const run of liveRuns(input, files, order.columns)) order.add(run);
    const rows = order.length;
    const share = Math.max(1, Math.ceil(rows / buckets));
    const all = liveRuns(input, files);
    await spread(input, folder, share, orderBy.length === 0 ? all : sortedRuns(input, folder.path, order, all));
    return { rows, deleteEvents: 0, stripesTaken: 0 };
  });
}

/** Writes rows in the order they come, so many into each bucket's file. */
async function spread(
  input: CompactionInput,
  folder: StatementFolder,
  share: number,
  runs: AsyncIterable<EventRun>,
): Promise<void> {
  const gatherer = new EventGatherer(BATCH_ROWS);
  let row = 0;
  let writer: EventFileWriter | undefined;
  const flush = async () => {
    if (gatherer.length === 0) return;
    input.signal?.throwIfAborted();
    const bucket = Math.floor(row / share);
    writer ??= await newFile(input, folder, bucket, 'base');
    const { keys, row: values } = gatherer.take();
    const numbered = consecutiveKeys(keys.length, 0n, encodeBucketProperty(bucket, 0), BigInt(row));
    await writer.writeInserts({ ...numbered, writeIds: keys.writeIds }, keys.writeIds, values);
    row += keys.length;
    if (row % share !== 0) return;
    await writer.close();
    writer = undefined;
  };
  for await (const run of runs) {
    for (let at = run.start; at < run.end; ) {
      // A batch ends where its bucket does.
      const room = Math.min(BATCH_ROWS, share - (row % share)) - gatherer.length;
      const end = Math.min(run.end, at + room);
      gatherer.add({ ...run, start: at, end });
      if (end - at === room) await flush();
      at = end;
    }
  }
  await flush();
  await writer?.close();
}

/** Rows that are left when deletes are done. */
async function* liveRuns(
  { fs, schema, writeIds }: CompactionInput,
  files: readonly EventFile[],
  columns?: readonly number[],
): AsyncGenerator<EventRun> {
  const merged = mergeEvents(fs, files, { schema, writeIds, projection: { columns }, keep: 'newest' });
  for await (const run of runAsync(merged)) yield* runsWithout(run, OPERATION.delete);
}
