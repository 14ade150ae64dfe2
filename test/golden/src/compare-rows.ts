import { orderColumns, outermostOrderBy } from './order-by.js';

/** undefined: the same. */
export type Difference = string | undefined;

const ROW_ID = /\{"writeid":(-?\d+),"bucketid":(-?\d+),"rowid":(-?\d+)\}/g;

/** INPUT__FILE__NAME: which of its files holds a row is the writer's affair. */
const FILE = /(file:\/[^\t"]*\/)(?:bucket_\d+|\d{6})(?:_\w+)*/g;

/** The statement id inside a bucket property (org.apache.hadoop.hive.ql.io.BucketCodec, bits 11 to 0). */
const statementIdOf = (bucketProperty: string): number => Number(bucketProperty) & 0xfff;

/** The part of ROW__IDs that does not depend on how many writers Hive had: write id and statement id. */
export function maskRowIds(row: string): string {
  return row.replace(ROW_ID, (_, writeId, bucket) => `{"writeid":${writeId},"statementid":${statementIdOf(bucket)}}`);
}

/** All ROW__IDs in a row's text. */
export const rowIdsOf = (row: string): string[] => row.match(ROW_ID) ?? [];

export interface RowRules {
  readonly statement: string;
  readonly columns: readonly string[];
  /** ROW__IDs are Hive's own affair but for write id and statement id: the table is not bucketed. */
  readonly maskRowIds: boolean;
  /** Rows are lines in an order of their own (DESCRIBE, SHOW CREATE TABLE). */
  readonly inOrder?: boolean;
}

/** Masks what the rules leave open, in one row. */
function masked(row: string, rules: RowRules): string {
  if (!rules.maskRowIds) return row.replace(/(file:\/[^\t"]*)_v\d{7,}/g, '$1_vN');
  const text = maskRowIds(row).replace(FILE, (_, folder) => `${folder.replace(/_v\d{7,}/g, '_vN')}<data file>`);
  if (!/row__id\s*\.\s*(bucketid|rowid)/i.test(rules.statement)) return text;
  const cells = text.split('\t');
  if (cells.length !== rules.columns.length) return text;
  return cells
    .map((cell, i) => {
      if (rules.columns[i] === 'bucketid:int') return `statement ${statementIdOf(cell)}`;
      return rules.columns[i] === 'rowid:bigint' ? 'any' : cell;
    })
    .join('\t');
}

/** What of a row the order is decided by. */
function sortKey(row: string, by: readonly number[], rules: RowRules): string {
  const cells = row.split('\t');
  if (cells.length !== rules.columns.length) return row;
  const keys = by.map((i) => cells[i]);
  if (!rules.maskRowIds) return keys.join('\t');
  return keys.join('\t').replace(/,"(bucketid|statementid)":-?\d+(,"rowid":-?\d+)?/g, '');
}

/** Sorts the rows of each run of equal sort keys: a query does not decide their order. */
function normalizeTies(rows: readonly string[], by: readonly number[], rules: RowRules): string[] {
  const out: string[] = [];
  for (let start = 0; start < rows.length; ) {
    const key = sortKey(rows[start], by, rules);
    let end = start + 1;
    while (end < rows.length && sortKey(rows[end], by, rules) === key) end++;
    out.push(...rows.slice(start, end).sort());
    start = end;
  }
  return out;
}

/** Rows brought into the form in which they are compared. */
export function comparableRows(rows: readonly string[], rules: RowRules): string[] {
  const text = rows.map((row) => masked(row, rules));
  if (rules.inOrder) return text;
  if (outermostOrderBy(rules.statement) === undefined) return text.sort();
  const by = orderColumns(rules.statement, rules.columns);
  return by === undefined ? text : normalizeTies(text, by, rules);
}

/** Compares rows by the rules: in order where the outermost ORDER BY decides it, otherwise as a multiset. */
export function compareRows(expected: readonly string[], got: readonly string[], rules: RowRules): Difference {
  const want = comparableRows(expected, rules);
  const have = comparableRows(got, rules);
  if (want.length !== have.length) return `${have.length} rows instead of ${want.length}`;
  const at = want.findIndex((row, i) => row !== have[i]);
  if (at < 0) return undefined;
  const sameSet = [...want].sort().join('\n') === [...have].sort().join('\n');
  return sameSet ? 'the same rows in another order' : `rows differ, first: '${want[at]}' against '${have[at]}'`;
}

/**
 * All ROW__IDs of a partition differ: `partitionCells` names the columns that make up the partition; undefined where the
 * statement does not tell the partition of a row.
 */
export function repeatedRowId(
  rows: readonly string[],
  columns: number,
  partitionCells?: readonly number[],
): Difference {
  if (partitionCells === undefined) return undefined;
  const seen = new Set<string>();
  for (const row of rows) {
    const cells = row.split('\t');
    const partition = cells.length === columns ? partitionCells.map((i) => cells[i]).join('\t') : '';
    for (const id of rowIdsOf(row)) {
      const key = `${partition}\t${id}`;
      if (seen.has(key)) return `ROW__ID ${id} occurs twice in a partition`;
      seen.add(key);
    }
  }
  return undefined;
}
