import type { ColumnStatistics } from '../../proto/gen/orc_proto.js';

/**
 * Statistics of a column over a row group, a stripe or the file (spec: "Column Statistics"; Java: ColumnStatisticsImpl).
 * Values are counted where the column writer sees that they are not NULL. This class alone is for structs and unions.
 */
export class Statistics {
  count = 0;
  hasNull = false;
  bytesOnDisk = 0;

  /** Adds what another one of the same class has seen. */
  merge(other: this): void {
    this.count += other.count;
    this.hasNull ||= other.hasNull;
    this.bytesOnDisk += other.bytesOnDisk;
  }

  toMessage(): ColumnStatistics {
    return {
      numberOfValues: BigInt(this.count),
      hasNull: this.hasNull,
      bytesOnDisk: this.bytesOnDisk > 0 ? BigInt(this.bytesOnDisk) : undefined,
      ...this.details(),
    };
  }

  /** The part that depends on the type. */
  protected details(): ColumnStatistics {
    return {};
  }
}
