export { type Answers, carryOutStep, type Lookup, type Step, type Writes, want } from './batch-step.js';
export { Batcher, type BatcherOptions, type Ending, type Settled, settled } from './batcher.js';
export { createTables, type IndexDefinition, insertFirst, type TableDefinition } from './create-tables.js';
export * from './database.js';
export { chunked, type Dialect, ID_CHUNK, idList } from './dialect.js';
export { DatabaseError, type DatabaseErrorCode } from './errors.js';
export { idsOf, insertNumbered, insertStatements, rowQueries } from './insert-rows.js';
export { openDatabase } from './open-database.js';
