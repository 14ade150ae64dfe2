export * from './all-done.js';
export * from './bytes.js';
export * from './clock.js';
export * from './errors.js';
export * from './ids.js';
export * from './table-name.js';
export { isRangeAborted, isRangeValid, type RangeResponse, type ValidIds } from './valid-ids.js';
export * from './valid-txn-list.js';
export * from './valid-write-id-list.js';
