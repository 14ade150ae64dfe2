export { recoverAbandoned } from './abandoned.js';
export { Cleaner } from './cleaner.js';
export {
  type Compactor,
  type CompactorOptions,
  startCompactor,
  startWorkers,
  type WorkerOptions,
  type Workers,
} from './compactor.js';
export { type CompactorConf, DEFAULT_COMPACTOR_CONF } from './conf.js';
export type { CompactHow, CompactionFiles } from './files/compaction-files.js';
export {
  type Act,
  type ActionCaller,
  COMPACTION_ACTIONS,
  type CompactionAction,
  compactionActions,
  remoteCompactionFiles,
} from './files/flight-actions.js';
export { localCompactionFiles } from './files/local-compaction-files.js';
export { Initiator } from './initiator.js';
export {
  decideCompactionType,
  isAutoCompactionOff,
  isFirstLoadPending,
  isToRetry,
  mustRest,
  type PastCompaction,
} from './initiator-decision.js';
export { CompactorMeter } from './meter.js';
export { stateName } from './queue/codes.js';
export { CompactionQueue, type CompactionQueueOptions } from './queue/compaction-queue.js';
export { type DeltaCountOptions, DeltaCounts } from './queue/delta-counts.js';
export { compactionFigures } from './queue/figures.js';
export type { HistoryRetention } from './queue/history.js';
export { compactorMigrations } from './queue/migrations.js';
export { forgetCompactions, renameCompactions } from './queue/names.js';
export type { CompactorServices } from './services.js';
export { Worker } from './worker.js';
export type { WorkerServices } from './worker-services.js';
