import {
  carryOutStep,
  chunked,
  idList,
  insertStatements,
  type Lookup,
  type Row,
  type SqlValue,
  type Statement,
  type Step,
  settled,
  type Tx,
  want,
} from '@skep/metadb';
import { type AddDynamicPartitionsRequest, DataOperation, InvalidRequestError, type WriteComponent } from '@skep/rpc';
import { assertOpen, distinctIds, HELD_TXNS, toTxnRows } from './txn-state.js';
import { GIVEN_WRITE_IDS, WriteIds } from './write-id-rows.js';

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
  TC_TXNID: bigint;
  TC_DATABASE: string;
  TC_TABLE: string;
  TC_PARTITION: string | null;
  TC_OPERATION_TYPE: string;
  TC_WRITEID: bigint | null;
}

/** What these transactions are recorded to write. */
export function componentQueries(txnIds: readonly bigint[]): Statement[] {
  return chunked(txnIds).map((chunk) => {
    const ids = idList(chunk);
    return [
      `SELECT TC_TXNID, TC_DATABASE, TC_TABLE, TC_PARTITION, TC_OPERATION_TYPE, TC_WRITEID FROM TXN_COMPONENTS
        WHERE TC_TXNID IN ${ids.sql}`,
      ids.params,
    ];
  });
}

export const COMPONENTS: Lookup<bigint> = { queries: (_tx, txnIds) => componentQueries(distinctIds(txnIds)) };

/** From the answers to `componentQueries`, by transaction. */
export class ComponentRows {
  private readonly byTxn = new Map<bigint, Component[]>();

  constructor(answers: readonly Row[][]) {
    for (const row of answers.flat() as unknown as RawComponent[]) {
      const found = this.byTxn.get(row.TC_TXNID) ?? [];
      this.byTxn.set(row.TC_TXNID, found);
      found.push({
        database: row.TC_DATABASE,
        table: row.TC_TABLE,
        partition: row.TC_PARTITION ?? undefined,
        operation: row.TC_OPERATION_TYPE,
        writeId: row.TC_WRITEID ?? undefined,
      });
    }
  }

  of(txnId: bigint): readonly Component[] {
    return this.byTxn.get(txnId) ?? [];
  }
}

/** Whether any of these transactions is recorded to write anything. */
export async function haveComponents(tx: Tx, txnIds: readonly bigint[]): Promise<boolean> {
  return (await tx.allOf(componentQueries(txnIds))).flat().length > 0;
}

/** What a transaction is about to write. */
export interface PlannedWrites {
  readonly txnId: bigint;
  readonly components: readonly Component[];
}

/** Records the components of open transactions, each once, with the write id that it has in the table. */
export function recordingStep(requests: readonly PlannedWrites[]): Step<undefined> {
  const txnIds = requests.map(({ txnId }) => txnId);
  const tables = requests.flatMap(({ txnId, components }) =>
    components.map((component) => ({ ...component, txnIds: [txnId] })),
  );
  return {
    lookups: [want(HELD_TXNS, txnIds), want(COMPONENTS, txnIds), want(GIVEN_WRITE_IDS, tables)],
    decide(answers) {
      const txns = toTxnRows(answers.of(HELD_TXNS));
      const present = new ComponentRows(answers.of(COMPONENTS));
      const given = new WriteIds(answers.of(GIVEN_WRITE_IDS));
      const known = new Map(distinctIds(txnIds).map((txnId) => [txnId, new Set(present.of(txnId).map(keyOf))]));
      const rows: SqlValue[][] = [];
      const outcomes = requests.map(({ txnId, components }) =>
        settled(() => {
          assertOpen(txnId, txns.get(txnId));
          for (const component of components) {
            const key = keyOf(component);
            if (known.get(txnId)?.has(key)) continue;
            known.get(txnId)?.add(key);
            const { database, table, partition, operation, writeId } = component;
            rows.push([txnId, database, table, partition, operation, writeId ?? given.get(component, txnId)]);
          }
          return undefined;
        }),
      );
      return { statements: insertStatements('TXN_COMPONENTS', COLUMNS, rows), outcomes: () => outcomes };
    },
  };
}

/** The same of one transaction. */
export async function addComponents(tx: Tx, request: PlannedWrites): Promise<void> {
  const [outcome] = await carryOutStep(tx, recordingStep([request]));
  if ('error' in outcome) throw outcome.error;
}

const COLUMNS = ['TC_TXNID', 'TC_DATABASE', 'TC_TABLE', 'TC_PARTITION', 'TC_OPERATION_TYPE', 'TC_WRITEID'];

function keyOf(component: Component): string {
  const { database, table, partition, operation } = component;
  return JSON.stringify([database, table, partition ?? null, operation]);
}

/** TxnHandler.addDynamicPartitions: the partitions really touched, in place of the row that stood for all. */
export async function addDynamicPartitions(tx: Tx, request: AddDynamicPartitionsRequest): Promise<void> {
  const at = { database: request.database.toLowerCase(), table: request.table.toLowerCase() };
  const operation = operationCode(request.operation) ?? 'u';
  const writeId = request.writeId > 0n ? request.writeId : undefined;
  const rows = request.partitions.map((partition): Component => ({ ...at, partition, operation, writeId }));
  const step = recordingStep([{ txnId: request.txnId, components: rows }]);
  const replaced: Statement = [
    'DELETE FROM TXN_COMPONENTS WHERE TC_TXNID = ? AND TC_DATABASE = ? AND TC_TABLE = ? AND TC_PARTITION IS NULL',
    [request.txnId, at.database, at.table],
  ];
  const [outcome] = await carryOutStep(tx, {
    ...step,
    decide: async (answers) => ({ ...(await step.decide(answers, tx)), removals: [replaced] }),
  });
  if ('error' in outcome) throw outcome.error;
}
