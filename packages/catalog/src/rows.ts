import { insertStatements, type SqlValue, type Tx } from '@skep/metadb';

/** Whose ids SEQUENCE_TABLE hands out; DataNucleus counts by the class names of Hive's model. */
export type Model = 'MDatabase' | 'MTable' | 'MPartition' | 'MStorageDescriptor' | 'MSerDeInfo' | 'MColumnDescriptor';

/** The first of `count` new ids in a row. */
export async function nextIds(tx: Tx, model: Model, count = 1): Promise<bigint> {
  const name = `org.apache.hadoop.hive.metastore.model.${model}`;
  const { changes } = await tx.run('UPDATE SEQUENCE_TABLE SET NEXT_VAL = NEXT_VAL + ? WHERE SEQUENCE_NAME = ?', [
    count,
    name,
  ]);
  if (changes === 0) {
    await tx.run('INSERT INTO SEQUENCE_TABLE (SEQUENCE_NAME, NEXT_VAL) VALUES (?, ?)', [name, 1 + count]);
    return 1n;
  }
  const row = await tx.get<{ NEXT_VAL: bigint }>('SELECT NEXT_VAL FROM SEQUENCE_TABLE WHERE SEQUENCE_NAME = ?', [name]);
  return (row?.NEXT_VAL ?? 0n) - BigInt(count);
}

/** Inserts rows, many a statement. `columns` as they stand in SQL. */
export async function insertRows(
  tx: Tx,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly SqlValue[])[],
): Promise<void> {
  await tx.runAll(insertStatements(table, columns, rows));
}

export type Parameters = Record<string, string>;

/** `TABLE_PARAMS`, `SERDE_PARAMS` and kin. */
export async function insertParameters(
  tx: Tx,
  table: string,
  idColumn: string,
  owners: readonly (readonly [id: bigint, parameters: Parameters])[],
): Promise<void> {
  const rows = owners.flatMap(([id, parameters]) => Object.entries(parameters).map(([key, value]) => [id, key, value]));
  await insertRows(tx, table, [idColumn, 'PARAM_KEY', 'PARAM_VALUE'], rows);
}

export function sameParameters(a: Parameters, b: Parameters): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** MySQL answers bit(1) with a byte string. */
export function isTrue(value: bigint | Uint8Array | null): boolean {
  return value !== null && (typeof value === 'bigint' ? value !== 0n : value[0] !== 0);
}

/** Groups rows by an id. */
export function groupBy<R, K>(rows: readonly R[], keyOf: (row: R) => K): Map<K, R[]> {
  const groups = new Map<K, R[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}
