import { type ErrorKind, SkepError } from '@skep/core';

/** A file operation failed; `code` says how, `path` and `operation` on what. */
export class StorageError extends SkepError {
  readonly path: string;
  readonly operation: string;

  constructor(code: string, kind: ErrorKind, operation: string, path: string, why: string, cause?: unknown) {
    super(code, kind, `cannot ${operation} ${path}: ${why}`, { cause });
    this.path = path;
    this.operation = operation;
  }
}

export class NoSuchPathError extends StorageError {
  constructor(operation: string, path: string, cause?: unknown) {
    super('NO_SUCH_PATH', 'invalid', operation, path, 'no such file or directory', cause);
  }
}

export class PathExistsError extends StorageError {
  constructor(operation: string, path: string, cause?: unknown) {
    super('PATH_EXISTS', 'conflict', operation, path, 'it exists already', cause);
  }
}

/** The store is full: the caller's statement fails, another time it may not. */
export class NoSpaceError extends StorageError {
  constructor(operation: string, path: string, cause?: unknown) {
    super('NO_SPACE', 'unavailable', operation, path, 'no space left on the device', cause);
  }
}

export class ReadOnlyStorageError extends StorageError {
  constructor(operation: string, path: string, cause?: unknown) {
    super('READ_ONLY_STORAGE', 'unavailable', operation, path, 'the file system is read-only', cause);
  }
}

/** A rename between two stores (disks, file systems): only a copy gets there. */
export class OtherStoreError extends StorageError {
  constructor(operation: string, path: string, cause?: unknown) {
    super('OTHER_STORE', 'invalid', operation, path, 'source and target lie on different file systems', cause);
  }
}

/** Node's system errors as ours. */
export function storageError(operation: string, path: string, cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : undefined;
  switch (code) {
    case 'ENOENT':
      return new NoSuchPathError(operation, path, cause);
    case 'EEXIST':
      return new PathExistsError(operation, path, cause);
    case 'ENOSPC':
    case 'EDQUOT':
      return new NoSpaceError(operation, path, cause);
    case 'EXDEV':
      return new OtherStoreError(operation, path, cause);
    case 'EROFS':
      return new ReadOnlyStorageError(operation, path, cause);
    case 'EACCES':
    case 'EPERM':
      return new StorageError('ACCESS_DENIED', 'unavailable', operation, path, 'permission denied', cause);
    case 'ENOTEMPTY':
      return new StorageError('NOT_EMPTY', 'invalid', operation, path, 'the directory is not empty', cause);
    case 'ENOTDIR':
      return new StorageError('NOT_A_DIRECTORY', 'invalid', operation, path, 'not a directory', cause);
    case 'EISDIR':
      return new StorageError('IS_A_DIRECTORY', 'invalid', operation, path, 'it is a directory', cause);
    default: {
      const why = cause instanceof Error ? cause.message : String(cause);
      return new StorageError('STORAGE', 'unavailable', operation, path, why, cause);
    }
  }
}
