/** What a scan has read so far; shared by its splits. */
export class ScanCounts {
  /** Data files that were opened. */
  files = 0;
  /** Rows that were decoded. */
  rows = 0;
  /** Rows of these files that were not: the search argument left out their stripe or row group, or the query had enough. */
  skippedRows = 0;
  /** Decoded rows that are deleted, or of writes outside the snapshot. */
  hiddenRows = 0;
  /** Delete files that were opened, as often as they were. */
  deleteFiles = 0;
  /** Delete events that were read. */
  deleteEvents = 0;
  /** Bytes asked of the file system, those of delete files with them; small files that are kept in memory cost none. */
  bytes = 0;
}
