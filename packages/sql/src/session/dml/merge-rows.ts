import { type ColumnVector, filterVector, isNull, type StructVector } from '@skep/orc';
import type { Constraint, Table } from '@skep/rpc';
import { ExecutionError } from '../errors.js';
import { partitionText } from '../partition/partition-value.js';
import type { WriteCounts } from '../result.js';
import type { ClauseWriters } from './merge.js';
import { columnsAsStruct, enforce, rowIdsOf } from './write-rows.js';

/** Distributes the rows of a MERGE's query over the writers of its clauses, and checks that no target row is matched twice. */
export class MergeRows {
  /** Target rows matched so far, by partition and ROW__ID. */
  private readonly matched = new Set<string>();
  private readonly dataNames: string[];
  /** The first row matched twice. It fails the statement at the end, when the files are whole, as Hive's separate check does. */
  private violation: ExecutionError | undefined;
  private closed = false;
  private readonly counts = { inserted: 0n, updated: 0n, deleted: 0n };

  constructor(
    private readonly table: Table,
    private readonly writers: readonly ClauseWriters[],
    private readonly checks: readonly Constraint[],
    private readonly checksCardinality: boolean,
  ) {
    this.dataNames = (table.sd?.columns ?? []).map((column) => column.name);
  }

  /** Columns: clause, ROW__ID, old partition, new data columns, new partition, constraint tests. */
  async write(batch: StructVector): Promise<void> {
    const keyCount = this.table.partitionKeys.length;
    const [clause, rowId] = batch.children;
    const oldKeys = batch.children.slice(2, 2 + keyCount);
    if (this.checksCardinality) this.checkCardinality(rowId, oldKeys);
    const byClause = this.writers.map((): number[] => []);
    for (let row = 0; row < batch.length; row++) {
      if (!isNull(clause, row)) byClause[clauseAt(clause, row)].push(row);
    }
    for (let i = 0; i < this.writers.length; i++) {
      if (byClause[i].length === 0) continue;
      const selection = Int32Array.from(byClause[i]);
      const taken = batch.children.map((vector) => filterVector(vector, selection));
      await this.writeClause(this.writers[i], taken, selection.length, keyCount);
    }
  }

  private async writeClause(
    writers: ClauseWriters,
    columns: readonly ColumnVector[],
    length: number,
    keyCount: number,
  ): Promise<void> {
    const data = 2 + keyCount;
    const newKeys = data + this.dataNames.length;
    if (writers.inserts !== undefined) enforce(this.table, this.checks, columns.slice(newKeys + keyCount));
    await writers.deletes?.write(rowIdsOf(columns[1]), length, columns.slice(2, data));
    const rows = columnsAsStruct(this.dataNames, columns.slice(data, newKeys), length);
    await writers.inserts?.write(rows, length, columns.slice(newKeys, newKeys + keyCount));
    if (writers.kind === 'insert') this.counts.inserted += BigInt(length);
    else if (writers.kind === 'update') this.counts.updated += BigInt(length);
    else this.counts.deleted += BigInt(length);
  }

  /** ROW__ID is unique in a partition only (bug report B85). */
  private checkCardinality(rowId: ColumnVector, keys: readonly ColumnVector[]): void {
    const { writeId, bucket, rowId: number } = rowIdsOf(rowId);
    for (let row = 0; row < rowId.length; row++) {
      if (isNull(rowId, row)) continue;
      const id = `${writeId.values[row]},${bucket.values[row]},${number.values[row]}`;
      const partition = keys.map((key, i) => partitionText(this.table.partitionKeys[i].type, key, row)).join('/');
      const key = `${partition}\0${id}`;
      if (this.matched.has(key)) {
        this.violation ??= new ExecutionError(
          `Cardinality Violation in Merge statement: [${id}]${partition === '' ? '' : `, [${partition}]`}: more than one source row matches this target row`,
        );
      }
      this.matched.add(key);
    }
  }

  async close(): Promise<WriteCounts> {
    for (const { deletes, inserts } of this.writers) {
      await deletes?.close();
      await inserts?.close();
    }
    this.closed = true;
    if (this.violation !== undefined) throw this.violation;
    return this.counts;
  }

  /** Removes what was written; files that were whole stay for the Cleaner, seen by nobody. */
  async abort(): Promise<void> {
    if (this.closed) return;
    for (const { deletes, inserts } of this.writers) {
      await deletes?.abort();
      await inserts?.abort();
    }
  }
}

function clauseAt(vector: ColumnVector, row: number): number {
  if (vector.kind === 'int') return vector.values[row];
  throw new ExecutionError(`the clause number came as ${vector.kind}`);
}
