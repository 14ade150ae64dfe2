export {
  bindService,
  type Connection,
  connect,
  type Server,
  type ServiceBinding,
  serve,
} from './bind.js';
export { type CallContext, currentCall, detached, withCallOptions } from './call-context.js';
export * from './errors.js';
export * from './gen/skep/v1/catalog.js';
export * from './gen/skep/v1/compaction.js';
export * from './gen/skep/v1/error.js';
export * from './gen/skep/v1/lock.js';
export * from './gen/skep/v1/transaction.js';
export * from './options.js';
