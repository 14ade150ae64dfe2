import { allDone, BugError } from '@skep/core';
import { filterVector, OrcWriter, type StructVector } from '@skep/orc';
import { joinPath } from '@skep/storage';
import { formatBucketFileName, formatOriginalFileName } from '../layout/bucket-file-name.js';
import { encodeBucketProperty } from '../layout/bucket-property.js';
import { formatAcidDirectoryName } from '../layout/directory-name.js';
import { consecutiveKeys } from '../read/row-keys.js';
import { bucketNumbers } from './bucket-hash.js';
import { EventFileWriter } from './event-file-writer.js';
import { orcWriterOptions } from './orc-options.js';
import { StatementFolder } from './statement-folder.js';
import type { InsertTarget, WriteResult } from './write-types.js';

/** A bucket's file, either kind. */
interface BucketFile {
  write(root: StructVector): Promise<void>;
  close(): Promise<void>;
}

/**
 * Writes inserted rows into delta_W_W_S (or base_W): the rows of a bucketed table into their buckets' files, others into
 * one file of writer 0. Nothing is visible before the transaction commits.
 */
export class InsertWriter {
  private readonly folder: StatementFolder;
  private readonly files = new Map<number, BucketFile>();
  private rows = 0;
  private isDone = false;

  constructor(readonly target: InsertTarget) {
    const { fs, location, writeId, statementId, overwrite, insertOnly, copyInBase, orc } = target;
    const name =
      overwrite || copyInBase !== undefined
        ? formatAcidDirectoryName({ kind: 'base', writeId, visibilityTxnId: 0n })
        : formatAcidDirectoryName({
            kind: 'delta',
            minWriteId: writeId,
            maxWriteId: writeId,
            statementId,
            visibilityTxnId: 0n,
          });
    this.folder = new StatementFolder(fs, joinPath(location, name), !insertOnly && orc?.versionFile !== false);
  }

  /** `root` has the schema's columns. */
  async write(root: StructVector): Promise<void> {
    if (this.isDone) throw new BugError('a write after the writer was closed');
    if (root.length === 0) return;
    this.rows += root.length;
    for (const [bucket, rows] of this.byBucket(root)) {
      let file = this.files.get(bucket);
      if (file === undefined) {
        file = await this.openBucket(bucket);
        this.files.set(bucket, file);
      }
      await file.write(rows);
    }
  }

  /** Makes the files durable. Without rows there is no folder, except for an overwrite. */
  async close(): Promise<WriteResult> {
    if (this.isDone) throw new BugError('the writer was closed before');
    this.isDone = true;
    for (const bucket of this.emptyBuckets()) this.files.set(bucket, await this.openBucket(bucket, true));
    // Hive leaves the version file out of an overwrite without rows.
    const version = this.rows > 0 ? [this.folder.finish()] : [];
    await allDone([...[...this.files.values()].map((file) => file.close()), ...version]);
    const { files, bytes } = this.folder;
    return { files, insertedRows: this.rows, deletedRows: 0, bytes };
  }

  /** Removes what was written. */
  async abort(): Promise<void> {
    this.isDone = true;
    await this.folder.remove();
  }

  /** Buckets without rows that get a file all the same: all of an overwrite, and those of bucketed insert-only tables. */
  private emptyBuckets(): number[] {
    const { overwrite, insertOnly, bucketing } = this.target;
    if (!overwrite && !(insertOnly && bucketing !== undefined && this.rows > 0)) return [];
    return [...Array(bucketing?.buckets ?? 1).keys()].filter((bucket) => !this.files.has(bucket));
  }

  /** The rows of each bucket in their order. */
  private byBucket(root: StructVector): [bucket: number, rows: StructVector][] {
    const { bucketing } = this.target;
    if (bucketing === undefined) return [[0, root]];
    const columns = bucketing.columns.map((column) => root.children[column]);
    const numbers = bucketNumbers(columns, root.length, bucketing.buckets, bucketing.version);
    const selections = new Map<number, number[]>();
    for (let row = 0; row < root.length; row++) {
      const rows = selections.get(numbers[row]);
      if (rows === undefined) selections.set(numbers[row], [row]);
      else rows.push(row);
    }
    return [...selections]
      .sort(([a], [b]) => a - b)
      .map(([bucket, rows]) => [
        bucket,
        rows.length === root.length ? root : (filterVector(root, Int32Array.from(rows)) as StructVector),
      ]);
  }

  private async openBucket(bucket: number, isEmpty = false): Promise<BucketFile> {
    return this.target.insertOnly ? this.openPlain(bucket, isEmpty) : this.openEvents(bucket);
  }

  private async openPlain(bucket: number, isEmpty: boolean): Promise<BucketFile> {
    const sink = await this.folder.createFile(formatOriginalFileName(bucket, this.target.copyInBase));
    // Hive's empty plain files have no byte at all.
    if (isEmpty) return { write: async () => {}, close: () => sink.close() };
    const writer = new OrcWriter(sink, this.target.schema, orcWriterOptions(this.target.orc ?? {}, 'plain'));
    return {
      write: async (root) => void (await writer.write(root)),
      close: async () => void (await writer.close()),
    };
  }

  private async openEvents(bucket: number): Promise<BucketFile> {
    const { writeId, statementId, schema, overwrite, orc = {} } = this.target;
    const sink = await this.folder.createFile(formatBucketFileName(bucket, 0));
    const writer = new EventFileWriter(sink, schema, orc, overwrite ? 'base' : 'delta');
    const property = encodeBucketProperty(bucket, statementId);
    // One counter for the whole file: rowIds go on from batch to batch (bug-reports B04).
    let nextRowId = 0n;
    return {
      write: async (root) => {
        const keys = consecutiveKeys(root.length, writeId, property, nextRowId);
        nextRowId += BigInt(root.length);
        await writer.writeInserts(keys, keys.writeIds, root);
      },
      close: () => writer.close(),
    };
  }
}
