import type { Clock } from '@skep/core';
import type { CatalogService, CompactionService, LockService, TransactionService } from '@skep/rpc';
import type { FileSystem } from '@skep/storage';

/** Who runs the statements: written into transactions and locks. */
export interface Identity {
  readonly user: string;
  readonly host: string;
  /** `skep:PID:START`, by which a dead holder is recognised. */
  readonly agentInfo: string;
}

/** What a session works with: the services by their contracts, in process or remote, and the files. */
export interface Services {
  readonly txns: TransactionService;
  readonly locks: LockService;
  readonly catalog: CatalogService;
  readonly compactions: CompactionService;
  readonly fs: FileSystem;
  readonly clock: Clock;
  /** The warehouse's folder, an absolute path or URI: databases are folders in it. */
  readonly warehouse: string;
  readonly identity: Identity;
  /** Tells a compactor in this process that there may be work. */
  readonly wakeCompactor?: () => void;
}
