import type { ByteSink, ByteSource } from '@skep/core';

/** What a listing tells of one file or folder. */
export interface FileEntry {
  /** Last element of the path. */
  readonly name: string;
  /** In the form the caller used: an absolute path or a URI. */
  readonly path: string;
  readonly isDirectory: boolean;
  /** 0 for folders. */
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** A user by name, as the store knows it. */
export interface FileOwner {
  readonly user: string;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Where table files live. Paths are absolute (`/a/b`) or URIs as Hive stores locations (`file:/a/b`), see location.ts.
 * Errors are StorageError and its subclasses, naming the path and the cause.
 */
export interface FileSystem {
  /** Children of a folder sorted by name (UTF-16 order, as Java sorts); NoSuchPathError where there is none. */
  list(dir: string): Promise<FileEntry[]>;
  stat(path: string): Promise<FileEntry | undefined>;
  /** Local files and memory answer at once, object stores later. */
  open(path: string): ByteSource | Promise<ByteSource>;
  /**
   * A new file, folders above it made as needed; PathExistsError if it is there already. Written in place, without a
   * temporary name: the metastore's commit decides what is visible, never a rename. Durable after `close`.
   */
  create(path: string): Promise<ByteSink>;
  mkdirs(path: string): Promise<void>;
  /** Whether something was there. A folder with children only goes with `recursive`. */
  delete(path: string, options?: { recursive?: boolean }): Promise<boolean>;
  /** Within one store; PathExistsError if the target is there. */
  rename(from: string, to: string): Promise<void>;
  /** Whose it is; undefined where nothing is there. Only stores that know users have these two. */
  ownerOf?(path: string): Promise<FileOwner | undefined>;
  /** Gives a file, or a folder with all in it, to a user, where this process may; elsewhere all stays as it is. */
  giveTo?(path: string, owner: FileOwner): Promise<void>;
}
