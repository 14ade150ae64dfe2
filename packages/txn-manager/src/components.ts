import { insertStatements, type Row, type Statement, type Tx } from '@skep/metadb';
import { type AddDynamicPartitionsRequest, DataOperation, InvalidRequestError, type WriteComponent } from '@skep/rpc';
import { assertOpen, toTxnRows, txnRowQueries } from './txn-state.js';

/** TC_OPERATION_TYPE of the compactor. */
export const COMPACT = 'c';

/** A row of TXN_COMPONENTS. */
export interface Component {
  readonly database: string;
  readonly table: string;
  readonly partition: string | undefined;
  /** i, u, d or c. */
  readonly operation: string;
  readonly writeId: bigint | undefined;
}

function operationCode(operation: DataOperation): string | undefined {
  switch (operation) {
    case DataOperation.DATA_OPERATION_INSERT:
      return 'i';
    case DataOperation.DATA_OPERATION_UPDATE:
      return 'u';
    case DataOperation.DATA_OPERATION_DELETE:
      return 'd';
    case DataOperation.DATA_OPERATION_COMPACT:
      return COMPACT;
    default:
      return undefined;
  }
}

/**
 * The rows a request makes (InsertTxnComponentsCommand): one a component, but a dynamic-partition write makes one a table
 * without partition, `u` if any of them updates or deletes, because what it touches is not known yet.
 */
export function planComponents(components: readonly WriteComponent[]): Component[] {
  const planned = new Map<string, Component>();
  const put = (component: Component, key: string) =>
    planned.set(`${component.database}\0${component.table}\0${key}`, component);
  for (const { resource, operation, isDynamicPartitionWrite, writeId } of components) {
    const code = operationCode(operation);
    if (resource === undefined || resource.database === '' || resource.table === '' || code === undefined) {
      throw new InvalidRequestError('a write component needs a database, a table, and an operation that writes');
    }
    const at = { database: resource.database.toLowerCase(), table: resource.table.toLowerCase() };
    if (isDynamicPartitionWrite) {
      const known = planned.get(`${at.database}\0${at.table}\0dynamic`);
      const isUpdate = known?.operation === 'u' || code !== 'i';
      put({ ...at, partition: undefined, operation: isUpdate ? 'u' : 'i', writeId }, 'dynamic');
    } else {
      put({ ...at, partition: resource.partition, operation: code, writeId }, `${code}=${resource.partition ?? ''}`);
    }
  }
  return [...planned.values()];
}

interface RawComponent {
  TC_DATABASE: string;
  TC_TABLE: string;
  TC_PARTITION: string | null;
  TC_OPERATION_TYPE: string;
  TC_WRITEID: bigint | null;
}

export async function componentsOf(tx: Tx, txnId: bigint): Promise<Component[]> {
  return toComponents(await tx.all(...componentsQuery(txnId)));
}

export function componentsQuery(txnId: bigint): Statement {
  return [
    `SELECT TC_DATABASE, TC_TABLE, TC_PARTITION, TC_OPERATION_TYPE, TC_WRITEID FROM TXN_COMPONENTS WHERE TC_TXNID = ?`,
    [txnId],
  ];
}

/** From the answer to `componentsQuery`. */
export function toComponents(rows: readonly Row[]): Component[] {
  return (rows as unknown as RawComponent[]).map((row) => ({
    database: row.TC_DATABASE,
    table: row.TC_TABLE,
    partition: row.TC_PARTITION ?? undefined,
    operation: row.TC_OPERATION_TYPE,
    writeId: row.TC_WRITEID ?? undefined,
  }));
}

/** Records the components of an open transaction, each once, with the write id that it has in the table. */
export async function addComponents(tx: Tx, txnId: bigint, components: readonly Component[]): Promise<void> {
  await tx.runLast(await missingComponents(tx, txnId, components));
}

/** What inserts those that are not recorded yet. */
async function missingComponents(tx: Tx, txnId: bigint, components: readonly Component[]): Promise<Statement[]> {
  const tables = [...new Map(components.map((component) => [tableKey(component), component])).entries()];
  const [txn, present, ...writeIdRows] = await tx.allOf([
    ...txnRowQueries(tx, [txnId], true),
    componentsQuery(txnId),
    ...tables.map(([, component]) => writeIdQuery(txnId, component)),
  ]);
  assertOpen(txnId, toTxnRows([txn]).get(txnId));
  const known = new Set(toComponents(present).map(keyOf));
  const writeIds = new Map(tables.map(([table], i) => [table, writeIdRows[i][0]?.T2W_WRITEID as bigint | undefined]));
  const rows = components
    .filter((component) => !known.has(keyOf(component)))
    .map((component) => {
      const { database, table, partition, operation } = component;
      return [txnId, database, table, partition, operation, component.writeId ?? writeIds.get(tableKey(component))];
    });
  return insertStatements('TXN_COMPONENTS', COLUMNS, rows);
}

const COLUMNS = ['TC_TXNID', 'TC_DATABASE', 'TC_TABLE', 'TC_PARTITION', 'TC_OPERATION_TYPE', 'TC_WRITEID'];

const tableKey = ({ database, table }: Component): string => `${database}\0${table}`;

function keyOf(component: Component): string {
  const { database, table, partition, operation } = component;
  return JSON.stringify([database, table, partition ?? null, operation]);
}

function writeIdQuery(txnId: bigint, { database, table }: Component): Statement {
  return [
    'SELECT T2W_WRITEID FROM TXN_TO_WRITE_ID WHERE T2W_DATABASE = ? AND T2W_TABLE = ? AND T2W_TXNID = ?',
    [database, table, txnId],
  ];
}

/** TxnHandler.addDynamicPartitions: the partitions really touched, in place of the row that stood for all. */
export async function addDynamicPartitions(tx: Tx, request: AddDynamicPartitionsRequest): Promise<void> {
  const at = { database: request.database.toLowerCase(), table: request.table.toLowerCase() };
  const operation = operationCode(request.operation) ?? 'u';
  const writeId = request.writeId > 0n ? request.writeId : undefined;
  const rows = request.partitions.map((partition): Component => ({ ...at, partition, operation, writeId }));
  await tx.runLast([
    ...(await missingComponents(tx, request.txnId, rows)),
    [
      'DELETE FROM TXN_COMPONENTS WHERE TC_TXNID = ? AND TC_DATABASE = ? AND TC_TABLE = ? AND TC_PARTITION IS NULL',
      [request.txnId, at.database, at.table],
    ],
  ]);
}
