export { DEFAULT_LOCK_CONF, type LockConf } from './conf.js';
export { lockFigures } from './figures.js';
export { LockManager, type LockManagerOptions } from './lock-manager.js';
export { lockMigrations } from './migrations.js';
