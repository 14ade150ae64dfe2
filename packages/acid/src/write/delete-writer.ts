import { allDone, BugError } from '@skep/core';
import { joinPath } from '@skep/storage';
import { formatBucketFileName } from '../layout/bucket-file-name.js';
import { bucketOf } from '../layout/bucket-property.js';
import { formatAcidDirectoryName } from '../layout/directory-name.js';
import { DeleteSet } from '../read/delete-set.js';
import type { RowKeys } from '../read/row-keys.js';
import type { AcidSplit, RowIdVectors } from '../read/scan-types.js';
import { type UnseenOptions, type UnseenRow, unseenRow } from '../read/unseen-row.js';
import { EventFileWriter } from './event-file-writer.js';
import { StatementFolder } from './statement-folder.js';
import type { WriteResult, WriteTarget } from './write-types.js';

const BATCH_EVENTS = 8192;

/**
 * Writes delete events into delete_delta_W_W_S, each into the file of the deleted row's bucket, sorted by (writeId, bucket
 * property, rowId) whatever the order they come in. Keeps 8 bytes of each event in memory until `close`.
 */
export class DeleteWriter {
  private readonly folder: StatementFolder;
  private readonly sets = new Map<number, DeleteSet>();
  private isDone = false;

  constructor(readonly target: WriteTarget) {
    const { fs, location, writeId, statementId, orc } = target;
    const name = formatAcidDirectoryName({
      kind: 'deleteDelta',
      minWriteId: writeId,
      maxWriteId: writeId,
      statementId,
      visibilityTxnId: 0n,
    });
    this.folder = new StatementFolder(fs, joinPath(location, name), orc?.versionFile !== false);
  }

  /** The rows' own ROW__IDs, of this folder (ROW__IDs are unique within a partition only, bug-reports B05). */
  async write({ writeId, bucket, rowId }: RowIdVectors): Promise<void> {
    if (this.isDone) throw new BugError('a write after the writer was closed');
    const { length } = writeId;
    for (let start = 0; start < length; ) {
      const number = bucketOf(bucket.values[start]);
      let end = start + 1;
      while (end < length && (bucket.values[end] === bucket.values[start] || bucketOf(bucket.values[end]) === number))
        end++;
      this.setOf(number).add({
        length: end - start,
        writeIds: writeId.values.subarray(start, end),
        buckets: bucket.values.subarray(start, end),
        rowIds: rowId.values.subarray(start, end),
      });
      start = end;
    }
  }

  /**
   * A ROW__ID written that no row of the folder has under these splits, or that was written twice; each split may have rows of
   * its own bucket only.
   */
  async unseen(splits: readonly AcidSplit[], options: Omit<UnseenOptions, 'schema'>): Promise<UnseenRow | undefined> {
    const { fs, schema } = this.target;
    for (const [bucket, set] of this.sets) {
      const ofBucket = splits.filter((split) => (split.bucket ?? 0) === bucket);
      const unseen = await unseenRow(fs, ofBucket, set, { ...options, schema });
      if (unseen !== undefined) return unseen;
    }
    return undefined;
  }

  /** Writes the files and makes them durable. Without events there is no folder. */
  async close(): Promise<WriteResult> {
    if (this.isDone) throw new BugError('the writer was closed before');
    this.isDone = true;
    const sets = [...this.sets].sort(([a], [b]) => a - b);
    const version = sets.length > 0 ? [this.folder.finish()] : [];
    await allDone([...sets.map(([bucket, set]) => this.writeBucket(bucket, set.sortedKeys(BATCH_EVENTS))), ...version]);
    const deletedRows = sets.reduce((sum, [, set]) => sum + set.size, 0);
    const { files, bytes } = this.folder;
    return { files, insertedRows: 0, deletedRows, bytes };
  }

  /** Removes what was written. */
  async abort(): Promise<void> {
    this.isDone = true;
    await this.folder.remove();
  }

  private async writeBucket(bucket: number, batches: Iterable<RowKeys>): Promise<void> {
    const { schema, orc = {}, writeId } = this.target;
    const sink = await this.folder.createFile(formatBucketFileName(bucket, 0));
    const writer = new EventFileWriter(sink, schema, orc, 'deleteDelta');
    for (const keys of batches) await writer.writeDeletes(keys, new BigInt64Array(keys.length).fill(writeId));
    await writer.close();
  }

  private setOf(bucket: number): DeleteSet {
    let set = this.sets.get(bucket);
    if (set === undefined) {
      set = new DeleteSet();
      this.sets.set(bucket, set);
    }
    return set;
  }
}
