import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ByteSink, CorruptFileError } from '@skep/core';
import { type FileSystem, parseLocation } from '@skep/storage';
import { footerWithoutInt96 } from './int96.js';

/** A file as DuckDB can open it, by a path of this machine. */
export interface LocalFile {
  readonly path: string;
  /** Removes it if it is a copy. */
  dispose(): void;
}

export interface RemoteFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

const partBytes = 1 << 20;

export const temporaryPath = (): string => join(tmpdir(), `skep-${process.pid}-${randomUUID()}.parquet`);

/** The file itself where the file system's path is one of this machine, otherwise a copy. */
export async function localFile(fs: FileSystem, file: RemoteFile): Promise<LocalFile> {
  const { scheme, path } = parseLocation(file.path);
  if (scheme === 'file') {
    // Tests have file systems in memory whose paths look local: only a file of the same size and time is the one.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.size === file.sizeBytes && Math.floor(found.mtimeMs) === file.modifiedMs) {
      return { path, dispose: () => {} };
    }
  }
  return await copyOf(fs, file, (source) => source);
}

/** A copy whose INT96 columns DuckDB gives as bytes. */
export async function withoutInt96(fs: FileSystem, file: RemoteFile): Promise<LocalFile> {
  return await copyOf(fs, file, (footer) => footerWithoutInt96(footer, file.path));
}

async function copyOf(
  fs: FileSystem,
  file: RemoteFile,
  changeFooter: (footer: Uint8Array) => Uint8Array,
): Promise<LocalFile> {
  const source = await fs.open(file.path);
  const copy = temporaryPath();
  const fd = openSync(copy, 'wx');
  const dispose = () => rmSync(copy, { force: true });
  try {
    const { size } = source;
    const tail = size < 12 ? new Uint8Array(8) : await source.slice(size - 8, size);
    const view = new DataView(tail.buffer, tail.byteOffset, 8);
    const footerStart = size - 8 - view.getUint32(0, true);
    if (String.fromCharCode(...tail.subarray(4)) !== 'PAR1' || footerStart < 4) {
      throw new CorruptFileError(file.path, Math.max(0, size - 8), 'not a Parquet file');
    }
    for (let at = 0; at < footerStart; at += partBytes) {
      writeSync(fd, await source.slice(at, Math.min(footerStart, at + partBytes)));
    }
    const footer = changeFooter(await source.slice(footerStart, size - 8));
    const end = new Uint8Array(8);
    end.set(tail);
    new DataView(end.buffer).setUint32(0, footer.length, true);
    writeSync(fd, footer);
    writeSync(fd, end);
    return { path: copy, dispose };
  } catch (cause) {
    dispose();
    throw cause;
  } finally {
    closeSync(fd);
    await source.close?.();
  }
}

/** Sends a local file's bytes into a sink. */
export async function sendFile(path: string, sink: ByteSink): Promise<void> {
  const fd = openSync(path, 'r');
  try {
    for (;;) {
      const part = new Uint8Array(partBytes);
      const count = readSync(fd, part);
      if (count === 0) return;
      await sink.write(part.subarray(0, count));
    }
  } finally {
    closeSync(fd);
  }
}
