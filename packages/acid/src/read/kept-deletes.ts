import type { ValidWriteIdList } from '@skep/core';
import type { FileSystem } from '@skep/storage';
import type { DeleteSet } from './delete-set.js';
import type { DeleteFile } from './scan-types.js';
import { isWholeRangeValid } from './valid-rows.js';

/** About 16 MiB. The least recently used go first. */
const CAPACITY_EVENTS = 2_000_000;

/**
 * Delete events of whole files, from one statement to the next, by file system. Only of files all of whose events count in the
 * snapshot, when they were read and when they are asked for; a path that comes back with another size or time is read anew.
 */
class KeptDeletes {
  private readonly sets = new Map<string, DeleteSet>();
  private events = 0;

  get(file: DeleteFile, writeIds: ValidWriteIdList): DeleteSet | undefined {
    const key = keyOf(file, writeIds);
    const found = key === undefined ? undefined : this.sets.get(key);
    if (key === undefined || found === undefined) return undefined;
    // The youngest stand last: a Map keeps the order of insertion.
    this.sets.delete(key);
    this.sets.set(key, found);
    return found;
  }

  put(file: DeleteFile, writeIds: ValidWriteIdList, set: DeleteSet): void {
    const key = keyOf(file, writeIds);
    if (key === undefined || set.size > CAPACITY_EVENTS / 2 || this.sets.has(key)) return;
    this.events += set.size;
    this.sets.set(key, set);
    for (const [oldest, { size }] of this.sets) {
      if (this.events <= CAPACITY_EVENTS) break;
      this.sets.delete(oldest);
      this.events -= size;
    }
  }
}

function keyOf(file: DeleteFile, writeIds: ValidWriteIdList): string | undefined {
  const { path, sizeBytes, modifiedMs, flushLengthPath, writeIdRange } = file;
  if (flushLengthPath !== undefined || writeIdRange === undefined) return undefined;
  return isWholeRangeValid(writeIds, ...writeIdRange) ? `${path}\0${sizeBytes}\0${modifiedMs}` : undefined;
}

const kept = new WeakMap<FileSystem, KeptDeletes>();

/** From now on delete events of this file system are kept: for processes that run many statements. */
export function keepDeletes(fs: FileSystem): void {
  if (!kept.has(fs)) kept.set(fs, new KeptDeletes());
}

export const keptDeletes = (fs: FileSystem): KeptDeletes | undefined => kept.get(fs);
