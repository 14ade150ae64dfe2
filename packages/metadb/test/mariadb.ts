import { connect } from 'node:net';
import { BugError } from '@skep/core';
import mysql, { type QueryError } from 'mysql2';
import { type Migration, openDatabase } from '../src/index.js';

export { freePort, hasMariadb, type MariadbServer, startMariadb } from './mariadb-server.js';

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
    private readonly server: string,
    readonly name: string,
  ) {}

  /** An empty one, or with the tables of some migrations and what they put there. */
  static async create(migrations: readonly Migration[] = []): Promise<TestDatabase> {
    const created = new TestDatabase(await mariadbUrl(), `t${process.pid}_${++count}`);
    await created.drop();
    await created.query(`CREATE DATABASE ${created.name} CHARACTER SET utf8mb4`, '');
    if (migrations.length > 0) {
      await (await openDatabase({ url: created.url, migrations })).close();
      await created.remember();
    }
    return created;
  }

  /** With the database's name. */
  get url(): string {
    return `${this.server}/${this.name}`;
  }

  /** Makes it as it was after the migrations: far cheaper than a new one. */
  async reset(): Promise<void> {
    const used = await this.usedTables();
    const statements = used.map((table) => `DELETE FROM \`${table}\``);
    if (this.tables.includes('TXNS')) statements.push('ALTER TABLE TXNS AUTO_INCREMENT = 1');
    await this.query([...statements, ...this.seeds].join(';'));
  }

  /** By a connection of its own, which checks no foreign keys. The last of several statements answers. */
  async query<T = Record<string, unknown>>(sql: string, database = this.name): Promise<T[]> {
    const server = new URL(this.server);
    const connection = mysql.createConnection({
      host: server.hostname,
      port: Number(server.port),
      user: server.username,
      password: server.password,
      ...(database === '' ? {} : { database }),
      multipleStatements: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
      dateStrings: true,
    });
    const settings = "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = 0, time_zone = '+00:00'";
    try {
      return await new Promise((resolve, reject) => {
        connection.query(`${settings};${sql}`, (error: QueryError | null, results: unknown) => {
          if (error === null) resolve((results as T[][]).at(-1) ?? []);
          else reject(error);
        });
      });
    } finally {
      connection.destroy();
    }
  }

  async drop(): Promise<void> {
    await this.query(`DROP DATABASE IF EXISTS ${this.name}`, '');
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
        const values = Object.values(row).map((value) => mysql.escape(value as Parameters<typeof mysql.escape>[0]));
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
