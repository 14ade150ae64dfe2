import { type Bucketing, bucketNumbers, formatOriginalFileName, type WriteResult } from '@skep/acid';
import { BugError, type ByteSink } from '@skep/core';
import { filterVector, type StructVector } from '@skep/orc';
import { type FileSystem, joinPath } from '@skep/storage';
import { type FileLayout, openRowFile } from './file-layout.js';
import type { RowFileWriter } from './row-file.js';

/** Where rows go that are not ORC. */
export interface FolderTarget {
  readonly fs: FileSystem;
  /** Gets the files, nothing else; made with the first. */
  readonly folder: string;
  readonly layout: FileLayout;
  readonly bucketing?: Bucketing;
  /** There are files even without rows. */
  readonly overwrite: boolean;
  /** The folder has files already: the new ones are called 000000_0_copy_N, of this N. */
  readonly copy?: number | undefined;
}

/**
 * Writes rows as files 000000_0 of a folder: those of a bucketed table into their buckets' files, all of which there are
 * once there is a row. The counterpart of acid's InsertWriter for other formats than ORC.
 */
export class FolderWriter {
  private readonly files = new Map<number, RowFileWriter>();
  private readonly paths: string[] = [];
  private rows = 0;
  private bytes = 0;
  private isDone = false;

  constructor(private readonly target: FolderTarget) {}

  async write(root: StructVector): Promise<void> {
    if (this.isDone) throw new BugError('a write after the writer was closed');
    if (root.length === 0) return;
    this.rows += root.length;
    for (const [bucket, rows] of this.byBucket(root)) await (await this.fileOf(bucket)).write(rows);
  }

  async close(): Promise<WriteResult> {
    if (this.isDone) throw new BugError('the writer was closed before');
    this.isDone = true;
    const { overwrite, bucketing } = this.target;
    if (overwrite || (bucketing !== undefined && this.rows > 0)) {
      for (let bucket = 0; bucket < (bucketing?.buckets ?? 1); bucket++) await this.fileOf(bucket);
    }
    for (const file of this.files.values()) await file.close();
    return { files: this.paths, insertedRows: this.rows, deletedRows: 0, bytes: this.bytes };
  }

  /** Removes what was written, and the folder unless it had files before. */
  async abort(): Promise<void> {
    this.isDone = true;
    for (const file of this.files.values()) await file.abort();
    if (this.target.copy !== undefined) {
      for (const path of this.paths) await this.target.fs.delete(path);
      return;
    }
    await this.target.fs.delete(this.target.folder, { recursive: true });
  }

  private async fileOf(bucket: number): Promise<RowFileWriter> {
    const known = this.files.get(bucket);
    if (known !== undefined) return known;
    const path = joinPath(this.target.folder, formatOriginalFileName(bucket, this.target.copy));
    const file = openRowFile(this.counted(await this.target.fs.create(path)), this.target.layout);
    this.paths.push(path);
    this.files.set(bucket, file);
    return file;
  }

  private counted(sink: ByteSink): ByteSink {
    return {
      path: sink.path,
      write: (part) => {
        this.bytes += part.length;
        return sink.write(part);
      },
      close: () => sink.close(),
      abort: () => sink.abort(),
    };
  }

  private byBucket(root: StructVector): (readonly [bucket: number, rows: StructVector])[] {
    const { bucketing } = this.target;
    if (bucketing === undefined) return [[0, root]];
    const columns = bucketing.columns.map((column) => root.children[column]);
    const numbers = bucketNumbers(columns, root.length, bucketing.buckets, bucketing.version);
    const selections = new Map<number, number[]>();
    numbers.forEach((bucket, row) => {
      const rows = selections.get(bucket);
      if (rows === undefined) selections.set(bucket, [row]);
      else rows.push(row);
    });
    return [...selections].map(([bucket, rows]) => [bucket, filterVector(root, Int32Array.from(rows)) as StructVector]);
  }
}
