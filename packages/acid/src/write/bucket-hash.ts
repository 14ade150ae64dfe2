import { BugError } from '@skep/core';
import type { ColumnVector } from '@skep/orc';

/** Bucket numbers of rows (ObjectInspectorUtils.getBucketNumber) by the given bucket columns. */
export function bucketNumbers(
  _columns: readonly ColumnVector[],
  _length: number,
  _buckets: number,
  _version: 1 | 2,
): Int32Array {
  throw new BugError('bucketNumbers is not written yet');
}
