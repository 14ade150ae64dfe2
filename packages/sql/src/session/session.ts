import type { Configuration } from '@skep/config';
import { describeFunction } from '../functions/describe-function.js';
import { findFunction } from '../functions/registry.js';
import { parseStatement, type Statement, substitute } from '../parse/index.js';
import { QueryEngine } from '../query.js';
import { requireDatabase, resolveTable, type SessionContext } from './context.js';
import { alterTable } from './ddl/alter-table.js';
import { createTable } from './ddl/create-table.js';
import { createTableAsSelect } from './ddl/ctas.js';
import { alterDatabase, createDatabase, dropDatabase } from './ddl/databases.js';
import { dropTable } from './ddl/drop-table.js';
import { analyzeTable, msck } from './ddl/maintenance.js';
import { alterMaterializedView, createMaterializedView } from './ddl/materialized-views.js';
import { alterView, createView } from './ddl/views.js';
import { dfs } from './dfs.js';
import { insert, multiInsert } from './dml/insert.js';
import { loadData } from './dml/load-data.js';
import { merge } from './dml/merge.js';
import { truncate } from './dml/truncate.js';
import { deleteRows, update } from './dml/update-delete.js';
import { noExplicitLocks, SemanticError, UnsupportedError } from './errors.js';
import { finishingMoves } from './folder-moves.js';
import type { StatementResult } from './result.js';
import { select } from './scan/select.js';
import { type ProgressFigures, ScanProgress } from './scan-progress.js';
import type { Services } from './services.js';
import { resetStatement, setStatement } from './settings.js';
import { describeDatabase } from './show/describe-database.js';
import { describe } from './show/describe-statement.js';
import { explain } from './show/explain.js';
import { show } from './show/show.js';
import { TemporaryTables } from './temporary-tables.js';
import { done, textResult } from './text-result.js';
import { enterTransaction, transactionStatement } from './transaction/transaction-statements.js';

/** DROP FUNCTION: skep has no functions but its own, and to drop what is not there is no error (recorded of Hive 4.0.1). */
function dropFunction(statement: Extract<Statement, { kind: 'drop-function' }>): StatementResult {
  if (findFunction(statement.name) === undefined) return done;
  throw new SemanticError(10301, `Cannot drop native function '${statement.name}'`, { position: statement.position });
}

/** How to find a variable's value for `${…}` (org.apache.hadoop.hive.ql.parse.VariableSubstitution). */
export interface Variables {
  readonly hivevar: Map<string, string>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * One user's session: a current database, parameters, and statements one after the other, each in a transaction of its
 * own or in one that START TRANSACTION began. `execute` takes one statement without its semicolon. Errors are SkepErrors; the table is then as before.
 */
export class Session {
  private readonly context: SessionContext;

  constructor(
    services: Services,
    conf: Configuration,
    readonly variables: Variables = { hivevar: new Map(), env: {} },
    engine: QueryEngine = new QueryEngine(conf),
  ) {
    const temporary = new TemporaryTables();
    this.context = {
      services: { ...services, catalog: temporary.over(finishingMoves(services)) },
      temporary,
      conf,
      engine,
      progress: new ScanProgress(),
      currentDatabase: 'default',
      autocommit: true,
    };
  }

  /** What the statement that runs has read so far. */
  get progress(): ProgressFigures {
    return this.context.progress.figures;
  }

  get currentDatabase(): string {
    return this.context.currentDatabase;
  }

  get conf(): Configuration {
    return this.context.conf;
  }

  async execute(text: string, signal?: AbortSignal): Promise<StatementResult> {
    signal?.throwIfAborted();
    this.context.progress.reset();
    const substituted = this.substitute(text);
    const statement = parseStatement(substituted);
    await enterTransaction(this.context, statement);
    return await this.run(this.context, statement, substituted, signal);
  }

  /** The transaction that START TRANSACTION began (or a statement where AUTOCOMMIT is FALSE); `isLost`: it was aborted. */
  get openTransaction(): { readonly txnId: bigint; readonly isLost: boolean } | undefined {
    return this.context.transaction;
  }

  /** Rolls back the open transaction and ends the session's query engine. */
  async close(): Promise<void> {
    const { transaction } = this.context;
    this.context.transaction = undefined;
    try {
      await transaction?.rollback();
      await this.context.temporary.close(this.context.services.fs);
    } finally {
      await this.context.engine.close();
    }
  }

  private substitute(text: string): string {
    if (!text.includes('${') || !this.conf.getBoolean('hive.variable.substitute')) return text;
    return substitute(text, (name) => this.lookup(name), this.conf.getInt('hive.variable.substitute.depth'));
  }

  private lookup(name: string): string | undefined {
    const colon = name.indexOf(':');
    const [space, key] = colon < 0 ? ['', name] : [name.slice(0, colon), name.slice(colon + 1)];
    switch (space) {
      case 'env':
        return this.variables.env[key];
      case 'hiveconf':
        return this.conf.get(key);
      case 'hivevar':
        return this.variables.hivevar.get(key);
      case '':
        return this.variables.hivevar.get(key) ?? this.conf.get(key);
      default:
        return undefined;
    }
  }

  private async run(
    context: SessionContext,
    statement: Statement,
    text: string,
    signal?: AbortSignal,
  ): Promise<StatementResult> {
    switch (statement.kind) {
      case 'query':
        return await select(context, statement, text, signal);
      case 'insert':
        return await insert(context, statement, text, signal);
      case 'multi-insert':
        return await multiInsert(context, statement, text, signal);
      case 'update':
        return await update(context, statement, text, signal);
      case 'delete':
        return await deleteRows(context, statement, text, signal);
      case 'merge':
        return await merge(context, statement, text, signal);
      case 'load':
        return await loadData(context, statement, signal);
      case 'truncate':
        return await truncate(context, statement, signal);
      case 'create-table':
        return statement.query === undefined
          ? await createTable(context, statement, text, signal)
          : await createTableAsSelect(context, statement, text, signal);
      case 'drop-table':
      case 'drop-materialized-view':
      case 'drop-view':
        return await dropTable(context, statement, signal);
      case 'create-view':
        return await createView(context, statement, text, signal);
      case 'create-materialized-view':
        return await createMaterializedView(context, statement, text, signal);
      case 'alter-materialized-view':
        return await alterMaterializedView(context, statement, signal);
      case 'alter-view':
        return await alterView(context, statement, text, signal);
      case 'alter-table':
        return await alterTable(context, statement, text, signal);
      case 'create-database':
        return await createDatabase(context, statement);
      case 'drop-database':
        return await dropDatabase(context, statement, signal);
      case 'alter-database':
        return await alterDatabase(context, statement);
      case 'describe-database':
        return await describeDatabase(context, statement);
      case 'describe-table':
        return await describe(context, statement);
      case 'describe-function':
        return textResult(
          ['tab_name'],
          describeFunction(statement.name, statement.extended).map((line) => [line]),
        );
      case 'use':
        context.currentDatabase = await requireDatabase(context, statement.database);
        return done;
      case 'show':
        return await show(context, statement);
      case 'explain':
        return await explain(context, statement, text, signal, (inner) =>
          this.run(inner, statement.statement, text, signal),
        );
      case 'msck':
        return await msck(context, statement, signal);
      case 'analyze':
        return await analyzeTable(context, statement, signal);
      case 'abort-transactions':
        return await this.abortTransactions(statement.ids);
      case 'abort-compactions':
        return await this.abortCompactions(statement.ids);
      case 'set':
        return this.set(statement);
      case 'reset':
        return resetStatement(context, statement);
      case 'dfs':
        return await dfs(context, statement);
      case 'lock-table':
      case 'unlock-table':
        await resolveTable(context, statement.table);
        throw noExplicitLocks();
      case 'lock-database':
      case 'unlock-database':
        throw noExplicitLocks();
      case 'start-transaction':
      case 'commit':
      case 'rollback':
      case 'set-autocommit':
        return await transactionStatement(context, statement);
      case 'source':
      case 'quit':
      case 'shell':
        throw new UnsupportedError(`The client's own command '${statement.kind}' inside a statement`);
      case 'resource':
        if (statement.action === 'list') return textResult(['resource'], []);
        throw new UnsupportedError(`${statement.action} ${statement.type}`.toUpperCase());
      case 'drop-function':
        return dropFunction(statement);
      case 'unsupported':
        throw new UnsupportedError(statement.name.toUpperCase());
      default:
        throw new UnsupportedError(statement.kind.replaceAll('-', ' ').toUpperCase());
    }
  }

  private set(statement: Extract<Statement, { kind: 'set' }>): StatementResult {
    const variable = /^(hivevar|env|system):(.+)$/.exec(statement.key ?? '');
    if (variable === null) return setStatement(this.context, statement);
    const [, space, name] = variable;
    if (space !== 'hivevar') {
      if (statement.value !== undefined) throw new SemanticError(10000, `${space}:* variables can not be set.`);
      const text = space === 'env' ? this.variables.env[name] : undefined;
      return textResult(['set'], [[text === undefined ? `${statement.key} is undefined` : `${statement.key}=${text}`]]);
    }
    if (statement.value !== undefined) {
      this.variables.hivevar.set(name, statement.value);
      return done;
    }
    const value = this.variables.hivevar.get(name);
    return textResult(['set'], [[value === undefined ? `${statement.key} is undefined` : `${statement.key}=${value}`]]);
  }

  private async abortTransactions(txnIds: readonly bigint[]): Promise<StatementResult> {
    const byCommand = 50001;
    const { user, host } = this.context.services.identity;
    await this.context.services.txns.abortTxns({
      txnIds: [...txnIds],
      reasonCode: byCommand,
      abortedBy: `${user}@${host}`,
    });
    return done;
  }

  private async abortCompactions(ids: readonly bigint[]): Promise<StatementResult> {
    const { results } = await this.context.services.compactions.abortCompactions({ ids: [...ids] });
    const header = ['CompactionId', 'Status', 'Message'];
    const rows = results.map((r) => [String(r.id), r.success ? 'Success' : 'Error', r.message]);
    return textResult(['compactionid', 'status', 'message'], [header, ...rows], { headerRow: true });
  }
}
