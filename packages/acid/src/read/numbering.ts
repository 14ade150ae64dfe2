import type { OrcReader } from '@skep/orc';
import { ACID_KEY_INDEX_KEY } from './acid-version.js';
import { keyRangeOf } from './delete-reader.js';
import type { KeyRange } from './key-runs.js';

/** Rows of a file that are numbered through: row n has the rowId `first` + n, all the same write id and bucket property. */
export interface Numbering {
  readonly writeId: bigint;
  readonly bucket: number;
  readonly first: bigint;
}

/**
 * The numbering of a file of events as an INSERT leaves it, by its statistics: one write, one bucket property, and as many rows
 * as there are rowIds between the smallest and the largest, which ascend. Its key columns need not be read.
 */
export function numberingOf(reader: OrcReader): Numbering | undefined {
  const { writeId, bucket, rowId } = keyRangeOf(reader);
  if (writeId === undefined || bucket === undefined || rowId === undefined) return undefined;
  if (writeId[0] !== writeId[1] || bucket[0] !== bucket[1]) return undefined;
  if (rowId[1] - rowId[0] !== BigInt(reader.numberOfRows) - 1n) return undefined;
  return endsWith(reader, `${writeId[1]},${bucket[1]},${rowId[1]};`)
    ? { writeId: writeId[0], bucket: Number(bucket[0]), first: rowId[0] }
    : undefined;
}

/** The file's own index of keys says that its last row has the largest one; without the index nothing is known of the order. */
function endsWith(reader: OrcReader, key: string): boolean {
  const index = reader.userMetadata.get(ACID_KEY_INDEX_KEY);
  return index !== undefined && new TextDecoder().decode(index.subarray(-key.length)) === key;
}

export const rangeOfNumbering = ({ writeId, bucket, first }: Numbering, rows: number): KeyRange => ({
  writeId: [writeId, writeId],
  bucket: [BigInt(bucket), BigInt(bucket)],
  rowId: [first, first + BigInt(Math.max(0, rows - 1))],
});
