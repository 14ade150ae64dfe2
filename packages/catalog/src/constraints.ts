import type { SqlValue, Tx } from '@skep/metadb';
import { type Constraint, Constraint_Kind, type FieldSchema } from '@skep/rpc';
import { InvalidObjectError } from './errors.js';
import { groupBy, insertRows } from './rows.js';

/** KEY_CONSTRAINTS.CONSTRAINT_TYPE (MConstraint). */
const TYPES: readonly (readonly [Constraint_Kind, number, string])[] = [
  [Constraint_Kind.KIND_PRIMARY_KEY, 0, 'pk'],
  [Constraint_Kind.KIND_FOREIGN_KEY, 1, 'fk'],
  [Constraint_Kind.KIND_UNIQUE, 2, 'uk'],
  [Constraint_Kind.KIND_NOT_NULL, 3, 'nn'],
  [Constraint_Kind.KIND_DEFAULT, 4, 'dc'],
  [Constraint_Kind.KIND_CHECK, 5, 'cc'],
];
const FOREIGN_KEY = 1n;

/** The columns a constraint can name: those of the list `cdId`, then partition columns, which have no list. */
export interface ConstrainedTable {
  readonly tblId: bigint;
  readonly cdId: bigint | null;
  readonly columns: readonly FieldSchema[];
  readonly partitionKeys: readonly FieldSchema[];
}

interface ColumnPlace {
  readonly cdId: bigint | null;
  /** -1: no column, a CHECK of the whole table. */
  readonly index: number;
}

function placeOf(table: ConstrainedTable, name: string, what: string): ColumnPlace {
  const wanted = name.toLowerCase();
  const index = table.columns.findIndex((column) => column.name === wanted);
  if (index >= 0) return { cdId: table.cdId, index };
  const key = table.partitionKeys.findIndex((column) => column.name === wanted);
  if (key < 0) throw new InvalidObjectError(`${what} column not found: ${name}`);
  return { cdId: null, index: key };
}

const COLUMNS = [
  'CHILD_CD_ID',
  'CHILD_INTEGER_IDX',
  'CHILD_TBL_ID',
  'PARENT_CD_ID',
  'PARENT_INTEGER_IDX',
  'PARENT_TBL_ID',
  '`POSITION`',
  'CONSTRAINT_NAME',
  'CONSTRAINT_TYPE',
  'ENABLE_VALIDATE_RELY',
  'DEFAULT_VALUE',
];

/**
 * Adds constraints of a table. Hive keeps all but foreign keys as constraints of a "parent" without a "child".
 * `parentOf` looks up the table that a foreign key refers to.
 */
export async function insertConstraints(
  tx: Tx,
  table: ConstrainedTable,
  constraints: readonly Constraint[],
  parentOf: (name: string) => Promise<ConstrainedTable>,
): Promise<void> {
  const rows: SqlValue[][] = [];
  for (const [serial, constraint] of constraints.entries()) {
    const type = TYPES.find(([kind]) => kind === constraint.kind);
    if (type === undefined) throw new InvalidObjectError(`constraint ${constraint.name} has no kind`);
    const [, code, prefix] = type;
    const name = constraint.name || `${prefix}_${table.tblId}_${await tx.now()}_${serial}`;
    const flags = (constraint.enable ? 4 : 0) + (constraint.validate ? 2 : 0) + (constraint.rely ? 1 : 0);
    const tail = [name, code, flags, constraint.expression === '' ? null : constraint.expression];
    if (code === 1) {
      const parent = await parentOf(constraint.parentTable);
      for (const [at, column] of constraint.columns.entries()) {
        const child = placeOf(table, column, 'Child');
        const to = placeOf(parent, constraint.parentColumns[at] ?? '', 'Parent');
        rows.push([child.cdId, child.index, table.tblId, to.cdId, to.index, parent.tblId, at + 1, ...tail]);
      }
      continue;
    }
    const places = constraint.columns.map((column) => placeOf(table, column, 'Parent'));
    if (places.length === 0) places.push({ cdId: table.cdId, index: -1 });
    for (const [at, { cdId, index }] of places.entries()) {
      rows.push([null, null, null, cdId, index, table.tblId, at + 1, ...tail]);
    }
  }
  await insertRows(tx, 'KEY_CONSTRAINTS', COLUMNS, rows);
}

interface ConstraintRow {
  CONSTRAINT_NAME: string;
  CONSTRAINT_TYPE: bigint;
  ENABLE_VALIDATE_RELY: bigint;
  DEFAULT_VALUE: string | null;
  OWN_CD_ID: bigint | null;
  OWN_INTEGER_IDX: bigint;
  PARENT_DB: string | null;
  PARENT_TBL: string | null;
  PARENT_COLUMN: string | null;
}

/** Everything in one statement: a table without constraints costs one look into an index. */
const SELECT = `SELECT K.CONSTRAINT_NAME, K.CONSTRAINT_TYPE, K.ENABLE_VALIDATE_RELY, K.DEFAULT_VALUE,
  K.PARENT_CD_ID AS OWN_CD_ID, K.PARENT_INTEGER_IDX AS OWN_INTEGER_IDX, NULL AS PARENT_DB, NULL AS PARENT_TBL,
  NULL AS PARENT_COLUMN, K.\`POSITION\` AS P
  FROM KEY_CONSTRAINTS K WHERE K.PARENT_TBL_ID = ? AND K.CONSTRAINT_TYPE <> 1
  UNION ALL
  SELECT K.CONSTRAINT_NAME, K.CONSTRAINT_TYPE, K.ENABLE_VALIDATE_RELY, K.DEFAULT_VALUE,
  K.CHILD_CD_ID, K.CHILD_INTEGER_IDX, D.NAME, T.TBL_NAME, COALESCE(C.COLUMN_NAME, P.PKEY_NAME), K.\`POSITION\`
  FROM KEY_CONSTRAINTS K JOIN TBLS T ON T.TBL_ID = K.PARENT_TBL_ID JOIN DBS D ON D.DB_ID = T.DB_ID
  LEFT JOIN COLUMNS_V2 C ON C.CD_ID = K.PARENT_CD_ID AND C.INTEGER_IDX = K.PARENT_INTEGER_IDX
  LEFT JOIN PARTITION_KEYS P ON K.PARENT_CD_ID IS NULL AND P.TBL_ID = K.PARENT_TBL_ID
    AND P.INTEGER_IDX = K.PARENT_INTEGER_IDX
  WHERE K.CHILD_TBL_ID = ? AND K.CONSTRAINT_TYPE = 1
  ORDER BY CONSTRAINT_TYPE, CONSTRAINT_NAME, P`;

export async function readConstraints(tx: Tx, table: ConstrainedTable): Promise<Constraint[]> {
  const rows = await tx.all<ConstraintRow>(SELECT, [table.tblId, table.tblId]);
  const columnOf = (row: ConstraintRow): string[] => {
    const columns = row.OWN_CD_ID === null ? table.partitionKeys : table.columns;
    const index = Number(row.OWN_INTEGER_IDX);
    return index < 0 || index >= columns.length ? [] : [columns[index].name];
  };
  return [...groupBy(rows, (row) => row.CONSTRAINT_NAME).values()].map((group) => {
    const [first] = group;
    const flags = Number(first.ENABLE_VALIDATE_RELY);
    const isForeign = first.CONSTRAINT_TYPE === FOREIGN_KEY;
    return {
      kind: TYPES.find(([, code]) => BigInt(code) === first.CONSTRAINT_TYPE)?.[0] ?? Constraint_Kind.KIND_UNSPECIFIED,
      name: first.CONSTRAINT_NAME,
      columns: group.flatMap(columnOf),
      expression: first.DEFAULT_VALUE ?? '',
      enable: (flags & 4) !== 0,
      validate: (flags & 2) !== 0,
      rely: (flags & 1) !== 0,
      parentTable: isForeign ? `${first.PARENT_DB}.${first.PARENT_TBL}` : '',
      parentColumns: isForeign ? group.flatMap((row) => row.PARENT_COLUMN ?? []) : [],
    };
  });
}

/** The table's own constraints; with `dropped`, foreign keys of others that refer to it too. */
export async function deleteConstraints(tx: Tx, tblId: bigint, dropped: boolean): Promise<void> {
  await tx.run('DELETE FROM KEY_CONSTRAINTS WHERE CHILD_TBL_ID = ?', [tblId]);
  const own = dropped ? '' : ' AND CONSTRAINT_TYPE <> 1';
  await tx.run(`DELETE FROM KEY_CONSTRAINTS WHERE PARENT_TBL_ID = ?${own}`, [tblId]);
}
