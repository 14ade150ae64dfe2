import { randomUUID } from 'node:crypto';
import { BadRequestError, type Caller, type SqlAnswer, type SqlSource, TicketExpiredError } from '@skep/flight';
import type { StructVector } from '@skep/orc';
import { AccessDeniedError } from '@skep/rpc';
import {
  parseStatement,
  parseTypeName,
  type ResultColumn,
  Session,
  type Statement,
  toTypeDescription,
} from '@skep/sql';
import { agentInfoAt } from './elsewhere.js';
import { TooManyHeldError } from './errors.js';
import type { TableSourceOptions } from './table-source.js';
import { actFor, servicesOf } from './user-services.js';

/** Rows that wait to be fetched. */
interface Answered {
  readonly user: string;
  readonly session: Session;
  readonly columns: SqlAnswer['columns'];
  readonly rows: AsyncIterator<StructVector>;
  readonly timer: AbortController;
}

/** Answers are fetched at once, or are of no use. */
const FETCH_MS = 60_000;
const MOST_ANSWERS = 100;

/** What a session keeps, or what is done on the machine of the service: neither is for clients of it. */
const REFUSED: ReadonlySet<string> = new Set([
  'dfs',
  'shell',
  'source',
  'quit',
  'resource',
  'set',
  'reset',
  'use',
  'start-transaction',
  'commit',
  'rollback',
  'set-autocommit',
  'load',
  'export',
  'import',
]);

/** Statements of HiveQL by clients of Flight SQL: each in a session, and a transaction, of its own. */
export class SqlStatements implements SqlSource {
  private readonly answers = new Map<string, Answered>();

  constructor(private readonly options: Omit<TableSourceOptions, 'engine' | 'ticketMs' | 'maxHeld'>) {}

  async databases(caller: Caller): Promise<readonly string[]> {
    const { services } = this.options;
    return (await actFor(services, this.userOf(caller), () => services.catalog.listDatabases({}))).names;
  }

  async run(text: string, caller: Caller): Promise<SqlAnswer> {
    const { services, conf, address } = this.options;
    const user = this.userOf(caller);
    const statement = text.trim().replace(/;$/, '');
    refuse(parseStatement(statement));
    if (this.answers.size >= MOST_ANSWERS) {
      throw new TooManyHeldError(
        `${MOST_ANSWERS} answers wait to be fetched already: read some, or wait until they expire`,
      );
    }
    const agentInfo = agentInfoAt(services.identity.agentInfo, address());
    const session = new Session(servicesOf(services, user, agentInfo), conf.fork());
    try {
      const startedMs = services.clock.now();
      const result = await actFor(services, user, () => session.execute(statement, caller.signal));
      this.options.log.debug(
        { user, statement, durationMs: services.clock.now() - startedMs },
        'statement of Flight SQL',
      );
      const { inserted = 0n, updated = 0n, deleted = 0n } = result.counts ?? {};
      const changed = result.counts === undefined ? {} : { changed: inserted + updated + deleted };
      const expiresMs = services.clock.now() + FETCH_MS;
      if (result.batches === undefined) {
        await session.close();
        return { columns: [], expiresMs, ...changed };
      }
      const columns = columnsOf(result.columns ?? []);
      const handle = this.hold({ user, session, columns, rows: result.batches[Symbol.asyncIterator]() });
      return { columns, handle, expiresMs, ...changed };
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  async rows(handle: string, caller: Caller) {
    const user = this.userOf(caller);
    const answer = this.answers.get(handle);
    if (answer === undefined) throw new TicketExpiredError('the rows of the statement were read, or have expired');
    if (answer.user !== user) {
      throw new AccessDeniedError(user, answer.user, `the statement was run for '${answer.user}', not for '${user}'`);
    }
    this.answers.delete(handle);
    answer.timer.abort();
    return { columns: answer.columns, rows: this.read(answer, caller) };
  }

  /** Statements whose rows nobody has fetched end. */
  async close(): Promise<void> {
    for (const handle of this.answers.keys()) await this.giveUp(handle);
  }

  /** No generator: what one that never began holds nobody ends. */
  private read({ rows, session, user }: Answered, caller: Caller): AsyncIterableIterator<StructVector> {
    const { services } = this.options;
    let isOver = false;
    const finish = async () => {
      if (isOver) return;
      isOver = true;
      await actFor(services, user, () => end(rows, session));
    };
    return {
      async next() {
        if (isOver) return { done: true, value: undefined };
        try {
          caller.signal.throwIfAborted();
          const step = await actFor(services, user, () => rows.next());
          if (step.done !== true) return step;
        } catch (error) {
          await finish();
          throw error;
        }
        await finish();
        return { done: true, value: undefined };
      },
      async return() {
        await finish();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  private hold(answer: Omit<Answered, 'timer'>): string {
    const handle = randomUUID();
    const timer = new AbortController();
    this.answers.set(handle, { ...answer, timer });
    this.options.services.clock.sleep(FETCH_MS, timer.signal).then(
      () => this.giveUp(handle),
      () => undefined,
    );
    return handle;
  }

  private async giveUp(handle: string): Promise<void> {
    const answer = this.answers.get(handle);
    if (answer === undefined) return;
    this.answers.delete(handle);
    answer.timer.abort();
    const { rows, session, user } = answer;
    try {
      await actFor(this.options.services, user, () => end(rows, session));
    } catch (error) {
      this.options.log.warn({ user, error }, 'a statement of Flight SQL could not be ended');
    }
  }

  private userOf({ user }: Caller): string {
    return user === '' ? this.options.services.identity.user : user;
  }
}

/** The statement's transaction ends with its rows. */
async function end(rows: AsyncIterator<StructVector>, session: Session): Promise<void> {
  try {
    await rows.return?.();
  } finally {
    await session.close();
  }
}

/** Hive shows `t.id` of SELECT *; clients of Arrow find columns by name, so `id` where that is one column's. */
function columnsOf(columns: readonly ResultColumn[]): SqlAnswer['columns'] {
  const short = columns.map(({ name }) => name.slice(name.lastIndexOf('.') + 1));
  const isUnique = new Set(short).size === short.length;
  return columns.map(({ name, type }, i) => ({
    name: isUnique ? short[i] : name,
    type: toTypeDescription(parseTypeName(type)),
  }));
}

function refuse(statement: Statement): void {
  const targets =
    statement.kind === 'insert'
      ? [statement.target]
      : statement.kind === 'multi-insert'
        ? statement.branches.map(({ target }) => target)
        : [];
  const writesFiles = targets.some(({ kind }) => kind === 'directory');
  if (!REFUSED.has(statement.kind) && !writesFiles) return;
  throw new BadRequestError(
    `${statement.kind.replaceAll('-', ' ').toUpperCase()} is not for clients of Flight SQL: statements are by themselves, and read and write tables only`,
  );
}
