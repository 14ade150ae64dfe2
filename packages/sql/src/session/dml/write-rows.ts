import type { RowIdVectors } from '@skep/acid';
import { type ColumnVector, type IntVector, isNull, type LongVector, type StructVector } from '@skep/orc';
import { type Constraint, Constraint_Kind, type Table } from '@skep/rpc';
import { ExecutionError } from '../errors.js';

/** Fails the statement at the first row that breaks an enforced constraint; `tests` are the last columns of the batch. */
export function enforce(table: Table, checks: readonly Constraint[], tests: readonly ColumnVector[]): void {
  checks.forEach((constraint, i) => {
    const vector = tests[i];
    if (vector.kind !== 'boolean') return;
    for (let row = 0; row < vector.length; row++) {
      if (!isNull(vector, row) && vector.values[row] === 1) continue;
      const what =
        constraint.kind === Constraint_Kind.KIND_NOT_NULL
          ? `NOT NULL constraint violated: column ${constraint.columns[0]}`
          : `CHECK constraint violated: ${constraint.expression}`;
      throw new ExecutionError(
        `${what} (constraint ${constraint.name || 'without a name'} of ${table.database}.${table.name})`,
      );
    }
  });
}

/** Some columns of a batch as a batch of their own. */
export const columnsAsStruct = (
  names: readonly string[],
  columns: readonly ColumnVector[],
  length: number,
): StructVector => ({
  kind: 'struct',
  length,
  fieldNames: names,
  children: columns,
});

/** A ROW__ID column as the ACID layer's three vectors. */
export function rowIdsOf(vector: ColumnVector): RowIdVectors {
  if (vector.kind !== 'struct') throw new ExecutionError('ROW__ID is not a struct');
  const [writeId, bucket, rowId] = vector.children;
  return { writeId: writeId as LongVector, bucket: bucket as IntVector, rowId: rowId as LongVector };
}
