import type { ByteSink } from '@skep/core';
import { type FileSystem, StorageError } from '@skep/storage';
import type { Faults } from './faults.js';
import type { SimProcess } from './sim-process.js';

/** The shared files as one process sees them: every operation is a step, and may fail. */
export function processFiles(process: SimProcess, files: FileSystem, faults: Faults): FileSystem {
  const act = async <T>(operation: string, path: string, run: () => Promise<T>): Promise<T> => {
    await process.step(`${operation} ${path}`);
    if (process.sim.random.chance(faults.files)) {
      process.sim.note(process.name, `FAILS: ${operation} ${path}`);
      throw new StorageError('STORAGE', 'unavailable', operation, path, 'injected');
    }
    return await process.hear(run());
  };
  return {
    list: (dir) => act('list', dir, () => files.list(dir)),
    stat: (path) => act('stat', path, () => files.stat(path)),
    open: (path) => act('open', path, async () => await files.open(path)),
    mkdirs: (path) => act('mkdirs', path, () => files.mkdirs(path)),
    delete: (path, options) => act('delete', path, () => files.delete(path, options)),
    rename: (from, to) => act('rename', from, () => files.rename(from, to)),
    async create(path): Promise<ByteSink> {
      const sink = await act('create', path, () => files.create(path));
      return {
        path,
        async write(bytes) {
          if (process.isAlive) await sink.write(bytes);
          process.burn();
          await process.hear(Promise.resolve());
        },
        close: () => act('close', path, () => sink.close()),
        abort: () => act('abort', path, () => sink.abort()),
      };
    },
  };
}
