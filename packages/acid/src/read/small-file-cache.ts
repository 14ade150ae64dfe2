import { memorySource } from '@skep/core';
import { type OrcReader, openOrcSync } from '@skep/orc';
import type { FileSystem } from '@skep/storage';
import { keepDeletes } from './kept-deletes.js';

/** Files up to this size are kept whole. */
const LARGEST_FILE_BYTES = 64 * 1024;
/** All of them together; the least recently used go first. */
const CAPACITY_BYTES = 32 * 1024 * 1024;

interface CachedFile {
  readonly reader: OrcReader;
  readonly sizeBytes: number;
}

/**
 * Small data files with their footers parsed, by file system. A table under small writes is many small files, and opening one
 * (open, read, inflate, decode the footer) costs far more than its rows. Bucket files are written once and never changed; a
 * path that comes back with another size or time is read anew.
 */
class SmallFileCache {
  private readonly files = new Map<string, CachedFile>();
  private bytes = 0;

  get(key: string): OrcReader | undefined {
    const found = this.files.get(key);
    if (found === undefined) return undefined;
    // The youngest stand last: a Map keeps the order of insertion.
    this.files.delete(key);
    this.files.set(key, found);
    return found.reader;
  }

  put(key: string, path: string, content: Uint8Array): OrcReader {
    const reader = openOrcSync(memorySource(content, path));
    // Two scans may have read the same file at once: it counts once.
    this.bytes += content.length - (this.files.get(key)?.sizeBytes ?? 0);
    this.files.set(key, { reader, sizeBytes: content.length });
    for (const [oldest, { sizeBytes }] of this.files) {
      if (this.bytes <= CAPACITY_BYTES) break;
      this.files.delete(oldest);
      this.bytes -= sizeBytes;
    }
    return reader;
  }
}

const caches = new WeakMap<FileSystem, SmallFileCache>();

/** From now on small files and delete events of this file system are kept: for processes that run many statements. */
export function keepSmallFiles(fs: FileSystem): void {
  if (!caches.has(fs)) caches.set(fs, new SmallFileCache());
  keepDeletes(fs);
}

export const smallFileCache = (fs: FileSystem): SmallFileCache | undefined => caches.get(fs);

/** What a file is known by; undefined where it is not to be kept: large, still being written, or not listed with its time. */
export function cacheKey(file: {
  readonly path: string;
  readonly sizeBytes?: number;
  readonly modifiedMs?: number;
  readonly flushLengthPath?: string | undefined;
}): string | undefined {
  const { path, sizeBytes, modifiedMs, flushLengthPath } = file;
  if (sizeBytes === undefined || modifiedMs === undefined || flushLengthPath !== undefined) return undefined;
  return sizeBytes > 0 && sizeBytes <= LARGEST_FILE_BYTES ? `${path}\0${sizeBytes}\0${modifiedMs}` : undefined;
}
