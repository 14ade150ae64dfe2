import type { ColumnStatistics } from '../../proto/gen/orc_proto.js';
import { Statistics } from './statistics.js';

/**
 * Milliseconds since 1970-01-01 as if the wall time were UTC, and the nanoseconds below the millisecond, which are left
 * out where they are 0 (minimum) or 999,999 (maximum) (Java: ColumnStatisticsImpl.TimestampStatisticsImpl).
 */
export class TimestampStatistics extends Statistics {
  private min = Number.POSITIVE_INFINITY;
  private minNanos = 0;
  private max = Number.NEGATIVE_INFINITY;
  private maxNanos = 0;

  add(millis: number, nanos: number): void {
    if (millis < this.min || (millis === this.min && nanos < this.minNanos)) {
      this.min = millis;
      this.minNanos = nanos;
    }
    if (millis > this.max || (millis === this.max && nanos > this.maxNanos)) {
      this.max = millis;
      this.maxNanos = nanos;
    }
  }

  override merge(other: this): void {
    super.merge(other);
    if (other.count === 0) return;
    this.add(other.min, other.minNanos);
    this.add(other.max, other.maxNanos);
  }

  protected override details(): ColumnStatistics {
    if (this.count === 0) return { timestampStatistics: {} };
    return {
      timestampStatistics: {
        minimumUtc: BigInt(this.min),
        maximumUtc: BigInt(this.max),
        minimumNanos: this.minNanos === 0 ? undefined : this.minNanos + 1,
        maximumNanos: this.maxNanos === 999_999 ? undefined : this.maxNanos + 1,
      },
    };
  }

  protected override readDetails({ timestampStatistics }: ColumnStatistics): boolean {
    if (this.count === 0) return true;
    const { minimumUtc, maximumUtc, minimumNanos, maximumNanos } = timestampStatistics ?? {};
    if (minimumUtc === undefined || maximumUtc === undefined) return false;
    this.min = Number(minimumUtc);
    this.max = Number(maximumUtc);
    this.minNanos = (minimumNanos ?? 1) - 1;
    this.maxNanos = (maximumNanos ?? 1_000_000) - 1;
    return Number.isSafeInteger(this.min) && Number.isSafeInteger(this.max);
  }
}
