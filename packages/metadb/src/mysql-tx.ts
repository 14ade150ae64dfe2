import type { Row, RunResult, SqlValue, Statement, Tx } from './database.js';
import { type Dialect, isQuery } from './dialect.js';
import { fromMysql, isConnectionLost, unknownOutcome } from './mysql-errors.js';
import { type MysqlWire, statement, type WireResult } from './mysql-wire.js';

/**
 * One transaction on a connection. Its beginning goes with the first statement, so that it costs no round trip, and
 * nothing where there is none.
 */
export class MysqlTx implements Tx {
  private begun = false;
  private committed = false;

  constructor(
    private readonly wire: MysqlWire,
    readonly dialect: Dialect,
    private readonly path: string,
    private readonly beginning: readonly string[],
    readonly now: () => Promise<bigint>,
  ) {}

  /** Whether anything was sent that is not committed. */
  get isOpen(): boolean {
    return this.begun && !this.committed;
  }

  async all<R = Row>(sql: string, params: readonly SqlValue[] = []): Promise<R[]> {
    const [{ rows }] = await this.send([[sql, params]]);
    return rows as R[];
  }

  async column<V = Row[string]>(sql: string, params: readonly SqlValue[] = []): Promise<V[]> {
    const [{ rows }] = await this.send([[sql, params]]);
    if (rows.length === 0) return [];
    const [name] = Object.keys(rows[0]);
    return rows.map((row) => row[name] as V);
  }

  async get<R = Row>(sql: string, params: readonly SqlValue[] = []): Promise<R | undefined> {
    const [{ rows }] = await this.send([[sql, params]]);
    return rows[0] as R | undefined;
  }

  async run(sql: string, params: readonly SqlValue[] = []): Promise<RunResult> {
    const [{ run }] = await this.send([[sql, params]]);
    return run;
  }

  async runAll(statements: readonly Statement[]): Promise<RunResult[]> {
    if (statements.length === 0) return [];
    return (await this.send(statements)).map(({ run }) => run);
  }

  async runLast(statements: readonly Statement[]): Promise<Row[][]> {
    if (this.beginning.length === 0) return (await this.send(statements)).map(({ rows }) => rows);
    const { compound } = this.dialect;
    const ending: readonly Statement[] = [...statements, ['COMMIT']];
    const isCompound = compound !== undefined && statements.length > 1;
    const results = isCompound
      ? await this.sendTexts([compound(ending.map(([sql, params]) => statement(sql, params ?? [])))], true)
      : await this.send(ending, true);
    this.committed = true;
    if (!isCompound) return results.slice(0, -1).map(({ rows }) => rows);
    // Of the queries, and of the whole.
    let next = 0;
    return statements.map(([sql]) => (isQuery(sql) ? results[next++].rows : []));
  }

  async allOf(queries: readonly Statement[]): Promise<Row[][]> {
    if (queries.length === 0) return [];
    return (await this.send(queries)).map(({ rows }) => rows);
  }

  private async send(statements: readonly Statement[], commits = false): Promise<WireResult[]> {
    return this.sendTexts(
      statements.map(([sql, params]) => statement(sql, params ?? [])),
      commits,
    );
  }

  private async sendTexts(texts: readonly string[], commits: boolean): Promise<WireResult[]> {
    const beginning = this.begun ? [] : this.beginning;
    this.begun = true;
    try {
      return (await this.wire.send([...beginning, ...texts])).slice(beginning.length);
    } catch (error) {
      if (commits && isConnectionLost(error)) throw unknownOutcome(this.path, error);
      throw fromMysql(this.path, error);
    }
  }
}
