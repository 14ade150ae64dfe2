import { cpSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataOperation, LockLevel, LockType, TxnType } from '@skep/rpc';
import type { RecordedStep, RecordedTable } from './case-file.js';
import { CaseTables } from './case-tables.js';
import { compareError, type GotError, gotError, hiveCodeOf } from './compare-error.js';
import { compareFiles } from './compare-files.js';
import { comparableRows, compareRows, type Difference, type RowRules, repeatedRowId } from './compare-rows.js';
import { compareLines, maskLocation, mayHaveMore, showRule } from './compare-show.js';
import { applyDeviation, applyRules, type DeviationList, deviationOf, mustSucceed, rightLines } from './deviations.js';
import { describeError, GoldenError } from './golden-error.js';
import { allRows, type Home, ORACLE_SETTINGS, openHome, type Session } from './home-port.js';
import { selectItems } from './order-by.js';
import type { StepOutcome } from './report.js';

const READS = new Set(['select', 'with', 'show', 'describe', 'desc', 'explain', 'values']);

/** What a statement answered here. */
interface Answer {
  readonly columns?: readonly string[];
  readonly rows?: readonly string[];
  readonly error?: GotError;
  readonly thrown?: unknown;
}

type Verdict = Omit<StepOutcome, 'mode' | 'step' | 'statement' | 'passed'>;

/** Runs the script of a recorded case on a fresh home, and compares each answer with Hive's. */
export async function replayCase(
  name: string,
  steps: readonly RecordedStep[],
  deviations: DeviationList,
): Promise<StepOutcome[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `skep-golden-${name}-`)));
  try {
    const home = await openHome({ path: folder, hiveconf: { ...ORACLE_SETTINGS }, backgroundCompaction: false });
    try {
      process.env.ORACLE_WAREHOUSE = home.warehouse;
      const session = await home.newSession();
      return await new Replay(name, home, session, deviations).run(steps);
    } finally {
      await home.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

class Replay {
  private readonly tables = new CaseTables();
  private moreAborted = false;
  /** Of `!txn open NAME`. */
  private readonly readers = new Map<string, bigint>();
  /** The folder of the case's database. */
  private readonly database: string;
  private readonly warehouse: string;

  constructor(
    private readonly name: string,
    private readonly home: Home,
    private readonly session: Session,
    private readonly deviations: DeviationList,
  ) {
    this.warehouse = home.warehouse.replace(/^file:(\/\/)?/, '');
    this.database = join(this.warehouse, `${name.toLowerCase()}.db`);
  }

  async run(steps: readonly RecordedStep[]): Promise<StepOutcome[]> {
    await this.session.execute(`create database if not exists ${this.name}`);
    await this.session.execute(`use ${this.name}`);
    const outcomes: StepOutcome[] = [];
    for (const [index, step] of steps.entries()) {
      const verdict = await this.step(step, index);
      const { statement } = step;
      outcomes.push({ mode: 'replay', step: index, statement, passed: verdict.problem === undefined, ...verdict });
    }
    return outcomes;
  }

  private async step(step: RecordedStep, index: number): Promise<Verdict> {
    try {
      if (step.statement.startsWith('!')) return await this.special(step);
      return await this.statement(step, index);
    } catch (error) {
      return { problem: describeError(error) };
    }
  }

  private async special(step: RecordedStep): Promise<Verdict> {
    const [command, ...args] = step.statement.slice(1).split(/\s+/);
    switch (command) {
      case 'worker':
        await this.home.compactor.runWorkerOnce();
        return {};
      case 'initiator':
        await this.home.compactor.runInitiatorOnce();
        return {};
      case 'cleaner':
        await this.home.compactor.runCleanerOnce();
        return {};
      case 'ls':
        return this.listing(args[0], step.files ?? []);
      case 'copy':
        cpSync(join(this.database, args[0]), join(this.database, args[1]), { recursive: true });
        return {};
      case 'snapshot':
        return await this.snapshot(step.tables ?? {});
      case 'sleep':
        await new Promise((resolve) => setTimeout(resolve, Number(args[0])));
        return {};
      case 'txn':
        return await this.reader(args[0], args[1]);
      case 'lock':
        return await this.lock(args[0], args[1]);
      case 'housekeeper':
        await this.home.services.txns.runHousekeeping({ abortDeadHolders: false });
        return {};
      case 'sql-metastore':
        // The tables hold ids and times of the recording; that a query of them runs is another test's business.
        return {};
      default:
        throw new GoldenError(`step !${command} is not for a replay`);
    }
  }

  /** A transaction beside the session's: while it is open, what it may read has to stay. */
  private async reader(verb: string, name: string): Promise<Verdict> {
    const { txns } = this.home.services;
    if (verb === 'open') {
      const identity = { user: 'reader', host: 'localhost', agentInfo: 'golden' };
      const type = TxnType.TXN_TYPE_UNSPECIFIED;
      const { txnIds } = await txns.openTxns({ count: 1, ...identity, type });
      this.readers.set(name, txnIds[0]);
      return {};
    }
    const txnId = this.readers.get(name);
    if (txnId === undefined) throw new GoldenError(`!txn ${verb} ${name}: it is not open`);
    if (verb === 'commit') await txns.commitTxn({ txnId });
    else await txns.abortTxns({ txnIds: [txnId], reasonCode: 0 });
    return {};
  }

  /** An exclusive lock of one of these transactions, until it ends. */
  private async lock(name: string, path: string): Promise<Verdict> {
    const txnId = this.readers.get(name);
    if (txnId === undefined) throw new GoldenError(`!lock ${name} ${path}: there is no such transaction`);
    const [database, table] = path.split('.');
    await this.home.services.locks.lock({
      txnId,
      user: 'hive',
      host: 'localhost',
      agentInfo: 'golden',
      zeroWaitRead: false,
      exclusiveCtas: false,
      components: [
        {
          type: LockType.LOCK_TYPE_EXCLUSIVE,
          level: LockLevel.LOCK_LEVEL_TABLE,
          database,
          table,
          operation: DataOperation.DATA_OPERATION_NO_TXN,
          isTransactional: true,
          isDynamicPartitionWrite: false,
        },
      ],
    });
    return {};
  }

  private listing(table: string, expected: readonly string[]): Verdict {
    const got = listFiles(join(this.database, table));
    const problem = compareFiles(expected, got, this.tables.get(table));
    return problem === undefined ? {} : { problem, expected, got };
  }

  /** At a `!snapshot` the tables hold the rows that Hive read, under the same list of valid write ids. */
  private async snapshot(tables: Readonly<Record<string, RecordedTable>>): Promise<Verdict> {
    const problems: string[] = [];
    const expected: string[] = [];
    const got: string[] = [];
    for (const [table, recorded] of Object.entries(tables)) {
      const verdict = await this.snapshotTable(table, recorded);
      if (verdict.problem === undefined) continue;
      problems.push(`${table}: ${verdict.problem}`);
      expected.push(...(verdict.expected ?? []));
      got.push(...(verdict.got ?? []));
    }
    return problems.length === 0 ? {} : { problem: problems.join('; '), expected, got };
  }

  private async snapshotTable(table: string, recorded: RecordedTable): Promise<Verdict> {
    if (recorded.error !== undefined) return {};
    const withIds = recorded.transactional && !recorded.insertOnly;
    const statement = `select ${withIds ? 'ROW__ID, ' : ''}* from \`${table}\``;
    const answer = await this.execute(statement);
    if (answer.thrown !== undefined) return { problem: describeError(answer.thrown) };
    const rows = answer.rows ?? [];
    const ids = await this.validWriteIds(table);
    if (!this.moreAborted && recorded.validWriteIds !== undefined && ids !== recorded.validWriteIds) {
      return { problem: `valid write ids ${ids} instead of ${recorded.validWriteIds}` };
    }
    if (recorded.rows === undefined) {
      const want = recorded.rowCount ?? 0;
      return rows.length === want ? {} : { problem: `${rows.length} rows instead of ${want}` };
    }
    const rules = this.rules(statement, answer.columns ?? [], recorded.buckets <= 0);
    const problem = compareRows(recorded.rows, rows, rules) ?? this.idsDiffer(rows, rules);
    return problem === undefined ? {} : { problem, ...this.comparable(recorded.rows, rows, rules) };
  }

  private async validWriteIds(table: string): Promise<string> {
    const tables = [`${this.name}.${table}`.toLowerCase()];
    return (await this.home.services.txns.getValidWriteIds({ tables })).validWriteIds[0];
  }

  private rules(statement: string, columns: readonly string[], unbucketed?: boolean): RowRules {
    const named = this.tables.namedIn(statement);
    return {
      statement,
      columns,
      maskRowIds: unbucketed ?? named.some((table) => !table.bucketed),
      inOrder: /^\s*(desc|describe|explain|show\s+create)\b/i.test(statement),
    };
  }

  private comparable(expected: readonly string[], got: readonly string[], rules: RowRules) {
    return { expected: comparableRows(expected, rules), got: comparableRows(got, rules) };
  }

  /** Only of a plain query of one table can it be told that no ROW__ID may occur twice. */
  private idsDiffer(rows: readonly string[], rules: RowRules): Difference {
    if (/\b(join|union|lateral|group\s+by)\b/i.test(rules.statement)) return undefined;
    const named = this.tables.namedIn(rules.statement);
    if (named.length !== 1) return undefined;
    const names = rules.columns.map((column) => column.slice(0, column.indexOf(':')).replace(/^.*\./, ''));
    const cells = named[0].partitionColumns.map((column) => names.indexOf(column));
    return repeatedRowId(rows, rules.columns.length, cells.includes(-1) ? undefined : cells);
  }

  private async statement(step: RecordedStep, index: number): Promise<Verdict> {
    const { statement } = step;
    const isRuntimeFailure = step.error !== undefined && hiveCodeOf(step.error) === undefined;
    const listed = deviationOf(this.deviations, 'replay', this.name, index, statement);
    const deviation = isRuntimeFailure ? mustSucceed(this.deviations, listed, statement) : undefined;
    const before = isRuntimeFailure ? await this.contents() : undefined;
    if (step.error === undefined) this.tables.note(statement);
    const answer = await this.execute(statement);
    if (step.harnessError !== undefined) return {};
    if (deviation !== undefined && answer.error === undefined) {
      // Hive aborted the transaction, so its later lists of write ids name one more.
      this.moreAborted = true;
      return { deviation };
    }
    if (step.error !== undefined) {
      const verdict = this.failure(step, answer);
      if (verdict.problem !== undefined || before === undefined) return verdict;
      const after = await this.contents();
      return before === after
        ? {}
        : { problem: 'the failed statement changed a table', expected: [before], got: [after] };
    }
    if (answer.error !== undefined) return { problem: this.errorText(answer) };
    if (step.rows === undefined) return {};
    return this.compareAnswer(step, index, answer);
  }

  private failure(step: RecordedStep, answer: Answer): Verdict {
    const expected = [step.error?.message ?? ''];
    if (answer.error === undefined || step.error === undefined) return { problem: 'does not fail', expected };
    const problem = compareError(step.error, answer.error);
    return problem === undefined ? {} : { problem, expected, got: [this.errorText(answer)] };
  }

  private errorText(answer: Answer): string {
    const code = answer.error?.hiveCode === undefined ? '' : ` [Error ${answer.error.hiveCode}]`;
    return `fails${code}: ${describeError(answer.thrown)}${stackOf(answer.thrown)}`;
  }

  private compareAnswer(step: RecordedStep, index: number, answer: Answer): Verdict {
    const { statement } = step;
    const recorded = (step.rows ?? []).filter((row): row is string => typeof row === 'string');
    const rows = (answer.rows ?? []).map((row) => maskLocation(row, this.warehouse));
    const columns = answer.columns ?? [];
    if (step.columns !== undefined && step.columns.join() !== columns.join()) {
      return { problem: 'other columns', expected: step.columns, got: columns };
    }
    const show = showRule(statement);
    if (show !== undefined) {
      const context = { database: this.name.toLowerCase(), warehouse: this.warehouse };
      const { lines: expected, reason } = rightLines(
        this.deviations,
        show(recorded, { ...context, warehouse: '/warehouse' }),
        context.database,
      );
      const got = show(rows, context);
      const problem = compareLines(expected, got, mayHaveMore(statement));
      if (problem !== undefined) return { problem, expected, got };
      return reason === undefined ? {} : { deviation: reason };
    }
    const rules = this.rules(statement, columns);
    const listed = deviationOf(this.deviations, 'replay', this.name, index, statement);
    if (listed !== undefined) {
      const expected = applyDeviation(listed, recorded);
      const problem = compareRows(expected, rows, rules);
      if (problem === undefined) return { deviation: listed.reason };
      return { problem, ...this.comparable(expected, rows, rules) };
    }
    const problem = compareRows(recorded, rows, rules) ?? this.idsDiffer(rows, rules);
    if (problem === undefined) return {};
    const ruled = applyRules(this.deviations, statement, columns, selectItems(statement), recorded, rows);
    if (ruled !== undefined && compareRows(ruled.rows, rows, rules) === undefined) return { deviation: ruled.reason };
    return { problem, ...this.comparable(recorded, rows, rules) };
  }

  private async execute(statement: string): Promise<Answer> {
    try {
      const result = await this.session.execute(statement);
      const rows = await allRows(result);
      const word = statement.trim().split(/\s+/)[0].toLowerCase();
      if (!READS.has(word)) return {};
      return { columns: (result.columns ?? []).map((column) => `${column.name}:${column.type}`), rows };
    } catch (thrown) {
      return { error: gotError(thrown), thrown };
    }
  }

  /** Everything that the tables of the database hold, as one text. */
  private async contents(): Promise<string> {
    const tables = (await this.execute('show tables')).rows ?? [];
    const texts: string[] = [];
    for (const table of tables) {
      const answer = await this.execute(`select * from \`${table}\``);
      // Under somebody's lock it cannot be read; the text of that holds times.
      const rows = answer.rows ?? [`[Error ${answer.error?.hiveCode}]`];
      texts.push(`${table}: ${rows.slice().sort().join(' | ')}`);
    }
    return texts.join('\n');
  }
}

/** Where an unexpected error comes from, for whoever has to mend it. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error) || error.stack === undefined) return '';
  const frames = error.stack.split('\n').filter((line) => line.trim().startsWith('at '));
  return frames.length === 0
    ? ''
    : `\n        ${frames
        .slice(0, 4)
        .map((line) => line.trim())
        .join('\n        ')}`;
}

/** HiveOracle.list: every file and folder below, folders with a slash at the end, sorted as Java sorts paths. */
export function listFiles(root: string): string[] {
  if (!existsSync(root)) return [];
  const out: string[] = [];
  const walk = (relative: string): void => {
    for (const name of readdirSync(join(root, relative)).sort()) {
      if (name.endsWith('.crc')) continue;
      const path = relative === '' ? name : `${relative}/${name}`;
      const isFolder = statSync(join(root, path)).isDirectory();
      out.push(isFolder ? `${path}/` : path);
      if (isFolder) walk(path);
    }
  };
  walk('');
  return out;
}
