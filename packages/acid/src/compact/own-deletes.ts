import type { WholeStripe } from '@skep/orc';
import { ACID_COLUMN, OPERATION } from '../read/acid-schema.js';
import type { EventBatch } from '../read/event-cursor.js';
import { type EventRun, runsWhere } from '../read/merge-events.js';
import { compareKeys } from '../read/row-keys.js';
import type { AcidState } from '../state/acid-directory.js';

/** A transaction of several statements may delete rows that it wrote itself. */
export const isOwnDelete = ({ keys, currentWriteIds, operations }: EventBatch, i: number): boolean =>
  operations[i] === OPERATION.delete && keys.writeIds[i] === currentWriteIds[i];

/** As isOwnDelete, of a whole stripe of deletes by its statistics: such a delete has one write id for both. */
export function mayHoldOwnDeletes({ statistics }: WholeStripe): boolean {
  const of = (column: number) => statistics?.[column]?.intStatistics;
  const [original, current] = [of(ACID_COLUMN.originalTransaction), of(ACID_COLUMN.currentTransaction)];
  const isLater =
    original?.maximum !== undefined && current?.minimum !== undefined && original.maximum < current.minimum;
  return !isLater;
}

/** Whether a write may have deleted rows of its own: deletes of a later statement than the rows', or without statement ids. */
export function mayDeleteOwnRows({ deltas }: AcidState): boolean {
  const deletes = deltas.filter((delta) => delta.kind === 'deleteDelta');
  return deltas.some(
    (delta) =>
      delta.kind === 'delta' &&
      deletes.some(
        (other) =>
          other.minWriteId <= delta.maxWriteId &&
          other.maxWriteId >= delta.minWriteId &&
          (delta.statementId === undefined || other.statementId === undefined || delta.statementId < other.statementId),
      ),
  );
}

/**
 * The rows of a merge of rows and deletes (`keep: all`) without those that the write that made them deleted again: nobody ever
 * sees these. In a minor compaction both go, row and delete. (Hive keeps both.)
 */
export class RowsThatLast {
  /** The last delete of a row by its own write: where there is such a row, it comes next. */
  private last: { readonly batch: EventBatch; readonly at: number } | undefined;

  *of(run: EventRun): Generator<EventRun> {
    const { batch } = run;
    yield* runsWhere(run, (i) => {
      if (isOwnDelete(batch, i)) this.last = { batch, at: i };
      if (batch.operations[i] === OPERATION.delete) return false;
      return this.last === undefined || compareKeys(this.last.batch.keys, this.last.at, batch.keys, i) !== 0;
    });
  }
}
