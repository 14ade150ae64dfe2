export { ABORT_REASONS, AbortReason } from './abort-reason.js';
export { DEFAULT_TXN_CONF, type TxnConf } from './conf.js';
export { type TxnFigureOptions, type TxnTotals, transactionFigures } from './figures.js';
export { currentAgentInfo, isHolderAlive } from './holder.js';
export { txnMigrations } from './migrations.js';
export { forgetResource, renameResource } from './resources.js';
export { TxnManager, type TxnManagerOptions } from './txn-manager.js';
export { requireOpen } from './txn-state.js';
