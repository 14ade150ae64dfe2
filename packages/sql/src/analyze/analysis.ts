import type { VectorValue } from '@skep/orc';
import { ExpressionAnalysis, type ExpressionContext } from '../expressions/expression-analysis.js';
import { type ColumnInfo, TableUseBuilder } from '../expressions/table-use.js';
import type { Query, TableName } from '../parse/ast.js';
import type { Position } from '../parse/ast-expression.js';
import type { Block } from './block.js';
import type { AnalyzedQuery } from './query.js';
import type { Scope } from './scope.js';

/** What a table name means: a table with its columns (partition columns last, virtual ones marked), or a view's query. */
export type ResolvedTable =
  | {
      readonly kind: 'table';
      readonly database: string;
      readonly name: string;
      readonly columns: readonly ColumnInfo[];
      /** Comes back in TableUse.handle. */
      readonly handle?: unknown;
    }
  | {
      readonly kind: 'view';
      readonly database: string;
      readonly name: string;
      readonly query: Query;
      /** The view's own column names, where they differ from the query's. */
      readonly columns?: readonly string[] | undefined;
      /** The database that the view's names are resolved in. */
      readonly currentDatabase: string;
    };

/** What a query is analysed in. */
export interface AnalysisContext extends ExpressionContext {
  /** undefined: there is no such table. `database` is undefined where none was written: the current one. */
  resolveTable(
    database: string | undefined,
    name: string,
    position: Position,
    currentDatabase: string,
  ): ResolvedTable | undefined | Promise<ResolvedTable | undefined>;
  /** The row of a query without tables: constants of conditions. Absent: those prune nothing. */
  evaluate?(query: AnalyzedQuery): Promise<readonly VectorValue[]>;
}

export interface CommonTable {
  readonly query: Query;
  readonly columns: readonly string[] | undefined;
  readonly outer: CommonTables;
  readonly environment: QueryEnvironment;
}
export type CommonTables = ReadonlyMap<string, CommonTable>;

/** Where a query stands: its database (a view has its own), the common tables it sees. */
export interface QueryEnvironment {
  readonly currentDatabase: string;
  readonly commonTables: CommonTables;
}

/** The state of one statement's analysis. */
export class Analysis extends ExpressionAnalysis<AnalysisContext> {
  readonly uses: TableUseBuilder[] = [];
  private aliases = 0;

  constructor(
    context: AnalysisContext,
    private readonly tables: ReadonlyMap<string, ResolvedTable>,
    readonly analyzeSubquery: (query: Query, environment: QueryEnvironment, outer: Scope | undefined) => Block,
  ) {
    super(context);
  }

  /** A name no one else has. */
  alias(prefix: string): string {
    return `${prefix}${this.aliases++}`;
  }

  table(name: TableName, currentDatabase: string): ResolvedTable | undefined {
    return this.tables.get(tableKey(name, currentDatabase));
  }

  use(table: ResolvedTable & { kind: 'table' }, alias: string, position: Position): TableUseBuilder {
    const use = new TableUseBuilder(
      this.uses.length,
      table.database,
      table.name,
      alias,
      table.handle,
      table.columns,
      position,
    );
    this.uses.push(use);
    return use;
  }
}

export const tableKey = (name: TableName, currentDatabase: string): string =>
  `${(name.database?.name ?? currentDatabase).toLowerCase()}.${name.name.name.toLowerCase()}`;
