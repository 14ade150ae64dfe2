import { connect } from 'node:net';
import { BugError } from '@skep/core';
import { type Connection, createConnection, type QueryError } from 'mysql2';
import { type Migration, openDatabase } from '../src/index.js';

export { hasMariadb, type MariadbServer, startMariadb } from './mariadb-server.js';

/** The environment variable that names the socket of the run's broker (global-setup.ts). */
export const BROKER = 'SKEP_TEST_MARIADB_BROKER';

/** The address of the server that the test files of a run share, without a database. */
export function mariadbUrl(): Promise<string> {
  const path = process.env[BROKER];
  if (path === undefined)
    throw new BugError('no MariaDB for tests: run them with vitest from the root of the repository');
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(path);
    socket.on('data', (chunk) => {
      answer += String(chunk);
    });
    socket.on('error', reject);
    socket.on('close', () => {
      if (answer.startsWith('mysql:')) resolve(answer);
      else reject(new BugError(`MariaDB for tests did not start: ${answer}`));
    });
  });
}

let count = 0;

/** A database of a test file on the shared server. */
export class TestDatabase {
  private seeds: readonly string[] = [];
  private tables: readonly string[] = [];

  private constructor(
    private readonly connection: Connection,
    /** With the database's name. */
    readonly url: string,
    readonly name: string,
  ) {}

  /** An empty one, or with the tables of some migrations and what they put there. */
  static async create(migrations: readonly Migration[] = []): Promise<TestDatabase> {
    const server = new URL(await mariadbUrl());
    const name = `t${process.pid}_${++count}`;
    const connection = createConnection({
      host: server.hostname,
      port: Number(server.port),
      user: server.username,
      password: server.password,
      multipleStatements: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
      dateStrings: true,
    });
    const created = new TestDatabase(connection, `${server.href.replace(/\/$/, '')}/${name}`, name);
    await created.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4; USE ${name};
      SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = 0, time_zone = '+00:00'`);
    if (migrations.length > 0) {
      await (await openDatabase({ url: created.url, migrations })).close();
      await created.remember();
    }
    return created;
  }

  /** Makes it as it was after the migrations: far cheaper than a new one. */
  async reset(): Promise<void> {
    const used = await this.usedTables();
    const statements = used.map((table) => `DELETE FROM \`${table}\``);
    if (this.tables.includes('TXNS')) statements.push('ALTER TABLE TXNS AUTO_INCREMENT = 1');
    await this.query([...statements, ...this.seeds].join(';'));
  }

  query<T = Record<string, unknown>>(sql: string): Promise<T[]> {
    return new Promise((resolve, reject) => {
      this.connection.query(sql, (error: QueryError | null, result: unknown) => {
        if (error === null) resolve(result as T[]);
        else reject(error);
      });
    });
  }

  async drop(): Promise<void> {
    await this.query(`DROP DATABASE IF EXISTS ${this.name}`);
    await new Promise<void>((resolve) => this.connection.end(() => resolve()));
  }

  private async remember(): Promise<void> {
    const found = await this.query<{ T: string }>(
      `SELECT TABLE_NAME AS T FROM information_schema.TABLES WHERE TABLE_SCHEMA = '${this.name}'`,
    );
    this.tables = found.map((row) => row.T);
    const seeds: string[] = [];
    for (const table of await this.usedTables()) {
      for (const row of await this.query(`SELECT * FROM \`${table}\``)) {
        const columns = Object.keys(row).map((column) => `\`${column}\``);
        const values = Object.values(row).map((value) => this.connection.escape(value));
        seeds.push(`INSERT INTO \`${table}\` (${columns.join(',')}) VALUES (${values.join(',')})`);
      }
    }
    this.seeds = seeds;
  }

  private async usedTables(): Promise<string[]> {
    const used = this.tables.map((table) => `SELECT '${table}' AS T, EXISTS (SELECT 1 FROM \`${table}\`) AS USED`);
    const rows = await this.query<{ T: string; USED: number | string }>(used.join(' UNION ALL '));
    return rows.filter((row) => Number(row.USED) === 1).map((row) => row.T);
  }
}
