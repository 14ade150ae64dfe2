import {
  carryOutStep,
  chunked,
  idList,
  insertStatements,
  type Statement,
  type Step,
  settled,
  type Tx,
  want,
} from '@skep/metadb';
import { type AllocateTableWriteIdsRequest, InvalidRequestError, type TxnToWriteId, TxnType } from '@skep/rpc';
import { COMPACT, COMPONENTS, ComponentRows } from './components.js';
import { assertOpen, distinctIds, HELD_TXNS, toTxnRows } from './txn-state.js';
import { anyOf, GIVEN_WRITE_IDS, type TableName, tableKey, WriteIds } from './write-id-rows.js';

/** What a transaction asks for, checked. */
export interface Allocation extends TableName {
  /** Ascending. */
  readonly txnIds: readonly bigint[];
  readonly reallocate: boolean;
}

export function toAllocation({ txnIds, reallocate, ...names }: AllocateTableWriteIdsRequest): Allocation {
  if (txnIds.length === 0) throw new InvalidRequestError('no transaction given to allocate write ids for');
  return { ...tableOf(names.database, names.table), txnIds: distinctIds(txnIds), reallocate };
}

function tableOf(database: string, table: string): TableName {
  if (database === '' || table === '') throw new InvalidRequestError('a table is named by database and table');
  return { database: database.toLowerCase(), table: table.toLowerCase() };
}

/**
 * AllocateTableWriteIdsFunction: ascending by transaction, contiguous, from 1. A transaction that has one keeps it, unless
 * it asks for a new one.
 */
export function allocatingStep(tx: Tx, requests: readonly Allocation[]): Step<TxnToWriteId[]> {
  const txnIds = requests.flatMap((request) => request.txnIds);
  return {
    lookups: [want(HELD_TXNS, txnIds), want(COMPONENTS, txnIds), want(GIVEN_WRITE_IDS, requests)],
    // Held until commit, so that ids appear in their order.
    queries: sequenceQueries(tx, requests),
    decide(answers) {
      const txns = toTxnRows(answers.of(HELD_TXNS));
      const present = new ComponentRows(answers.of(COMPONENTS));
      const given = new WriteIds(answers.of(GIVEN_WRITE_IDS));
      const sequences = new Sequences(answers.own.flat() as unknown as SequenceRow[]);
      const removals: Statement[] = [];
      const statements: Statement[] = [];
      const mappings: (readonly [bigint, string, string, bigint])[] = [];
      const outcomes = requests.map((at) =>
        settled(() => {
          for (const txnId of at.txnIds) {
            if (assertOpen(txnId, txns.get(txnId)).type === TxnType.TXN_TYPE_READ_ONLY) {
              const table = `${at.database}.${at.table}`;
              throw new InvalidRequestError(`txnid:${txnId} is read-only and cannot write to ${table}`);
            }
          }
          if (at.reallocate) removals.push(...chunked(at.txnIds).map((chunk) => forgetMapping(at, chunk)));
          return at.txnIds.map((txnId): TxnToWriteId => {
            const known = at.reallocate ? undefined : given.get(at, txnId);
            if (known !== undefined) return { txnId, writeId: known };
            const writeId = sequences.next(at);
            given.set(at, txnId, writeId);
            mappings.push([txnId, at.database, at.table, writeId]);
            if (present.of(txnId).some((component) => tableKey(component) === tableKey(at))) {
              statements.push(setComponents(at, txnId, writeId));
            }
            return { txnId, writeId };
          });
        }),
      );
      const columns = ['T2W_TXNID', 'T2W_DATABASE', 'T2W_TABLE', 'T2W_WRITEID'];
      return {
        removals,
        statements: [...statements, ...sequences.advance(), ...insertStatements('TXN_TO_WRITE_ID', columns, mappings)],
        outcomes: () => outcomes,
      };
    },
  };
}

/** The same of one request. */
export async function allocateWriteIds(tx: Tx, request: Allocation): Promise<TxnToWriteId[]> {
  const [outcome] = await carryOutStep(tx, allocatingStep(tx, [request]));
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

function forgetMapping({ database, table }: TableName, txnIds: readonly bigint[]): Statement {
  const ids = idList(txnIds);
  return [
    `DELETE FROM TXN_TO_WRITE_ID WHERE T2W_DATABASE = ? AND T2W_TABLE = ? AND T2W_TXNID IN ${ids.sql}`,
    [database, table, ...ids.params],
  ];
}

interface SequenceRow {
  readonly NWI_DATABASE: string;
  readonly NWI_TABLE: string;
  readonly NWI_NEXT: bigint;
}

const ofTable = ({ database, table }: TableName): Statement => [
  'NWI_DATABASE = ? AND NWI_TABLE = ?',
  [database, table],
];

/** What reads the next write ids of tables, and holds them until commit: in the order of the index, like everybody. */
function sequenceQueries(tx: Tx, tables: readonly TableName[]): Statement[] {
  const conditions = new Map(tables.map((at) => [tableKey(at), ofTable(at)]));
  const { forUpdate, useIndex } = tx.dialect;
  return chunked([...conditions.values()], MAX_TABLES).map((some) => [
    `SELECT NWI_DATABASE, NWI_TABLE, NWI_NEXT FROM NEXT_WRITE_ID${useIndex('NEXT_WRITE_ID_IDX')} WHERE ${anyOf(some)}${forUpdate}`,
    some.flatMap(([, params = []]) => params),
  ]);
}

/** Tables whose sequences one statement looks up. */
const MAX_TABLES = 64;

/** The sequences of tables while they are held. */
class Sequences {
  private readonly tables = new Map<string, TableName & { readonly first: bigint; next: bigint; isNew: boolean }>();

  constructor(rows: readonly SequenceRow[]) {
    for (const { NWI_DATABASE: database, NWI_TABLE: table, NWI_NEXT: next } of rows) {
      this.tables.set(tableKey({ database, table }), { database, table, first: next, next, isNew: false });
    }
  }

  next({ database, table }: TableName): bigint {
    const key = tableKey({ database, table });
    const sequence = this.tables.get(key) ?? { database, table, first: 1n, next: 1n, isNew: true };
    this.tables.set(key, sequence);
    return sequence.next++;
  }

  /** What records the ids given out: those of tables that went on by as many in one statement. */
  advance(): Statement[] {
    const taken = [...this.tables.values()].filter(({ first, next }) => next > first);
    const added = taken.filter(({ isNew }) => isNew).map(({ database, table, next }) => [database, table, next]);
    const steps = new Map<bigint, TableName[]>();
    for (const sequence of taken.filter(({ isNew }) => !isNew)) {
      const step = sequence.next - sequence.first;
      steps.set(step, [...(steps.get(step) ?? []), sequence]);
    }
    return [
      // Another process that adds the row at the same time makes the transaction run again, which then finds it.
      ...insertStatements('NEXT_WRITE_ID', ['NWI_DATABASE', 'NWI_TABLE', 'NWI_NEXT'], added),
      ...[...steps].flatMap(([step, tables]) =>
        chunked(tables.map(ofTable), MAX_TABLES).map((some): Statement => {
          const params = some.flatMap(([, values = []]) => values);
          return [`UPDATE NEXT_WRITE_ID SET NWI_NEXT = NWI_NEXT + ? WHERE ${anyOf(some)}`, [step, ...params]];
        }),
      ),
    ];
  }
}

/** Components recorded before, without an id or with the one just given up, are about this write now. */
function setComponents({ database, table }: TableName, txnId: bigint, writeId: bigint): Statement {
  return [
    `UPDATE TXN_COMPONENTS SET TC_WRITEID = ? WHERE TC_TXNID = ? AND TC_DATABASE = ? AND TC_TABLE = ?
      AND TC_OPERATION_TYPE <> '${COMPACT}'`,
    [writeId, txnId, database, table],
  ];
}

/** TxnHandler.seedWriteId: write ids go on above what was there before; they never go back. */
export async function seedWriteId(tx: Tx, database: string, table: string, seed: bigint): Promise<void> {
  const at = tableOf(database, table);
  if (seed < 0n) throw new InvalidRequestError(`${seed} is no write id`);
  const [row] = (await tx.allOf(sequenceQueries(tx, [at]))).flat() as unknown as SequenceRow[];
  const [condition, params = []] = ofTable(at);
  const values = [at.database, at.table, seed + 1n];
  if (row === undefined) {
    await tx.runAll(insertStatements('NEXT_WRITE_ID', ['NWI_DATABASE', 'NWI_TABLE', 'NWI_NEXT'], [values]));
  } else if (row.NWI_NEXT <= seed) {
    await tx.run(`UPDATE NEXT_WRITE_ID SET NWI_NEXT = ? WHERE ${condition}`, [seed + 1n, ...params]);
  }
}
