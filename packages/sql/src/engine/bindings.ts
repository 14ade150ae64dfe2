import type * as Bindings from '@duckdb/node-bindings';

/** DuckDB's C API as the Node package gives it. Loaded at the first query: it costs some 300 ms. */
export type Duck = typeof Bindings;
export type { Connection, Database, DataChunk, LogicalType, Vector } from '@duckdb/node-bindings';

let loaded: Promise<Duck> | undefined;

export function loadDuck(): Promise<Duck> {
  loaded ??= import('@duckdb/node-bindings').then((module) => {
    const candidate = module as unknown as Duck & { default?: Duck };
    return candidate.default ?? candidate;
  });
  return loaded;
}
