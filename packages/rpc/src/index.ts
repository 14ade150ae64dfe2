export * from './gen/skep/v1/catalog.js';
export * from './gen/skep/v1/compaction.js';
export * from './gen/skep/v1/lock.js';
export * from './gen/skep/v1/transaction.js';
