import type { TypeKind } from '../type-description.js';
import { type ColumnLayout, StreamKind } from './stripe.js';

/*
 * Positions of a row index entry (spec: "Indexes"): for each of the column's streams, in a fixed order, where the row
 * group starts:
 *
 *   compressed:  offset of the chunk in the stream | bytes to skip in it | …
 *   otherwise:   offset in the stream | …
 *   … then values to skip in the run of an RLE stream, and for booleans bits to skip in the byte
 */
export interface StreamPosition {
  /** Offset in the stream as it is in the file: of a chunk when compressed. */
  readonly chunk: number;
  /** Bytes to skip in the decompressed chunk. */
  readonly skipBytes: number;
  /** Values to skip in the run, and bits in the byte. */
  readonly skipValues: number;
  readonly skipBits: number;
}

export const START: StreamPosition = { chunk: 0, skipBytes: 0, skipValues: 0, skipBits: 0 };

/** Streams of a column that have positions, in their order, and how many numbers follow the place in bytes. */
export function positionedStreams(
  kind: TypeKind,
  layout: ColumnLayout,
  decimal64: boolean,
): readonly (readonly [number, number])[] {
  switch (kind) {
    case 'boolean':
      return [PRESENT, [StreamKind.data, 2]];
    case 'byte':
    case 'short':
    case 'int':
    case 'long':
    case 'date':
    case 'union':
      return [PRESENT, [StreamKind.data, 1]];
    case 'float':
    case 'double':
      return [PRESENT, [StreamKind.data, 0]];
    case 'string':
    case 'char':
    case 'varchar':
      return layout.dictionary
        ? [PRESENT, [StreamKind.data, 1]]
        : [PRESENT, [StreamKind.data, 0], [StreamKind.length, 1]];
    case 'binary':
      return [PRESENT, [StreamKind.data, 0], [StreamKind.length, 1]];
    case 'timestamp':
    case 'timestamp_instant':
      return [PRESENT, [StreamKind.data, 1], [StreamKind.secondary, 1]];
    case 'decimal':
      return decimal64 ? [PRESENT, [StreamKind.data, 1]] : [PRESENT, [StreamKind.data, 0], [StreamKind.secondary, 1]];
    case 'list':
    case 'map':
      return [PRESENT, [StreamKind.length, 1]];
    case 'struct':
      return [PRESENT];
  }
}

const PRESENT: readonly [number, number] = [StreamKind.present, 2];

/** The places of one row group, by stream kind; undefined when the entry does not have the numbers it should have. */
export function groupPositions(
  streams: readonly (readonly [number, number])[],
  layout: ColumnLayout,
  compressed: boolean,
  positions: readonly bigint[],
): ReadonlyMap<number, StreamPosition> | undefined {
  const place = compressed ? 2 : 1;
  const needed = (list: readonly (readonly [number, number])[]) =>
    list.reduce((sum, [, more]) => sum + place + more, 0);
  let present = layout.streams.has(StreamKind.present);
  const without = streams.slice(1);
  // Writers differ in whether an absent PRESENT stream has positions: their number tells.
  if (positions.length === needed(streams)) present = true;
  else if (positions.length === needed(without)) present = false;
  const list = present ? streams : without;
  if (positions.length < needed(list)) return undefined;
  const out = new Map<number, StreamPosition>();
  let at = 0;
  for (const [kind, more] of list) {
    const chunk = Number(positions[at++]);
    const skipBytes = compressed ? Number(positions[at++]) : 0;
    const skipValues = more > 0 ? Number(positions[at++]) : 0;
    const skipBits = more > 1 ? Number(positions[at++]) : 0;
    out.set(kind, { chunk, skipBytes, skipValues, skipBits });
  }
  return out;
}
