import type { ColumnStatistics } from '@skep/orc';

/** One line about a column's statistics. */
export function columnStatistics(statistics: ColumnStatistics): string {
  const parts = [`values ${statistics.numberOfValues ?? 0}`];
  if (statistics.hasNull !== undefined) parts.push(`has null ${statistics.hasNull}`);
  if (statistics.bytesOnDisk !== undefined) parts.push(`bytes on disk ${statistics.bytesOnDisk}`);
  const { intStatistics, doubleStatistics, stringStatistics, dateStatistics, decimalStatistics, timestampStatistics } =
    statistics;
  const ranges = [
    intStatistics,
    doubleStatistics,
    stringStatistics,
    dateStatistics,
    decimalStatistics,
    timestampStatistics,
  ];
  for (const range of ranges) {
    if (range === undefined) continue;
    for (const [name, value] of Object.entries(range)) {
      if (value !== undefined) parts.push(`${name} ${String(value)}`);
    }
  }
  if (statistics.bucketStatistics?.count?.[0] !== undefined) parts.push(`true ${statistics.bucketStatistics.count[0]}`);
  return parts.join(', ');
}
