import type { FileEntry, FileSystem } from './file-system.js';

/** All files below a folder, depth first, by name. `enter` may leave folders out. */
export async function* walk(
  fs: FileSystem,
  dir: string,
  enter: (folder: FileEntry) => boolean = () => true,
): AsyncGenerator<FileEntry> {
  for (const entry of await fs.list(dir)) {
    if (!entry.isDirectory) yield entry;
    else if (enter(entry)) yield* walk(fs, entry.path, enter);
  }
}

/** A whole small file. */
export async function readFile(fs: FileSystem, path: string): Promise<Uint8Array> {
  const source = await fs.open(path);
  try {
    return await source.slice(0, source.size);
  } finally {
    await source.close?.();
  }
}

/** A new small file with this content. */
export async function writeFile(fs: FileSystem, path: string, bytes: Uint8Array): Promise<void> {
  const sink = await fs.create(path);
  try {
    await sink.write(bytes);
    await sink.close();
  } catch (cause) {
    await sink.abort();
    throw cause;
  }
}

export async function exists(fs: FileSystem, path: string): Promise<boolean> {
  return (await fs.stat(path)) !== undefined;
}
