import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ByteSink, ByteSource } from '@skep/core';
import type { CompactFolderProgress } from '@skep/rpc';
import { type FileSystem, layered } from '@skep/storage';

/** After so much was read or written, whatever else waits in this process has a turn: local files never wait themselves. */
const TURN_BYTES = 1 << 20;

/** The same files; what is read and written is told as it comes. */
export function observed(fs: FileSystem, onProgress: (progress: CompactFolderProgress) => void): FileSystem {
  let bytesRead = 0n;
  let bytesWritten = 0n;
  let sinceTurn = 0;
  const turn = (bytes: number): Promise<void> | undefined => {
    onProgress({ bytesRead, bytesWritten });
    sinceTurn += bytes;
    if (sinceTurn < TURN_BYTES) return undefined;
    sinceTurn = 0;
    return nextTurn();
  };
  const source = (inner: ByteSource): ByteSource => ({
    path: inner.path,
    size: inner.size,
    slice(start, end) {
      bytesRead += BigInt(end - start);
      const free = turn(end - start);
      return free === undefined ? inner.slice(start, end) : free.then(() => inner.slice(start, end));
    },
    close: () => inner.close?.(),
  });
  const sink = (inner: ByteSink): ByteSink => ({
    path: inner.path,
    write(bytes) {
      const { length } = bytes;
      bytesWritten += BigInt(length);
      const written = inner.write(bytes);
      const free = turn(length);
      return free === undefined ? written : Promise.all([written, free]).then(() => undefined);
    },
    close: () => inner.close(),
    abort: () => inner.abort(),
  });
  return layered(fs, {
    open(path) {
      const opened = fs.open(path);
      return opened instanceof Promise ? opened.then(source) : source(opened);
    },
    create: async (path) => sink(await fs.create(path)),
  });
}
