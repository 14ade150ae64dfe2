/** @module The file-format layer of Hive ACID tables: from a folder and a snapshot to rows, and back. */
export * from './compact/compaction.js';
export type { CompactionInput, CompactionResult } from './compact/compaction-input.js';
export * from './layout/bucket-file-name.js';
export * from './layout/bucket-property.js';
export * from './layout/directory-name.js';
export { DeleteCache } from './read/deletes.js';
export * from './read/plan-splits.js';
export * from './read/read-table-dir.js';
export * from './read/scan-split.js';
export * from './read/scan-types.js';
export * from './state/acid-directory.js';
export * from './state/decide-acid-state.js';
export * from './state/get-acid-state.js';
export * from './write/bucket-hash.js';
export * from './write/delete-writer.js';
export * from './write/insert-writer.js';
export * from './write/table-dir.js';
export * from './write/write-types.js';
