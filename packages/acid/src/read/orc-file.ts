import { type ByteSource, CorruptFileError } from '@skep/core';
import { type OrcBatch, type OrcReader, openOrc, openOrcSync, type ReadOptions } from '@skep/orc';
import type { FileSystem } from '@skep/storage';
import type { ScanCounts } from './scan-counts.js';
import { cacheKey, smallFileCache } from './small-file-cache.js';
import { type Ask, ask, MustWaitError } from './steps.js';

/** What is needed to open a data file. */
export interface FileToOpen {
  readonly path: string;
  readonly flushLengthPath?: string | undefined;
  /** As listed; with the time it lets a small file be kept for the next statement. */
  readonly sizeBytes?: number;
  readonly modifiedMs?: number;
}

/** An open ORC file; `reader` is undefined while a writer has flushed nothing yet. */
export interface OrcFile {
  readonly path: string;
  readonly reader: OrcReader | undefined;
  close(): void;
}

/** Opens a file up to the length that its side file allows. `counts` learns of the bytes that were read when it is closed. */
export function* openOrcFile(fs: FileSystem, file: FileToOpen, counts?: ScanCounts): Generator<Ask, OrcFile, unknown> {
  const orc = yield* openUncounted(fs, file, counts);
  if (counts === undefined || orc.isKept) return orc;
  return {
    ...orc,
    close: () => {
      counts.bytes += orc.reader?.bytesRead ?? 0;
      orc.close();
    },
  };
}

/** `isKept`: its bytes are in memory, whoever asks for them. */
function* openUncounted(
  fs: FileSystem,
  file: FileToOpen,
  counts: ScanCounts | undefined,
): Generator<Ask, OrcFile & { readonly isKept: boolean }, unknown> {
  const cache = smallFileCache(fs);
  const key = cache === undefined ? undefined : cacheKey(file);
  const cached = key === undefined ? undefined : cache?.get(key);
  if (cached !== undefined) return { path: file.path, reader: cached, isKept: true, close: () => {} };
  const length = file.flushLengthPath === undefined ? undefined : yield* readFlushLength(fs, file.flushLengthPath);
  const whole = yield* openSource(fs, file.path);
  const close = () => void whole.close?.();
  if (length === 0 || whole.size === 0) return { path: file.path, reader: undefined, isKept: false, close };
  try {
    if (cache !== undefined && key !== undefined && whole.size === file.sizeBytes) {
      const content = Uint8Array.from(yield* readAll(whole));
      close();
      if (counts !== undefined) counts.bytes += content.length;
      return { path: file.path, reader: cache.put(key, whole.path, content), isKept: true, close: () => {} };
    }
    const source = length === undefined ? whole : cutSource(whole, length);
    const reader = yield* ask(
      () => openOrcSync(source),
      () => openOrc(source),
    );
    return { path: file.path, reader, isKept: false, close };
  } catch (cause) {
    close();
    throw cause;
  }
}

function* openSource(fs: FileSystem, path: string): Generator<Ask, ByteSource, unknown> {
  return yield* ask(
    () => {
      const source = fs.open(path);
      if (source instanceof Promise) throw new MustWaitError(path);
      return source;
    },
    async () => fs.open(path),
  );
}

function* readAll(source: ByteSource): Generator<Ask, Uint8Array, unknown> {
  const read = () => source.slice(0, source.size);
  return yield* ask(
    () => {
      const answer = read();
      if (answer instanceof Promise) throw new MustWaitError(source.path);
      return answer;
    },
    async () => read(),
  );
}

/** OrcAcidUtils.getLastFlushLength: big-endian longs, the last whole one counts. */
function* readFlushLength(fs: FileSystem, path: string): Generator<Ask, number, unknown> {
  const source = yield* openSource(fs, path);
  try {
    const end = source.size - (source.size % 8);
    if (end === 0) return 0;
    const read = () => source.slice(end - 8, end);
    const bytes = yield* ask(
      () => {
        const answer = read();
        if (answer instanceof Promise) throw new MustWaitError(path);
        return answer;
      },
      async () => read(),
    );
    return Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigInt64(0));
  } finally {
    void source.close?.();
  }
}

/** The first bytes of a file: its listed length says nothing while it is being written. */
function cutSource(source: ByteSource, length: number): ByteSource {
  if (length > source.size) {
    throw new CorruptFileError(source.path, source.size, `its side file promises ${length} bytes`);
  }
  return { path: source.path, size: length, slice: (start, end) => source.slice(start, end) };
}

/** Pulls batches in either way. */
export class BatchCursor {
  private now: Iterator<OrcBatch> | undefined;
  private later: AsyncIterator<OrcBatch> | undefined;

  constructor(
    private readonly reader: OrcReader,
    private readonly options: ReadOptions,
  ) {}

  /** The next batch; undefined at the end. */
  *next(): Generator<Ask, OrcBatch | undefined, unknown> {
    const result = yield* ask(
      () => {
        this.now ??= this.reader.batchesSync(this.options)[Symbol.iterator]();
        return this.now.next();
      },
      () => {
        this.later ??= this.reader.batches(this.options)[Symbol.asyncIterator]();
        return this.later.next();
      },
    );
    return result.done ? undefined : result.value;
  }
}
