import { OtherStoreError } from './errors.js';
import type { FileSystem } from './file-system.js';

const COPY_BYTES = 1 << 22;

/** Copies a file's bytes to a new file; a copy that fails leaves nothing at `to`. */
export async function copyFile(fs: FileSystem, from: string, to: string): Promise<void> {
  const source = await fs.open(from);
  try {
    const sink = await fs.create(to);
    try {
      for (let at = 0; at < source.size; at += COPY_BYTES) {
        await sink.write(await source.slice(at, Math.min(source.size, at + COPY_BYTES)));
      }
      await sink.close();
    } catch (cause) {
      await sink.abort();
      throw cause;
    }
  } finally {
    await source.close?.();
  }
}

/** Renames a file; where `to` lies in another store, copies it there and then deletes it, so that it is never in neither. */
export async function moveFile(fs: FileSystem, from: string, to: string): Promise<void> {
  try {
    await fs.rename(from, to);
  } catch (cause) {
    if (!(cause instanceof OtherStoreError)) throw cause;
    await copyFile(fs, from, to);
    await fs.delete(from);
  }
}
