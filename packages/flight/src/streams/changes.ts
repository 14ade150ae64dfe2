import type { RowIdVectors } from '@skep/acid';
import {
  type ColumnVector,
  countSet,
  createPrimitive,
  filterVector,
  type IntVector,
  type LongVector,
  parseType,
  type StructVector,
  vectorValue,
} from '@skep/orc';
import { type Data, type RecordBatch, type Schema, Type } from 'apache-arrow';
import { toVector } from '../arrow/from-arrow.js';
import type { RowChanges } from './data-source.js';
import { BadRequestError } from './errors.js';
import { type IncomingColumn, incomingRows } from './incoming.js';

/** Metadata of a schema with ROW__IDs: the snapshot (Hive's ValidTxnList as text) in which they are those of the rows. */
export const READ_BY = 'skep.validTxns';

/** Hive's ROW__ID. */
export const ROW_ID = 'row__id';
const ROW_ID_FIELDS = ['writeid', 'bucketid', 'rowid'] as const;
export const ROW_ID_TYPE = parseType('struct<writeid:bigint,bucketid:int,rowid:bigint>');

/** Where the columns of a mutation that are not the table's own are in the client's schema. */
export interface ChangeColumns {
  readonly operation: number;
  /** One column, or three. */
  readonly rowId: readonly number[];
  /** Names that are taken by them. */
  readonly names: ReadonlySet<string>;
}

/** `row__id`, a struct as DoGet delivers it, or its three fields as columns; and the operation. */
export function changeColumns(schema: Schema, operationColumn: string): ChangeColumns {
  const names = schema.fields.map((field) => field.name.toLowerCase());
  const operation = names.indexOf(operationColumn);
  if (operation < 0) {
    throw new BadRequestError(
      `mode mutate needs the column ${operationColumn} with insert, update or delete in each row: there are ${names.join(', ')}`,
    );
  }
  const whole = names.indexOf(ROW_ID);
  const rowId = whole >= 0 ? [whole] : ROW_ID_FIELDS.map((name) => names.indexOf(name));
  if (rowId.includes(-1)) {
    throw new BadRequestError(
      `mode mutate needs the column row__id, or writeid, bucketid and rowid: there are ${names.join(', ')}`,
    );
  }
  return { operation, rowId, names: new Set([operationColumn, ...(whole >= 0 ? [ROW_ID] : ROW_ID_FIELDS)]) };
}

/** The columns that rows have, those of the table that they lack, and the partition columns among them. */
export interface ChangedColumns {
  readonly columns: readonly IncomingColumn[];
  readonly missing: readonly string[];
  readonly keys: readonly string[];
}

/** A batch's events: deletes and updates take a row away, updates and inserts bring one. */
export function changesOf(
  batch: RecordBatch,
  { operation, rowId }: ChangeColumns,
  { columns, missing, keys: dynamicKeys }: ChangedColumns,
): RowChanges {
  const operations = operationsOf(batch.data.children[operation], batch.schema.fields[operation].name);
  const rowsWith = (...wanted: readonly Operation[]) =>
    Int32Array.from([...operations.keys()].filter((row) => wanted.includes(operations[row])));
  if (missing.length > 0 && operations.includes('update')) {
    const why = `an update brings the whole row, and these have no ${missing.join(', ')}`;
    throw new BadRequestError(`${why}: read all columns with row__id, and send them back`);
  }
  if (columns.length === 0 && operations.includes('insert'))
    throw new BadRequestError('the rows to insert have no column');
  const rows = incomingRows(batch, columns);
  const removed = rowsWith('update', 'delete');
  const added = rowsWith('insert', 'update');
  const keys: StructVector = {
    kind: 'struct',
    length: rows.length,
    fieldNames: dynamicKeys,
    children: dynamicKeys.map((name) => rows.children[rows.fieldNames.indexOf(name)]),
  };
  return {
    ...(removed.length === 0
      ? {}
      : {
          deleted: {
            rowIds: rowIdsOf(batch, rowId, removed),
            length: removed.length,
            keys: filterVector(keys, removed) as StructVector,
          },
        }),
    ...(added.length === 0 ? {} : { written: filterVector(rows, added) as StructVector }),
  };
}

type Operation = 'insert' | 'update' | 'delete';
/** Hive's numbers (OrcRecordUpdater.INSERT_OPERATION …). */
const OPERATIONS: readonly Operation[] = ['insert', 'update', 'delete'];

function operationsOf(data: Data, name: string): Operation[] {
  const isText = [Type.Utf8, Type.LargeUtf8, Type.Utf8View, Type.Dictionary].includes(data.type.typeId);
  const vector = toVector(data, createPrimitive(isText ? 'string' : 'int'), name);
  return Array.from({ length: vector.length }, (_, row) => {
    const value = vectorValue(vector, row);
    const found =
      typeof value === 'string'
        ? OPERATIONS.find((operation) => operation === value.toLowerCase())
        : OPERATIONS[Number(value ?? -1)];
    if (found !== undefined) return found;
    throw new BadRequestError(
      `column ${name}, row ${row} of the batch: ${value === null ? 'NULL' : String(value)} is no operation: insert (0), update (1) or delete (2)`,
    );
  });
}

/** The ROW__IDs of some rows, none of which may be NULL. */
function rowIdsOf(batch: RecordBatch, at: readonly number[], rows: Int32Array): RowIdVectors {
  const vectors: readonly ColumnVector[] =
    at.length === 1
      ? structFields(toVector(batch.data.children[at[0]], ROW_ID_TYPE, ROW_ID))
      : at.map((column, i) => toVector(batch.data.children[column], ROW_ID_TYPE.children[i], ROW_ID_FIELDS[i]));
  const [writeId, bucket, rowId] = vectors.map((vector, i) => {
    const chosen = filterVector(vector, rows);
    if (chosen.validity !== undefined && countSet(chosen.validity, chosen.length) < chosen.length) {
      throw new BadRequestError(`${ROW_ID_FIELDS[i]} is NULL in a row to update or delete`);
    }
    return chosen;
  });
  return { writeId: writeId as LongVector, bucket: bucket as IntVector, rowId: rowId as LongVector };
}

function structFields(vector: ColumnVector): readonly ColumnVector[] {
  if (vector.kind !== 'struct') throw new BadRequestError('row__id is no struct');
  const { validity } = vector;
  // A NULL of the struct is a NULL of each field.
  return vector.children.map((child) => (validity === undefined ? child : { ...child, validity }));
}
