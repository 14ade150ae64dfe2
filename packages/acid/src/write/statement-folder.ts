import { type FileSystem, joinPath } from '@skep/storage';
import { ACID_VERSION_FILE } from '../layout/directory-name.js';
import { type CountingSink, countingSink } from './counting-sink.js';
import { writeAcidVersionFile } from './table-dir.js';

/** The folder that one statement writes: made with its first file, undone file by file. */
export class StatementFolder {
  private readonly sinks: CountingSink[] = [];
  private hasVersionFile = false;

  constructor(
    private readonly fs: FileSystem,
    readonly path: string,
    private readonly withVersionFile: boolean,
  ) {}

  get files(): string[] {
    return this.sinks.map((sink) => sink.path);
  }

  get bytes(): number {
    return this.sinks.reduce((sum, sink) => sum + sink.bytes, 0);
  }

  async createFile(name: string): Promise<CountingSink> {
    const sink = countingSink(await this.fs.create(joinPath(this.path, name)));
    this.sinks.push(sink);
    return sink;
  }

  /** Hive 3 and later tell their folders by this file. Written last: readers skip the folder until the commit anyway. */
  async finish(): Promise<void> {
    if (!this.withVersionFile || this.hasVersionFile) return;
    this.hasVersionFile = true;
    await writeAcidVersionFile(this.fs, this.path);
  }

  /** Removes what was written; the folder too, unless somebody else's files are in it. */
  async remove(): Promise<void> {
    for (const sink of this.sinks) {
      await sink.abort();
      await this.fs.delete(sink.path);
    }
    if ((await this.fs.stat(this.path)) === undefined) return;
    const rest = (await this.fs.list(this.path)).filter((entry) => entry.name !== ACID_VERSION_FILE);
    if (rest.length === 0) await this.fs.delete(this.path, { recursive: true });
  }
}
