import type { FileSystem } from '@skep/storage';
import type { DeltaCounts } from './queue/delta-counts.js';
import type { WorkerServices } from './worker-services.js';

/** What Initiator and Cleaner work with, too: they look at the folders themselves. */
export interface CompactorServices extends WorkerServices {
  readonly fs: FileSystem;
  /** Where the queue's database is at hand. */
  readonly deltaCounts?: DeltaCounts | undefined;
}
