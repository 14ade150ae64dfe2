import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync, writevSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import type { ByteSink, ByteSource } from '@skep/core';
import { CorruptFileError, makeFolder } from '@skep/core';
import { PathExistsError, type StorageError, storageError } from './errors.js';
import type { FileEntry, FileSystem } from './file-system.js';
import { giveLocal, localOwner } from './local-owner.js';
import { joinPath, parentPath, toLocalPath } from './location.js';

export interface LocalFileSystemOptions {
  /** false leaves out fsync, for tests and throw-away data. */
  readonly durable?: boolean;
}

/** Small writes are gathered up to this much before one system call takes them. */
const GATHER_BYTES = 1 << 18;
/** IOV_MAX on Linux is 1024. */
const GATHER_PARTS = 512;

/** The files of this machine. Reads are synchronous: a query engine's callbacks cannot wait. */
export function localFileSystem(options: LocalFileSystemOptions = {}): FileSystem {
  const durable = options.durable ?? true;

  async function syncDirectory(path: string): Promise<void> {
    if (!durable) return;
    const handle = await fs.open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  /** A new folder is durable once every folder that got a new entry was synced. */
  async function makeDirectories(path: string): Promise<void> {
    const firstMade = makeFolder(path);
    if (firstMade === undefined) return;
    for (let dir = path; dir.length >= firstMade.length; dir = parentPath(dir)) await syncDirectory(parentPath(dir));
  }

  return {
    async list(dir) {
      try {
        const local = toLocalPath(dir);
        const names = readdirSync(local).sort();
        const entries: FileEntry[] = [];
        for (const name of names) {
          const entry = statEntry(joinPath(local, name), joinPath(dir, name));
          if (entry !== undefined) entries.push(entry);
        }
        return entries;
      } catch (cause) {
        throw storageError('list', dir, cause);
      }
    },

    async stat(path) {
      try {
        return statEntry(toLocalPath(path), path);
      } catch (cause) {
        throw storageError('stat', path, cause);
      }
    },

    open: (path) => openLocal(path),

    async create(path) {
      const local = toLocalPath(path);
      try {
        await makeDirectories(parentPath(local));
        return localSink(path, local, openSync(local, 'wx'), durable, () => syncDirectory(parentPath(local)));
      } catch (cause) {
        throw storageError('create', path, cause);
      }
    },

    async mkdirs(path) {
      try {
        await makeDirectories(toLocalPath(path));
      } catch (cause) {
        throw storageError('make directory', path, cause);
      }
    },

    async delete(path, { recursive = false } = {}) {
      const local = toLocalPath(path);
      try {
        const there = statEntry(local, path);
        if (there === undefined) return false;
        if (there.isDirectory && !recursive) await fs.rmdir(local);
        else await fs.rm(local, { recursive, force: true });
        await syncDirectory(parentPath(local));
        return true;
      } catch (cause) {
        throw storageError('delete', path, cause);
      }
    },

    ownerOf: (path) => localOwner(path),
    giveTo: (path, owner) => giveLocal(path, owner),

    async rename(from, to) {
      const [source, target] = [toLocalPath(from), toLocalPath(to)];
      try {
        if (statEntry(target, to) !== undefined) throw new PathExistsError('rename to', to);
        await makeDirectories(parentPath(target));
        await fs.rename(source, target);
        await syncDirectory(parentPath(target));
        if (parentPath(source) !== parentPath(target)) await syncDirectory(parentPath(source));
      } catch (cause) {
        throw storageError('rename', from, cause);
      }
    },
  };
}

/**
 * Synchronous like reading: on local disks a stat takes microseconds, while a turn through libuv's thread pool takes a
 * tenth of a millisecond, and a table under small writes has hundreds of files.
 */
function statEntry(local: string, path: string): FileEntry | undefined {
  try {
    const stat = statSync(local, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    return {
      name: path.slice(path.lastIndexOf('/') + 1),
      path,
      isDirectory: stat.isDirectory(),
      sizeBytes: stat.isDirectory() ? 0 : stat.size,
      modifiedMs: Math.floor(stat.mtimeMs),
    };
  } catch (cause) {
    // Gone between the listing and here, or a file stands where a folder is named.
    if (storageError('stat', path, cause).code === 'NO_SUCH_PATH') return undefined;
    throw cause;
  }
}

function openLocal(path: string): ByteSource {
  let fd: number;
  let size: number;
  try {
    fd = openSync(toLocalPath(path), 'r');
  } catch (cause) {
    throw storageError('open', path, cause);
  }
  try {
    size = fstatSync(fd).size;
  } catch (cause) {
    closeSync(fd);
    throw storageError('open', path, cause);
  }
  let isOpen = true;
  return {
    path,
    size,
    slice(start, end) {
      const bytes = new Uint8Array(end - start);
      for (let filled = 0; filled < bytes.length; ) {
        const count = readRange(fd, bytes, filled, start + filled, path);
        // The file was cut after it was opened.
        if (count === 0) throw new CorruptFileError(path, start + filled, `ends before byte ${end}`);
        filled += count;
      }
      return bytes;
    },
    close() {
      if (isOpen) closeSync(fd);
      isOpen = false;
    },
  };
}

function readRange(fd: number, bytes: Uint8Array, at: number, position: number, path: string): number {
  try {
    return readSync(fd, bytes, at, bytes.length - at, position);
  } catch (cause) {
    throw storageError('read', path, cause);
  }
}

function localSink(
  path: string,
  local: string,
  fd: number,
  durable: boolean,
  syncParent: () => Promise<void>,
): ByteSink {
  let parts: Uint8Array[] = [];
  let pendingBytes = 0;
  let isOpen = true;
  /** After one failed write the file has a hole: it must never be closed as if it were whole. */
  let failure: StorageError | undefined;

  function flush(): void {
    if (failure !== undefined) throw failure;
    let rest = parts;
    parts = [];
    pendingBytes = 0;
    try {
      while (rest.length > 0) rest = withoutFirst(rest, writevSync(fd, rest));
    } catch (cause) {
      failure = storageError('write', path, cause);
      throw failure;
    }
  }

  return {
    path,
    write(bytes) {
      if (bytes.length === 0) return;
      parts.push(bytes);
      pendingBytes += bytes.length;
      if (pendingBytes >= GATHER_BYTES || parts.length >= GATHER_PARTS) flush();
    },
    async close() {
      if (!isOpen) return;
      flush();
      try {
        const handle = durable ? await fs.open(local, 'r') : undefined;
        try {
          // fsync acts on the file, whichever descriptor it is called with.
          await handle?.sync();
        } finally {
          await handle?.close();
        }
        isOpen = false;
        closeSync(fd);
        await syncParent();
      } catch (cause) {
        throw storageError('write', path, cause);
      }
    },
    async abort() {
      if (isOpen) closeSync(fd);
      isOpen = false;
      parts = [];
      await fs.rm(local, { force: true });
    },
  };
}

/** What is left of the parts after `count` bytes were taken. */
function withoutFirst(parts: Uint8Array[], count: number): Uint8Array[] {
  let at = 0;
  let left = count;
  while (at < parts.length && left >= parts[at].length) left -= parts[at++].length;
  return left === 0 ? parts.slice(at) : [parts[at].subarray(left), ...parts.slice(at + 1)];
}
