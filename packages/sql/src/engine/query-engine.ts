import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SkepError } from '@skep/core';
import type { StructVector } from '@skep/orc';
import type { AnalyzedQuery, OutputColumn, TableUse } from '../analyze/query.js';
import { macrosFor } from '../emit/macros.js';
import { type Connection, type Database, type Duck, loadDuck } from './bindings.js';
import { readVector } from './read-vector.js';
import { ScanRegistry } from './scan-function.js';
import type { TableSource } from './table-source.js';
import { registerUdf } from './udf.js';

/** A query that failed while it ran; `cause` is what a table's source threw, where that was the reason. */
export class QueryExecutionError extends SkepError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('QUERY_EXECUTION', 'invalid', message, { sqlState: '08S01', ...options });
  }
}

export interface RunOptions {
  /** The rows of a table in the query's snapshot. Called once a use, before the query starts. */
  readonly openTable: (use: TableUse) => TableSource | Promise<TableSource>;
  readonly signal?: AbortSignal | undefined;
}

export interface QueryResult {
  readonly columns: readonly OutputColumn[];
  /** To be consumed once; ending the iteration early ends the query. */
  readonly batches: AsyncIterable<StructVector>;
}

/**
 * Parameters of the engine, all optional: skep.query.memory.limit (as DuckDB's memory_limit), skep.query.threads,
 * skep.query.temp.directory.
 */
export interface EngineSettings {
  get(name: string): string | undefined;
}

/** Runs analyzed queries on an embedded DuckDB, which starts with the first query. Several may run at once. */
export class QueryEngine {
  private instance: Promise<Instance> | undefined;

  constructor(private readonly settings: EngineSettings = { get: () => undefined }) {}

  /** Loads DuckDB ahead of the first query. */
  async warm(): Promise<void> {
    await this.open();
  }

  async run(analyzed: AnalyzedQuery, options: RunOptions): Promise<QueryResult> {
    options.signal?.throwIfAborted();
    const instance = await this.open();
    const sources = new Map<TableUse, TableSource>();
    for (const use of analyzed.tables) sources.set(use, await options.openTable(use));
    return { columns: analyzed.columns, batches: instance.execute(analyzed, sources, options.signal) };
  }

  async close(): Promise<void> {
    const opened = this.instance;
    this.instance = undefined;
    (await opened)?.close();
  }

  private open(): Promise<Instance> {
    this.instance ??= Instance.open(this.settings);
    return this.instance;
  }
}

class Instance {
  private readonly macros = new Set<string>();
  private readonly udfs = new Set<string>();
  private readonly idle: Connection[] = [];
  private failure: unknown;

  private constructor(
    private readonly duck: Duck,
    private readonly database: Database,
    private readonly tempDirectory: string | undefined,
    private readonly scans: ScanRegistry,
  ) {}

  static async open(settings: EngineSettings): Promise<Instance> {
    const duck = await loadDuck();
    const configured = settings.get('skep.query.temp.directory');
    const tempDirectory = configured ?? join(tmpdir(), `skep-query-${process.pid}`);
    const config = duck.create_config();
    const memoryLimit = settings.get('skep.query.memory.limit');
    if (memoryLimit !== undefined && memoryLimit !== '') duck.set_config(config, 'memory_limit', memoryLimit);
    const threads = settings.get('skep.query.threads');
    if (threads !== undefined && threads !== '') duck.set_config(config, 'threads', threads);
    duck.set_config(config, 'temp_directory', tempDirectory);
    duck.set_config(config, 'autoinstall_known_extensions', 'false');
    duck.set_config(config, 'autoload_known_extensions', 'false');
    const database = await duck.open(':memory:', config);
    const connection = await duck.connect(database);
    const scans = new ScanRegistry(duck, connection);
    const instance = new Instance(duck, database, configured === undefined ? tempDirectory : undefined, scans);
    instance.idle.push(connection);
    return instance;
  }

  close(): void {
    for (const connection of this.idle.splice(0)) this.duck.disconnect_sync(connection);
    this.duck.close_sync(this.database);
    if (this.tempDirectory !== undefined) rmSync(this.tempDirectory, { recursive: true, force: true });
  }

  async *execute(
    analyzed: AnalyzedQuery,
    sources: ReadonlyMap<TableUse, TableSource>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<StructVector> {
    const { duck } = this;
    const connection = this.idle.pop() ?? (await duck.connect(this.database));
    const onAbort = () => duck.interrupt(connection);
    signal?.addEventListener('abort', onAbort, { once: true });
    const scan = this.scans.begin(analyzed.tables, sources);
    this.failure = undefined;
    try {
      await this.prepareFunctions(connection, analyzed);
      const statement = await duck.prepare(connection, scan.bindIds(analyzed.sql));
      try {
        const result = await duck.execute_prepared_streaming(statement);
        for (;;) {
          signal?.throwIfAborted();
          const chunk = await duck.fetch_chunk(result);
          if (chunk === null || chunk === undefined) break;
          const length = duck.data_chunk_get_size(chunk);
          if (length === 0) break;
          yield {
            kind: 'struct',
            length,
            fieldNames: analyzed.columns.map((column) => column.name),
            children: analyzed.columns.map((column, i) =>
              readVector(duck, column.type, duck.data_chunk_get_vector(chunk, i), length),
            ),
          };
        }
      } finally {
        duck.destroy_prepare_sync(statement);
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw this.asExecutionError(error, scan.failure ?? this.failure);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      scan.end();
      this.idle.push(connection);
    }
  }

  /** Macros and functions are made when a query first needs them: starting must be quick. */
  private async prepareFunctions(connection: Connection, analyzed: AnalyzedQuery): Promise<void> {
    for (const udf of analyzed.udfs) {
      if (this.udfs.has(udf.sqlName)) continue;
      registerUdf(this.duck, connection, udf, (error) => {
        this.failure = error;
      });
      this.udfs.add(udf.sqlName);
    }
    for (const [name, sql] of macrosFor(analyzed.sql)) {
      if (this.macros.has(name)) continue;
      await this.duck.query(connection, sql);
      this.macros.add(name);
    }
  }

  private asExecutionError(error: unknown, cause: unknown): unknown {
    if (cause instanceof SkepError) return cause;
    if (error instanceof SkepError) return error;
    const message = cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error);
    return new QueryExecutionError(message, { cause: cause ?? error });
  }
}
