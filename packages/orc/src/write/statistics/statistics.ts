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

  /**
   * What a message says, into statistics that have seen nothing; false where it does not say enough to be merged. A file whose
   * writer does not tell of NULLs may have some.
   */
  read(message: ColumnStatistics): boolean {
    if (message.numberOfValues === undefined) return false;
    this.count = Number(message.numberOfValues);
    this.hasNull = message.hasNull ?? true;
    this.bytesOnDisk = Number(message.bytesOnDisk ?? 0n);
    return Number.isSafeInteger(this.count) && this.readDetails(message);
  }

  /** The part of a message that depends on the type; false where it is missing though there are values. */
  protected readDetails(_message: ColumnStatistics): boolean {
    return true;
  }

  /** The part that depends on the type. */
  protected details(): ColumnStatistics {
    return {};
  }
}
