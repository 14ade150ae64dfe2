import { type ByteSink, memorySink, memorySource } from '@skep/core';
import { NoSuchPathError, PathExistsError, storageError } from './errors.js';
import type { FileEntry, FileSystem } from './file-system.js';
import { baseName, joinPath, parentPath, parseLocation } from './location.js';

interface MemoryNode {
  /** undefined: a folder. */
  bytes?: Uint8Array;
  modifiedMs: number;
}

/** Every change at a time of its own, without a clock. */
function ticks(): () => number {
  let tick = 0;
  return () => tick++;
}

/** Files in memory, for tests: the same answers and errors as the local file system. */
export function memoryFileSystem(now: () => number = ticks()): FileSystem {
  const nodes = new Map<string, MemoryNode>([['/', { modifiedMs: now() }]]);
  // Several schemes share one tree: tests use bare paths and file: URIs for the same file.
  const key = (path: string) => parseLocation(path).path;
  const childrenOf = (dir: string) => {
    const prefix = dir === '/' ? '/' : `${dir}/`;
    return [...nodes.keys()].filter((path) => path !== '/' && path.startsWith(prefix));
  };
  const entryOf = (node: MemoryNode, path: string): FileEntry => ({
    name: baseName(path),
    path,
    isDirectory: node.bytes === undefined,
    sizeBytes: node.bytes?.length ?? 0,
    modifiedMs: node.modifiedMs,
  });
  function makeDirectories(path: string): void {
    for (let dir = key(path); ; dir = parentPath(dir)) {
      const node = nodes.get(dir);
      if (node?.bytes !== undefined) throw storageError('make directory', path, { code: 'ENOTDIR' });
      if (node === undefined) nodes.set(dir, { modifiedMs: now() });
      if (dir === '/') return;
    }
  }

  return {
    async list(dir) {
      const node = nodes.get(key(dir));
      if (node === undefined) throw new NoSuchPathError('list', dir);
      if (node.bytes !== undefined) throw storageError('list', dir, { code: 'ENOTDIR' });
      const entries: FileEntry[] = [];
      for (const path of childrenOf(key(dir)).sort()) {
        const child = nodes.get(path);
        if (child && parentPath(path) === key(dir)) entries.push(entryOf(child, joinPath(dir, baseName(path))));
      }
      return entries;
    },
    async stat(path) {
      const node = nodes.get(key(path));
      return node && entryOf(node, path);
    },
    open(path) {
      const bytes = nodes.get(key(path))?.bytes;
      if (bytes === undefined) throw new NoSuchPathError('open', path);
      return memorySource(bytes, path);
    },
    async create(path): Promise<ByteSink> {
      if (nodes.has(key(path))) throw new PathExistsError('create', path);
      makeDirectories(parentPath(key(path)));
      const node: MemoryNode = { bytes: new Uint8Array(0), modifiedMs: now() };
      nodes.set(key(path), node);
      const sink = memorySink(path);
      return {
        path,
        write: (bytes) => sink.write(bytes),
        async close() {
          node.bytes = sink.bytes();
        },
        async abort() {
          nodes.delete(key(path));
        },
      };
    },
    async mkdirs(path) {
      makeDirectories(path);
    },
    async delete(path, { recursive = false } = {}) {
      const children = childrenOf(key(path));
      if (children.length > 0 && !recursive) throw storageError('delete', path, { code: 'ENOTEMPTY' });
      for (const child of children) nodes.delete(child);
      return nodes.delete(key(path));
    },
    async rename(from, to) {
      const node = nodes.get(key(from));
      if (node === undefined) throw new NoSuchPathError('rename', from);
      if (nodes.has(key(to))) throw new PathExistsError('rename to', to);
      makeDirectories(parentPath(key(to)));
      for (const path of [key(from), ...childrenOf(key(from))]) {
        const moved = nodes.get(path);
        if (moved) nodes.set(key(to) + path.slice(key(from).length), moved);
        nodes.delete(path);
      }
    },
  };
}
