/**
 * HiveQL queries: analysis (names, types, Hive's errors), DuckDB SQL, execution, and Hive's text of results.
 *
 *     const analyzed = await analyzeQuery(ast, context);
 *     const engine = new QueryEngine(conf);
 *     const result = await engine.run(analyzed, { openTable: (use) => source });
 *     for await (const batch of result.batches) …   // StructVector
 */

export { castColumns } from './analyze/assign.js';
export {
  type AnalysisContext,
  type AnalyzedQuery,
  analyzeQuery,
  type ColumnInfo,
  type OutputColumn,
  type ResolvedTable,
  type TableUse,
} from './analyze/query.js';
export { QueryEngine, type QueryResult, type RunOptions } from './engine/query-engine.js';
export type { ColumnBatch, ScanHandle, ScanRequest, TableSource } from './engine/table-source.js';
export { QueryError } from './expressions/errors.js';
export { allFunctions, functionNames } from './functions/registry.js';
export { formatRow, formatValue } from './text/format-value.js';
export * from './types/hive-type.js';
export { fromTypeDescription, toTypeDescription } from './types/orc-type.js';
