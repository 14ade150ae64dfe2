import mysql, { type Connection, type FieldPacket, type QueryError } from 'mysql2';
import type { Row, RunResult, SqlValue } from './database.js';
import { ConnectionClosedError } from './mysql-errors.js';
import type { MysqlAddress } from './mysql-url.js';

const CONNECT_TIMEOUT_MS = 10_000;

/** Of one statement: rows, or what it changed. */
export interface WireResult {
  readonly rows: Row[];
  readonly run: RunResult;
}

/** One connection. Text protocol: several statements may share a round trip, which prepared ones cannot. */
export class MysqlWire {
  private isBroken = false;
  /** What ids of one INSERT differ by (auto_increment_increment). */
  private idStep = 1n;

  private constructor(private readonly connection: Connection) {
    const lost = () => {
      this.isBroken = true;
    };
    // Whoever uses the connection next is told by its own statement.
    connection.on('error', lost);
    connection.on('end', lost);
  }

  /** Connects, without choosing a database where it is given as undefined. */
  static connect(address: MysqlAddress, database: string | undefined): Promise<MysqlWire> {
    const { host, port, user, password, ssl } = address;
    const connection = mysql.createConnection({
      host,
      port,
      user,
      password,
      database,
      charset: 'utf8mb4',
      connectTimeout: CONNECT_TIMEOUT_MS,
      multipleStatements: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
      dateStrings: true,
      // Never LOAD DATA LOCAL, whatever a server asks for.
      flags: ['-LOCAL_FILES'],
      ...(ssl === undefined ? {} : { ssl }),
    });
    return new Promise((resolve, reject) => {
      const wire = new MysqlWire(connection);
      connection.connect((error) => {
        if (error === null) {
          resolve(wire);
          return;
        }
        connection.destroy();
        reject(error);
      });
    });
  }

  /** Of no use any more. */
  get broken(): boolean {
    return this.isBroken;
  }

  setIdStep(step: bigint): void {
    this.idStep = step;
  }

  /** Several statements in one round trip; they end at the first that fails. */
  async send(statements: readonly string[]): Promise<WireResult[]> {
    const { results, fields } = await this.query(statements.join(';\n'));
    // Rows of one query are objects; several results, as also a compound statement gives, are arrays or what was changed.
    const isMany =
      Array.isArray(results) && Array.isArray(fields) && (fields[0] === undefined || Array.isArray(fields[0]));
    if (!isMany) return [this.toResult(results, fields as FieldPacket[] | undefined)];
    const many = results as unknown[];
    const manyFields = fields as (FieldPacket[] | undefined)[];
    return many.map((result, i) => this.toResult(result, manyFields[i]));
  }

  /** Sends what nobody waits for; should it fail, the connection is dropped. */
  post(statement: string): void {
    this.query(statement).catch(() => {
      this.isBroken = true;
    });
  }

  destroy(): void {
    this.isBroken = true;
    this.connection.destroy();
  }

  end(): Promise<void> {
    this.isBroken = true;
    return new Promise((resolve) => {
      this.connection.end(() => resolve());
    });
  }

  private query(sql: string): Promise<{ results: unknown; fields: unknown }> {
    return new Promise((resolve, reject) => {
      this.connection.query(sql, (error: QueryError | null, results: unknown, fields: unknown) => {
        if (error === null) resolve({ results, fields });
        else reject(error.code === undefined ? new ConnectionClosedError(error) : error);
      });
    });
  }

  private toResult(result: unknown, fields: readonly FieldPacket[] | undefined): WireResult {
    if (Array.isArray(result)) return { rows: withIntegers(result as Row[], fields ?? []), run: NOTHING };
    const { affectedRows, insertId } = result as { affectedRows: number; insertId: number | string };
    const firstId = BigInt(insertId);
    const lastId = affectedRows > 1 ? firstId + BigInt(affectedRows - 1) * this.idStep : firstId;
    return { rows: [], run: { changes: affectedRows, firstId, lastId } };
  }
}

const NOTHING: RunResult = { changes: 0, firstId: 0n, lastId: 0n };

const INTEGERS: ReadonlySet<number | undefined> = new Set([
  mysql.Types.TINY,
  mysql.Types.SHORT,
  mysql.Types.INT24,
  mysql.Types.LONG,
  mysql.Types.LONGLONG,
  mysql.Types.YEAR,
]);

/** Integers become bigints; so do sums of them, which the server answers as decimals. */
function withIntegers(rows: Row[], fields: readonly FieldPacket[]): Row[] {
  for (const { name, columnType, decimals } of fields) {
    if (!INTEGERS.has(columnType) && !(columnType === mysql.Types.NEWDECIMAL && decimals === 0)) continue;
    for (const row of rows) {
      const value = row[name];
      if (value !== null) row[name] = BigInt(value as string | number);
    }
  }
  return rows;
}

/** The statement with its parameters in place, escaped for the modes that every session sets. */
export function statement(sql: string, params: readonly SqlValue[]): string {
  return params.length === 0 ? sql : mysql.format(sql, params.map(toLiteral));
}

function toLiteral(value: SqlValue): bigint | number | string | Buffer | null | undefined {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value;
}
