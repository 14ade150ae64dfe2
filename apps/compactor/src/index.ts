/** @module Compaction Workers in a process of their own, for a metastore that is elsewhere. */
export { type CompactorWorker, type CompactorWorkerOptions, startCompactorWorker } from './start-compactor-worker.js';
