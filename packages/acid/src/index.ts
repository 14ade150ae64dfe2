/** @module The file-format layer of Hive ACID tables: from a folder and a snapshot to rows, and back. */
export * from './compact/compaction.js';
export type { CompactionInput, CompactionResult } from './compact/compaction-input.js';
export {
  type CompactionDue,
  type CompactionThresholds,
  compactionDue,
  compactionThresholds,
  InvalidThresholdError,
} from './compact/due.js';
export { partsOf } from './compact/partial.js';
export { compactRebalance, type RebalanceInput } from './compact/rebalance.js';
export { type SortKey, UnsortableRowsError } from './compact/row-order.js';
export * from './layout/bucket-file-name.js';
export * from './layout/bucket-property.js';
export * from './layout/directory-name.js';
export { DeleteCache } from './read/delete-cache.js';
export * from './read/plan-splits.js';
export * from './read/read-table-dir.js';
export { ScanCounts } from './read/scan-counts.js';
export * from './read/scan-split.js';
export * from './read/scan-types.js';
export { keepSmallFiles } from './read/small-file-cache.js';
export type { UnseenRow } from './read/unseen-row.js';
export * from './read/upgrade-check.js';
export * from './state/acid-directory.js';
export * from './state/decide-acid-state.js';
export * from './state/get-acid-state.js';
export * from './write/bucket-hash.js';
export * from './write/delete-writer.js';
export * from './write/insert-writer.js';
export * from './write/table-dir.js';
export * from './write/write-types.js';
