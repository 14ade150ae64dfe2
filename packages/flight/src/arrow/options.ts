/**
 * How timestamps travel. Hive's have nanoseconds over the years 0001 to 9999; no single Arrow type has both.
 * `ns`: timestamp[ns], 1677-09-21 to 2262-04-11; `us`: timestamp[us], all years, whole microseconds; `struct`:
 * struct<seconds: int64, nanos: int32>, everything. A value that does not fit is an error, never another value.
 */
export type TimestampForm = 'ns' | 'us' | 'struct';

export interface ArrowOptions {
  /** Default ns. */
  readonly timestamps?: TimestampForm;
}
