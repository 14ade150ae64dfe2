import type { VectorValue } from '@skep/orc';
import { castSql } from '../emit/cast.js';
import { UdfCollector } from '../emit/udfs.js';
import type { Query, TableName } from '../parse/ast.js';
import type { Position } from '../parse/ast-expression.js';
import { type HiveType, typeName } from '../types/hive-type.js';
import { isDateOrTime, isNumeric, isTime } from '../types/type-rules.js';
import type { Block } from './block.js';
import { semantic, wrongArguments } from './errors.js';
import { derive, type Expr } from './expr.js';
import type { AnalyzedQuery } from './query.js';
import type { Scope } from './scope.js';
import { type ColumnInfo, TableUseBuilder } from './table-use.js';

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
export interface AnalysisContext {
  readonly currentDatabase: string;
  /** undefined: there is no such table. `database` is undefined where none was written: the current one. */
  resolveTable(
    database: string | undefined,
    name: string,
    position: Position,
    currentDatabase: string,
  ): ResolvedTable | undefined | Promise<ResolvedTable | undefined>;
  /** A parameter's value (hive.groupby.position.alias, …); undefined means Hive's default. */
  conf?(name: string): string | undefined;
  /** The statement's text: error messages quote from it. */
  readonly text?: string | undefined;
  /** Milliseconds since the epoch: current_timestamp. */
  readonly now?: number | undefined;
  readonly user?: string | undefined;
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
export class Analysis {
  readonly udfs = new UdfCollector();
  readonly uses: TableUseBuilder[] = [];
  private aliases = 0;

  constructor(
    readonly context: AnalysisContext,
    private readonly tables: ReadonlyMap<string, ResolvedTable>,
    readonly analyzeSubquery: (query: Query, environment: QueryEnvironment, outer: Scope | undefined) => Block,
  ) {}

  /** A name no one else has. */
  alias(prefix: string): string {
    return `${prefix}${this.aliases++}`;
  }

  flag(name: string, byDefault: boolean): boolean {
    const value = this.context.conf?.(name);
    return value === undefined ? byDefault : value.toLowerCase() === 'true';
  }

  /** The statement's own text of a node. */
  text(position: Position): string {
    return this.context.text?.slice(position.start, position.end) ?? '';
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

  /** The value as `to` (CAST's rules); an error where Hive has no such conversion. */
  cast(value: Expr, to: HiveType): Expr {
    const { type } = value;
    if (type === to) return value;
    if (this.flag('hive.strict.timestamp.conversion', true)) this.checkTimestampConversion(value, to);
    const sql = castSql(this.udfs, value.sql, type, to, value.literal !== undefined);
    if (sql === undefined) {
      throw wrongArguments(
        this.text(value.position),
        `No matching method for cast of ${typeName(type)} to ${typeName(to)}`,
        value.position,
      );
    }
    return derive(value, to, sql);
  }

  private checkTimestampConversion({ type, position }: Expr, to: HiveType): void {
    const integral = (t: HiveType) => (isNumeric(t) && t.kind !== 'decimal') || t.kind === 'boolean';
    if (isDateOrTime(type) && integral(to)) {
      throw strictConversion(
        literalText(this.text(position)),
        'Casting DATE/TIMESTAMP types to NUMERIC is prohibited',
        position,
      );
    }
    if (isNumeric(type) && isTime(to)) {
      throw strictConversion(
        literalText(this.text(position)),
        'Casting NUMERIC types to TIMESTAMP is prohibited',
        position,
      );
    }
  }
}

/** Hive quotes a date or timestamp literal without its keyword. */
const literalText = (text: string): string => text.replace(/^(date|timestamp)\s+(?=['"])/i, '');

const strictConversion = (what: string, why: string, position: Position) =>
  semantic(`Line 0:-1 Wrong arguments '${what}': ${why} (hive.strict.timestamp.conversion)`, position);

export const tableKey = (name: TableName, currentDatabase: string): string =>
  `${(name.database?.name ?? currentDatabase).toLowerCase()}.${name.name.name.toLowerCase()}`;
