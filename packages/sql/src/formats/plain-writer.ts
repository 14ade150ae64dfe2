import { type Bucketing, InsertWriter, type OrcFileOptions, type WriteResult } from '@skep/acid';
import type { StructVector, TypeDescription } from '@skep/orc';
import type { FileSystem } from '@skep/storage';
import type { FileLayout } from './file-layout.js';
import { FolderWriter } from './folder-writer.js';
import { asNamed, type Publication } from './publish.js';

export interface PlainTarget {
  readonly fs: FileSystem;
  readonly location: string;
  /** Hidden folder inside `location`. */
  readonly staging: string;
  readonly overwrite: boolean;
  readonly schema: TypeDescription;
  readonly bucketing?: Bucketing;
  /** undefined: ORC. */
  readonly layout: FileLayout | undefined;
  readonly orc: OrcFileOptions;
}

/** Writes the rows of a table that is not transactional into a hidden folder; `publication` then says what to move where. */
export class PlainWriter {
  private files: readonly string[] = [];

  private constructor(
    private readonly target: PlainTarget,
    private readonly writer: InsertWriter | FolderWriter,
    private readonly isNewLocation: boolean,
  ) {}

  static async open(target: PlainTarget): Promise<PlainWriter> {
    const { fs, staging, location, overwrite, schema, layout, orc } = target;
    const bucketing = target.bucketing === undefined ? {} : { bucketing: target.bucketing };
    // Insert-only files are plain ones: only their folder's name is ACID's.
    const writer =
      layout === undefined
        ? new InsertWriter({
            fs,
            location: staging,
            writeId: 0n,
            statementId: 0,
            schema,
            overwrite,
            insertOnly: true,
            orc,
            ...bucketing,
          })
        : new FolderWriter({ fs, folder: staging, layout, overwrite, ...bucketing });
    return new PlainWriter(target, writer, (await fs.stat(location)) === undefined);
  }

  async write(rows: StructVector): Promise<void> {
    await this.writer.write(rows);
  }

  async close(): Promise<WriteResult> {
    const result = await this.writer.close();
    this.files = result.files;
    return result;
  }

  get publication(): Publication {
    const { location, overwrite, staging } = this.target;
    return { location, overwrite, staging, files: this.files.map(asNamed) };
  }

  async abort(): Promise<void> {
    const { fs, location, staging } = this.target;
    await this.writer.abort();
    await fs.delete(staging, { recursive: true });
    if (this.isNewLocation && (await fs.stat(location)) !== undefined && (await fs.list(location)).length === 0) {
      await fs.delete(location);
    }
  }
}
