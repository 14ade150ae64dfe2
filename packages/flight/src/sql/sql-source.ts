import type { StructVector, TypeDescription } from '@skep/orc';
import type { Caller } from '../streams/data-source.js';

/** What a statement answered. */
export interface SqlAnswer {
  /** Of its rows; none: it has no rows. */
  readonly columns: readonly { readonly name: string; readonly type: TypeDescription }[];
  /** Fetches the rows, once, within `expiresMs`; absent: there are none. */
  readonly handle?: string;
  readonly expiresMs: number;
  /** Rows that it changed; undefined where that is not known. */
  readonly changed?: bigint;
}

/** Statements of HiveQL, each a transaction of its own. */
export interface SqlSource {
  databases(caller: Caller): Promise<readonly string[]>;
  run(statement: string, caller: Caller): Promise<SqlAnswer>;
  /** The rows of an answer, and what they are. `return` ends the statement, also where no row was asked for yet. */
  rows(
    handle: string,
    caller: Caller,
  ): Promise<{ readonly columns: SqlAnswer['columns']; readonly rows: AsyncIterableIterator<StructVector> }>;
}
