import type { Clock, idle } from '@skep/core';
import type { CatalogService, CompactionService, LockService, TransactionService } from '@skep/rpc';
import type { Logger } from '@skep/telemetry';
import type { CompactorConf } from './conf.js';
import type { CompactionFiles } from './files/compaction-files.js';
import type { CompactorMeter } from './meter.js';

/** What Workers work with: services by their contracts, and what they ask of files. */
export interface WorkerServices {
  readonly txns: TransactionService;
  readonly locks: LockService;
  readonly catalog: CatalogService;
  readonly compactions: CompactionService;
  readonly files: CompactionFiles;
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
  /** How it waits between two heartbeats; absent: by real time. (The simulation has a time of its own.) */
  readonly idle?: typeof idle;
}
