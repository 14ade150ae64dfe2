import type { AlterStatement } from './ast-alter.js';
import type { CliStatement, CommandStatement } from './ast-command.js';
import type { DdlStatement } from './ast-ddl.js';
import type { DmlStatement } from './ast-dml.js';
import type { Query } from './ast-query.js';

export type * from './ast-alter.js';
export type * from './ast-command.js';
export type * from './ast-ddl.js';
export type * from './ast-dml.js';
export type * from './ast-expression.js';
export type * from './ast-query.js';
export type * from './ast-type.js';

/** Everything a script may contain; `kind` tells them apart. All nodes are plain frozen-by-type data. */
export type Statement = Query | DmlStatement | DdlStatement | AlterStatement | CommandStatement | CliStatement;
