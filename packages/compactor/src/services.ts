import type { Clock } from '@skep/core';
import type { CatalogService, CompactionService, LockService, TransactionService } from '@skep/rpc';
import type { FileSystem } from '@skep/storage';
import type { CompactorConf } from './conf.js';

/** What Initiator, Worker and Cleaner work with: services by their contracts, and files. */
export interface CompactorServices {
  readonly txns: TransactionService;
  readonly locks: LockService;
  readonly catalog: CatalogService;
  readonly compactions: CompactionService;
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly conf: CompactorConf;
  readonly user: string;
  readonly host: string;
  /** `skep:PID:START`, by which a dead holder is recognised. */
  readonly agentInfo: string;
  readonly version: string;
  /** What went wrong in the background, one line each. */
  readonly log: (message: string) => void;
}
