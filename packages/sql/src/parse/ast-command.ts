import type { Statement } from './ast.js';
import type { Expression, Identifier, Node, OrderItem, TableName } from './ast-expression.js';
import type { PartitionSpec } from './ast-query.js';
import type { TypeNode } from './ast-type.js';

/** `pattern` is the text after LIKE (or bare), in Hive's glob or regular expression form. */
export type ShowStatement = Node & { readonly kind: 'show'; readonly what: ShowWhat };

export type ShowWhat =
  | { readonly kind: 'databases'; readonly pattern?: string; readonly extended: boolean }
  | {
      readonly kind: 'tables';
      readonly database?: Identifier;
      readonly pattern?: string;
      readonly extended: boolean;
      readonly tableType?: string;
    }
  | { readonly kind: 'views'; readonly database?: Identifier; readonly pattern?: string }
  | { readonly kind: 'materialized-views'; readonly database?: Identifier; readonly pattern?: string }
  | { readonly kind: 'columns'; readonly table: TableName; readonly pattern?: string; readonly sorted: boolean }
  | { readonly kind: 'functions'; readonly pattern?: string }
  | {
      readonly kind: 'partitions';
      readonly table: TableName;
      readonly partition?: PartitionSpec;
      readonly where?: Expression;
      readonly orderBy: readonly OrderItem[];
      readonly limit?: number;
    }
  | { readonly kind: 'create-table'; readonly table: TableName }
  | { readonly kind: 'create-database'; readonly database: Identifier }
  | {
      readonly kind: 'table-extended';
      readonly database?: Identifier;
      readonly pattern: string;
      readonly partition?: PartitionSpec;
    }
  | { readonly kind: 'tblproperties'; readonly table: TableName; readonly key?: string }
  | { readonly kind: 'transactions' }
  | {
      readonly kind: 'locks';
      readonly table?: TableName;
      readonly partition?: PartitionSpec;
      readonly database?: Identifier;
      readonly extended: boolean;
    }
  | {
      readonly kind: 'compactions';
      readonly compactionId?: bigint;
      readonly database?: Identifier;
      readonly table?: TableName;
      readonly partition?: PartitionSpec;
      readonly pool?: string;
      readonly type?: string;
      readonly status?: string;
      readonly orderBy: readonly OrderItem[];
      readonly limit?: number;
    }
  | { readonly kind: 'conf'; readonly name: string }
  | { readonly kind: 'processlist' }
  /** ROLES, GRANT, PRINCIPALS, RESOURCE PLANS, DATACONNECTORS, INDEXES: in lower case. */
  | { readonly kind: 'unsupported'; readonly name: string };

/** DESCRIBE [FORMATTED | EXTENDED] t [column or path] [PARTITION (…)]. `column` is the path written after the table. */
export interface DescribeTableStatement extends Node {
  readonly kind: 'describe-table';
  readonly style?: 'formatted' | 'extended';
  readonly table: TableName;
  readonly column?: readonly Identifier[];
  readonly partition?: PartitionSpec;
}
export interface DescribeDatabaseStatement extends Node {
  readonly kind: 'describe-database';
  readonly extended: boolean;
  readonly database: Identifier;
}
export interface DescribeFunctionStatement extends Node {
  readonly kind: 'describe-function';
  readonly extended: boolean;
  readonly name: string;
}
/** `mode`: EXTENDED, FORMATTED, CBO, AST, … in lower case, in the order written; ANALYZE runs the statement. */
export interface ExplainStatement extends Node {
  readonly kind: 'explain';
  readonly mode: readonly string[];
  readonly statement: Statement;
}
export interface AbortTransactionsStatement extends Node {
  readonly kind: 'abort-transactions';
  readonly ids: readonly bigint[];
}
export interface AbortCompactionsStatement extends Node {
  readonly kind: 'abort-compactions';
  readonly ids: readonly bigint[];
}
export interface LockTableStatement extends Node {
  readonly kind: 'lock-table';
  readonly table: TableName;
  readonly partition?: PartitionSpec;
  readonly mode: 'shared' | 'exclusive';
}
export interface UnlockTableStatement extends Node {
  readonly kind: 'unlock-table';
  readonly table: TableName;
  readonly partition?: PartitionSpec;
}
export interface LockDatabaseStatement extends Node {
  readonly kind: 'lock-database';
  readonly database: Identifier;
  readonly mode: 'shared' | 'exclusive';
}
export interface UnlockDatabaseStatement extends Node {
  readonly kind: 'unlock-database';
  readonly database: Identifier;
}
/** START TRANSACTION, and BEGIN [TRANSACTION | WORK], which Hive has not. */
export interface StartTransactionStatement extends Node {
  readonly kind: 'start-transaction';
  readonly readOnly: boolean;
  readonly isolationLevel?: 'snapshot';
}
export interface CommitStatement extends Node {
  readonly kind: 'commit';
}
export interface RollbackStatement extends Node {
  readonly kind: 'rollback';
}
export interface SetAutocommitStatement extends Node {
  readonly kind: 'set-autocommit';
  readonly value: boolean;
}
export interface CreateFunctionStatement extends Node {
  readonly kind: 'create-function';
  readonly temporary: boolean;
  readonly name: string;
  readonly className: string;
  readonly resources: readonly { readonly type: 'jar' | 'file' | 'archive'; readonly path: string }[];
}
export interface DropFunctionStatement extends Node {
  readonly kind: 'drop-function';
  readonly temporary: boolean;
  readonly ifExists: boolean;
  readonly name: string;
}
export interface ReloadFunctionsStatement extends Node {
  readonly kind: 'reload-functions';
}
export interface KillQueryStatement extends Node {
  readonly kind: 'kill-query';
  readonly ids: readonly string[];
}
export interface CreateMacroStatement extends Node {
  readonly kind: 'create-macro';
  readonly name: string;
  readonly parameters: readonly { readonly name: Identifier; readonly type: TypeNode }[];
  readonly body: Expression;
}
/** A statement of Hive's that skep knows but does not do (GRANT, CREATE ROLE, REPL, CREATE INDEX …). `name` is in lower case. */
export interface UnsupportedStatement extends Node {
  readonly kind: 'unsupported';
  readonly name: string;
}

export type CommandStatement =
  | ShowStatement
  | DescribeTableStatement
  | DescribeDatabaseStatement
  | DescribeFunctionStatement
  | ExplainStatement
  | AbortTransactionsStatement
  | AbortCompactionsStatement
  | LockTableStatement
  | UnlockTableStatement
  | LockDatabaseStatement
  | UnlockDatabaseStatement
  | StartTransactionStatement
  | CommitStatement
  | RollbackStatement
  | SetAutocommitStatement
  | CreateFunctionStatement
  | DropFunctionStatement
  | ReloadFunctionsStatement
  | KillQueryStatement
  | CreateMacroStatement
  | UnsupportedStatement;

/** `SET` (neither field), `SET -v` (`verbose`), `SET key`, `SET key=value` (the value as written, trimmed; may be empty). */
export interface SetStatement extends Node {
  readonly kind: 'set';
  readonly verbose: boolean;
  readonly key?: string;
  readonly value?: string;
}
/** `RESET` everything, `RESET key …`, `RESET -d key …` (to the default of the configuration). */
export interface ResetStatement extends Node {
  readonly kind: 'reset';
  readonly toDefault: boolean;
  readonly keys: readonly string[];
}
export interface DfsStatement extends Node {
  readonly kind: 'dfs';
  readonly arguments: readonly string[];
}
/** `!command` of the CLI; `command` is the rest of the text. */
export interface ShellStatement extends Node {
  readonly kind: 'shell';
  readonly command: string;
}
export interface ResourceStatement extends Node {
  readonly kind: 'resource';
  readonly action: 'add' | 'list' | 'delete';
  readonly type: 'jar' | 'file' | 'archive';
  readonly paths: readonly string[];
}
export interface SourceStatement extends Node {
  readonly kind: 'source';
  readonly path: string;
}
export interface QuitStatement extends Node {
  readonly kind: 'quit';
}

export type CliStatement =
  | SetStatement
  | ResetStatement
  | DfsStatement
  | ShellStatement
  | ResourceStatement
  | SourceStatement
  | QuitStatement;
