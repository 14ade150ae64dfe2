import type {
  CompactFolderProgress,
  CompactFolderRequest,
  CompactFolderResult,
  DiscardCompactionRequest,
  FolderOwnerRequest,
} from '@skep/rpc';

export interface CompactHow {
  /** Aborted: the work stops, and nothing of it stays. */
  readonly signal: AbortSignal;
  /** Told of bytes as they are read and written. */
  readonly onProgress?: ((progress: CompactFolderProgress) => void) | undefined;
}

/**
 * All that a Worker needs of the files of a table or partition. What a compaction may do, when, and for whom is decided by the
 * Worker; which files there are, what can be made of them and how is the file-format layer's, which is behind this: in this
 * process (`localCompactionFiles`), or where the data is (`remoteCompactionFiles`). The messages are those of
 * proto/skep/v1/files.proto; so are the errors.
 */
export interface CompactionFiles {
  /** The user whose folder it is; undefined: there is none, or its store knows no users. */
  ownerOf(request: FolderOwnerRequest): Promise<string | undefined>;
  /**
   * Looks what there is by the snapshot, and writes what a compaction makes of it into folders that its transaction names.
   * `resume` is for adapters only: a Worker never sets it.
   */
  compact(request: CompactFolderRequest, how: CompactHow): Promise<CompactFolderResult>;
  /** All that an aborted transaction wrote into the folder goes. */
  discard(request: DiscardCompactionRequest): Promise<void>;
}
