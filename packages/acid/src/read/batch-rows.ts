import type { OrcReader, TypeDescription } from '@skep/orc';
import type { ScanOptions } from './scan-types.js';

/** What a value needs in memory; of text and bytes what their length and place need beside them. */
const WIDTHS: Readonly<Record<string, number>> = {
  boolean: 1,
  byte: 1,
  short: 2,
  int: 4,
  date: 4,
  float: 4,
  long: 8,
  double: 8,
  timestamp: 12,
  timestamp_instant: 12,
  decimal: 16,
};
const OFFSET_BYTES = 4;
/** Of text whose length no statistics tell. */
const UNKNOWN_TEXT_BYTES = 64;
const LEAST_ROWS = 256;
const MOST_ROWS = 65_536;

const LEAST_SEGMENT_BYTES = 16 << 10;

/**
 * The options for one file, whose user columns are those: so many rows in a batch that it has about `batchBytes` bytes, and so
 * much read of a stripe at once that it decompresses to about `segmentBytes`, by the file's statistics.
 */
export function sizedFor(reader: OrcReader, user: TypeDescription, options: ScanOptions): ScanOptions {
  return withSegment(reader, user, withRows(reader, user, options));
}

function withRows(reader: OrcReader, user: TypeDescription, options: ScanOptions): ScanOptions {
  const { batchBytes, columns = [...user.children.keys()], batchSize } = options;
  if (batchBytes === undefined) return options;
  const bytes = columns.reduce(
    (sum, at) => sum + (at < user.children.length ? bytesOf(reader, user.children[at]) : 0),
    0,
  );
  const rowBytes = bytes / Math.max(1, reader.numberOfRows);
  const rows = Math.floor(batchBytes / Math.max(rowBytes, 1));
  return { ...options, batchSize: Math.min(batchSize ?? MOST_ROWS, MOST_ROWS, Math.max(rows, LEAST_ROWS)) };
}

function withSegment(reader: OrcReader, user: TypeDescription, options: ScanOptions): ScanOptions {
  const { segmentBytes } = options;
  if (segmentBytes === undefined || reader.compression === 'none') return options;
  const whole = user.children.reduce((sum, child) => sum + bytesOf(reader, child), 0);
  const stored = reader.stripes.reduce((sum, { dataLength }) => sum + dataLength, 0);
  const share = Math.min(1, stored / Math.max(whole, 1));
  return { ...options, segmentBytes: Math.max(LEAST_SEGMENT_BYTES, Math.floor(segmentBytes * share)) };
}

/** Of a column of the whole file. */
function bytesOf(reader: OrcReader, type: TypeDescription): number {
  const statistics = reader.statistics[type.id];
  const values = Number(statistics?.numberOfValues ?? reader.numberOfRows);
  const nested = type.children.reduce((sum, child) => sum + bytesOf(reader, child), 0);
  const width = WIDTHS[type.kind];
  if (width !== undefined) return values * width;
  if (type.children.length > 0) return nested + values * OFFSET_BYTES;
  const { sum } = statistics?.stringStatistics ?? statistics?.binaryStatistics ?? {};
  return values * OFFSET_BYTES + (sum === undefined ? values * UNKNOWN_TEXT_BYTES : Number(sum));
}
