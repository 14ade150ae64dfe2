import { BugError } from '@skep/core';
import type { TableUse } from '../analyze/query.js';
import { bindScanCalls } from '../emit/scan-call.js';
import type { HiveType } from '../types/hive-type.js';
import type { Connection, Duck } from './bindings.js';
import { appendVector, canAppend, fillVector } from './fill-vector.js';
import { DUCKDB_TYPE, logicalType } from './logical-type.js';
import type { ColumnBatch, ScanHandle, TableSource } from './table-source.js';

interface OpenUse {
  readonly handles: Set<ScanHandle>;
  readonly use: TableUse;
  readonly source: TableSource;
  readonly scan: RunningScan;
}
interface ScanState {
  readonly handle: ScanHandle;
  readonly handles: Set<ScanHandle>;
  /** Of the output chunk's columns, in order: which column of a batch, or -1 for one that only counts rows. */
  readonly types: readonly (HiveType | undefined)[];
  readonly scan: RunningScan;
  batch: ColumnBatch | undefined;
  isAtEnd: boolean;
  at: number;
}

/** The tables of one running query. */
export interface RunningScan {
  failure: unknown;
  bindIds(sql: string): string;
  end(): void;
}

/**
 * Our tables as one DuckDB table function, `skep_scan(id)`: DuckDB asks for its columns, then for rows of those columns that
 * the query needs, on the JavaScript thread.
 */
export class ScanRegistry {
  private readonly open = new Map<number, OpenUse>();
  private next = 1;

  constructor(
    private readonly duck: Duck,
    connection: Connection,
  ) {
    const fn = duck.create_table_function();
    duck.table_function_set_name(fn, 'skep_scan');
    duck.table_function_add_parameter(fn, duck.create_logical_type(DUCKDB_TYPE.bigint));
    duck.table_function_supports_projection_pushdown(fn, true);
    duck.table_function_set_bind(fn, (info) => {
      const id = Number(duck.get_int64(duck.bind_get_parameter(info, 0)));
      this.guard(
        this.open.get(id),
        (message) => duck.bind_set_error(info, message),
        (opened) => {
          for (const column of opened.use.columns) {
            duck.bind_add_result_column(info, column.name, logicalType(duck, column.type));
          }
          // A table function has at least one column.
          if (opened.use.columns.length === 0) {
            duck.bind_add_result_column(info, 'rows', duck.create_logical_type(DUCKDB_TYPE.boolean));
          }
          if (opened.source.estimatedRows !== undefined) {
            duck.bind_set_cardinality(info, Math.max(0, Math.floor(opened.source.estimatedRows)), false);
          }
          duck.bind_set_bind_data(info, opened);
        },
      );
    });
    duck.table_function_set_init(fn, (info) => {
      const opened = duck.init_get_bind_data(info) as OpenUse | undefined;
      this.guard(
        opened,
        (message) => duck.init_set_error(info, message),
        (found) => {
          const names: string[] = [];
          const types: (HiveType | undefined)[] = [];
          const count = duck.init_get_column_count(info);
          for (let i = 0; i < count; i++) {
            const column = found.use.columns[duck.init_get_column_index(info, i)];
            types.push(column?.type);
            if (column !== undefined) names.push(column.name);
          }
          duck.init_set_max_threads(info, 1);
          const handle = found.source.scan({ columns: names, predicate: found.use.predicate });
          const state: ScanState = {
            handle,
            types,
            handles: found.handles,
            scan: found.scan,
            batch: undefined,
            isAtEnd: false,
            at: 0,
          };
          found.handles.add(handle);
          duck.init_set_init_data(info, state);
        },
      );
    });
    duck.table_function_set_function(fn, (info, output) => {
      const state = duck.function_get_init_data(info) as ScanState | undefined;
      try {
        if (state === undefined) throw new BugError('a scan without state');
        this.fill(state, output);
      } catch (error) {
        if (state !== undefined) state.scan.failure = error;
        duck.function_set_error(info, error instanceof Error ? error.message : String(error));
      }
    });
    duck.register_table_function(connection, fn);
  }

  begin(uses: readonly TableUse[], sources: ReadonlyMap<TableUse, TableSource>): RunningScan {
    const first = this.next;
    this.next += uses.length;
    const scan: RunningScan = {
      failure: undefined,
      bindIds: (sql) => bindScanCalls(sql, first),
      end: () => {
        for (let i = 0; i < uses.length; i++) {
          // Scans that the query left before their end.
          for (const handle of this.open.get(first + i)?.handles ?? []) handle.close?.();
          this.open.delete(first + i);
        }
      },
    };
    uses.forEach((use, i) => {
      const source = sources.get(use);
      if (source === undefined) throw new BugError(`no source for ${use.database}.${use.name}`);
      this.open.set(first + i, { use, source, scan, handles: new Set() });
    });
    return scan;
  }

  private guard(
    opened: OpenUse | undefined,
    setError: (message: string) => void,
    work: (opened: OpenUse) => void,
  ): void {
    try {
      if (opened === undefined) throw new BugError('a scan of a query that has ended');
      work(opened);
    } catch (error) {
      if (opened !== undefined) opened.scan.failure = error;
      setError(error instanceof Error ? error.message : String(error));
    }
  }

  /** A whole chunk where rows can be had for it: what a chunk costs is mostly the way here and back. */
  private fill(state: ScanState, output: Parameters<Duck['data_chunk_set_size']>[0]): void {
    const { duck } = this;
    let filled = 0;
    let canGoOn = true;
    while (filled < VECTOR_SIZE && canGoOn) {
      const batch = currentBatch(state);
      if (batch === undefined) break;
      const appendable = batch.columns.every(canAppend);
      if (filled > 0 && !appendable) break;
      const { at } = state;
      const count = Math.min(VECTOR_SIZE - filled, batch.length - at);
      let column = 0;
      state.types.forEach((type, i) => {
        if (type === undefined) return;
        const vector = duck.data_chunk_get_vector(output, i);
        const source = batch.columns[column++];
        if (filled === 0) fillVector(duck, type, vector, source, at, count);
        else appendVector(duck, type, vector, source, at, count, filled);
      });
      state.at += count;
      filled += count;
      canGoOn = appendable;
    }
    duck.data_chunk_set_size(output, filled);
  }
}

/** The batch whose rows are next; undefined at the end of the scan, which is closed. */
function currentBatch(state: ScanState): ColumnBatch | undefined {
  while (!state.isAtEnd && (state.batch === undefined || state.at >= state.batch.length)) {
    state.batch = state.handle.next();
    state.at = 0;
    if (state.batch === undefined) {
      state.isAtEnd = true;
      state.handle.close?.();
      state.handles.delete(state.handle);
    }
  }
  return state.batch;
}

/** DuckDB's STANDARD_VECTOR_SIZE. */
const VECTOR_SIZE = 2048;
