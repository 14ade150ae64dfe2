import { chunked, idList, type Lookup, type Row, type Statement } from '@skep/metadb';

/** A table by the names that TXN_TO_WRITE_ID has. */
export interface TableName {
  readonly database: string;
  readonly table: string;
}

export const tableKey = ({ database, table }: TableName): string => `${database}\0${table}`;

/** Conditions a statement may have: few enough for every driver, and for SQLite to look each up by the index. */
const MAX_CONDITIONS = 64;

type Writers = TableName & { readonly txnIds: readonly bigint[] };

/** The write ids that transactions have in tables. */
export const GIVEN_WRITE_IDS: Lookup<Writers> = { queries: (_tx, wanted) => writeIdQueries(wanted) };

function writeIdQueries(wanted: readonly Writers[]): Statement[] {
  const byTable = new Map<string, TableName & { readonly txnIds: Set<bigint> }>();
  for (const { database, table, txnIds } of wanted) {
    const key = tableKey({ database, table });
    const known = byTable.get(key) ?? { database, table, txnIds: new Set() };
    byTable.set(key, known);
    for (const txnId of txnIds) known.txnIds.add(txnId);
  }
  const conditions = [...byTable.values()].flatMap(({ database, table, txnIds }) => {
    return chunked([...txnIds]).map((chunk): Statement => {
      const ids = idList(chunk);
      return [`T2W_DATABASE = ? AND T2W_TABLE = ? AND T2W_TXNID IN ${ids.sql}`, [database, table, ...ids.params]];
    });
  });
  // Together not more ids than one long list has.
  const perStatement = conditions.some(([, params = []]) => params.length > MAX_CONDITIONS) ? 1 : MAX_CONDITIONS;
  return chunked(conditions, perStatement).map((some) => [
    `SELECT T2W_DATABASE, T2W_TABLE, T2W_TXNID, T2W_WRITEID FROM TXN_TO_WRITE_ID WHERE ${anyOf(some)}`,
    some.flatMap(([, params = []]) => params),
  ]);
}

/** Conditions, of which any may hold. */
export function anyOf(conditions: readonly Statement[]): string {
  return conditions.map(([sql]) => `(${sql})`).join(' OR ');
}

/** Write ids of transactions by table, as a query found them and as they are given out. */
export class WriteIds {
  private readonly ids = new Map<string, bigint>();

  /** From the answers to GIVEN_WRITE_IDS. */
  constructor(answers: readonly Row[][]) {
    for (const row of answers.flat()) {
      const at = { database: row.T2W_DATABASE as string, table: row.T2W_TABLE as string };
      this.set(at, row.T2W_TXNID as bigint, row.T2W_WRITEID as bigint);
    }
  }

  get(at: TableName, txnId: bigint): bigint | undefined {
    return this.ids.get(`${txnId}\0${tableKey(at)}`);
  }

  set(at: TableName, txnId: bigint, writeId: bigint): void {
    this.ids.set(`${txnId}\0${tableKey(at)}`, writeId);
  }
}
