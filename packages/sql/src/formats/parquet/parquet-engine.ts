import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ColumnVector, type VectorValue, vectorValue } from '@skep/orc';
import { type Connection, type Database, type Duck, loadDuck } from '../../engine/bindings.js';
import { readVector } from '../../engine/read-vector.js';
import { type HiveType, STRING } from '../../types/hive-type.js';

interface SharedDatabase {
  readonly duck: Duck;
  readonly database: Database;
  readonly spillDirectory: string;
}
let shared: { readonly opening: Promise<SharedDatabase>; users: number } | undefined;

async function openShared(): Promise<SharedDatabase> {
  const duck = await loadDuck();
  const spillDirectory = join(tmpdir(), `skep-parquet-${process.pid}-${randomUUID()}`);
  const config = duck.create_config();
  duck.set_config(config, 'temp_directory', spillDirectory);
  duck.set_config(config, 'autoinstall_known_extensions', 'false');
  duck.set_config(config, 'autoload_known_extensions', 'false');
  return { duck, database: await duck.open(':memory:', config), spillDirectory };
}

/**
 * A connection to a DuckDB for Parquet files only: the query engine's runs our callbacks and cannot be asked from inside
 * them. The database is one for all users, closed with the last; a connection is nobody else's, because a new query on
 * it ends the results of the one before.
 */
export class ParquetEngine {
  private constructor(
    readonly duck: Duck,
    readonly connection: Connection,
  ) {}

  static async acquire(): Promise<ParquetEngine> {
    shared ??= { opening: openShared(), users: 0 };
    shared.users++;
    try {
      const { duck, database } = await shared.opening;
      const connection = await duck.connect(database);
      await duck.query(connection, "SET TimeZone = 'UTC'");
      return new ParquetEngine(duck, connection);
    } catch (cause) {
      await leave();
      throw cause;
    }
  }

  async release(): Promise<void> {
    this.duck.disconnect_sync(this.connection);
    await leave();
  }

  async run(sql: string): Promise<void> {
    await this.duck.query(this.connection, sql);
  }

  /** The rows of a query whose columns have these types, chunk by chunk. */
  async *query(
    sql: string,
    types: readonly HiveType[],
  ): AsyncGenerator<{ readonly length: number; readonly columns: ColumnVector[] }> {
    const { duck } = this;
    const statement = await duck.prepare(this.connection, sql);
    try {
      const result = await duck.execute_prepared_streaming(statement);
      for (;;) {
        const chunk = await duck.fetch_chunk(result);
        const length = chunk === null || chunk === undefined ? 0 : duck.data_chunk_get_size(chunk);
        if (chunk === null || length === 0) return;
        const columns = types.map((type, i) => readVector(duck, type, duck.data_chunk_get_vector(chunk, i), length));
        yield { length, columns };
      }
    } finally {
      duck.destroy_prepare_sync(statement);
    }
  }

  /** All rows of a query whose columns are text. */
  async texts(sql: string, columns: number): Promise<(VectorValue | undefined)[][]> {
    const rows: (VectorValue | undefined)[][] = [];
    for await (const batch of this.query(
      sql,
      Array.from({ length: columns }, () => STRING),
    )) {
      for (let row = 0; row < batch.length; row++) rows.push(batch.columns.map((column) => vectorValue(column, row)));
    }
    return rows;
  }
}

async function leave(): Promise<void> {
  if (shared === undefined || --shared.users > 0) return;
  const { opening } = shared;
  shared = undefined;
  const { duck, database, spillDirectory } = await opening;
  duck.close_sync(database);
  rmSync(spillDirectory, { recursive: true, force: true });
}

/** Text as a literal of DuckDB SQL. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
