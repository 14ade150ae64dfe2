export { parseAddress } from './address.js';
export {
  type AnyServiceDefinition,
  bindService,
  type ImplementationOf,
  type ServiceBinding,
  type ServiceDefinition,
  type ServiceOf,
} from './bind.js';
export { type CallContext, currentCall, currentCallOptions, detached, withCallOptions } from './call-context.js';
export { type ClientOf, type Connection, connect } from './connect.js';
export { assertSafeToListen } from './credentials.js';
export * from './errors.js';
export * from './gen/skep/v1/catalog.js';
export * from './gen/skep/v1/compaction.js';
export * from './gen/skep/v1/error.js';
export * from './gen/skep/v1/files.js';
export * from './gen/skep/v1/lock.js';
export * from './gen/skep/v1/transaction.js';
export * from './options.js';
export { type Server, serve } from './serve.js';
export { readTokenTable, type TokenTable } from './token-table.js';
