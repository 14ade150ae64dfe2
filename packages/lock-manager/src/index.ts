export { DEFAULT_LOCK_CONF, type LockConf } from './conf.js';
export { lockFigures } from './figures.js';
export { type LocalTxns, LockManager, type LockManagerOptions } from './lock-manager.js';
export { releaseStatements } from './lock-table.js';
export { lockMigrations } from './migrations.js';
export { renameLocks } from './rename-locks.js';
