import type { Clock } from '@skep/core';
import type { CatalogService, CompactionService, LockService, TransactionService } from '@skep/rpc';
import type { FileSystem } from '@skep/storage';
import type { Logger } from '@skep/telemetry';
import type { CompactorConf } from './conf.js';
import type { CompactorMeter } from './meter.js';
import type { DeltaCounts } from './queue/delta-counts.js';

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
  /** What is done in the background, and what goes wrong. */
  readonly log: Logger;
  readonly meter: CompactorMeter;
  /** Where the queue's database is at hand. */
  readonly deltaCounts?: DeltaCounts | undefined;
}
