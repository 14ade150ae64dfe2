import type { FileSystem } from './file-system.js';

/** The same files with some operations done in another way. */
export function layered(fs: FileSystem, methods: Partial<FileSystem>): FileSystem {
  return {
    list: (dir) => fs.list(dir),
    stat: (path) => fs.stat(path),
    open: (path) => fs.open(path),
    create: (path) => fs.create(path),
    mkdirs: (path) => fs.mkdirs(path),
    delete: (path, options) => fs.delete(path, options),
    rename: (from, to) => fs.rename(from, to),
    ...(fs.ownerOf === undefined ? {} : { ownerOf: (path) => fs.ownerOf?.(path) ?? Promise.resolve(undefined) }),
    ...(fs.giveTo === undefined ? {} : { giveTo: (path, owner) => fs.giveTo?.(path, owner) ?? Promise.resolve() }),
    ...methods,
  };
}
