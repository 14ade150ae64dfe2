/**
 * A column of a batch in memory. Every vector has `length` rows. `validity` is a bitmap, bit i%8 of byte i/8 (least
 * significant first, as in Arrow), 1 = has a value; absent = no NULLs. Values under a NULL are unspecified
 * (but inside the array). Vectors are plain data: nobody changes one that was handed out.
 */
interface VectorBase {
  readonly length: number;
  readonly validity?: Uint8Array | undefined;
}
/** 0 or 1 a row. */
export interface BooleanVector extends VectorBase {
  readonly kind: 'boolean';
  readonly values: Uint8Array;
}
export interface ByteVector extends VectorBase {
  readonly kind: 'byte';
  readonly values: Int8Array;
}
export interface ShortVector extends VectorBase {
  readonly kind: 'short';
  readonly values: Int16Array;
}
/** int; date = days since 1970-01-01 in the proleptic Gregorian calendar. */
export interface IntVector extends VectorBase {
  readonly kind: 'int' | 'date';
  readonly values: Int32Array;
}
export interface LongVector extends VectorBase {
  readonly kind: 'long';
  readonly values: BigInt64Array;
}
export interface FloatVector extends VectorBase {
  readonly kind: 'float';
  readonly values: Float32Array;
}
export interface DoubleVector extends VectorBase {
  readonly kind: 'double';
  readonly values: Float64Array;
}
/** Row i is bytes[offsets[i], offsets[i+1]); text is UTF-8. offsets has length+1 entries and may start above 0. */
export interface BytesVector extends VectorBase {
  readonly kind: 'string' | 'char' | 'varchar' | 'binary';
  readonly bytes: Uint8Array;
  readonly offsets: Int32Array;
}
/**
 * timestamp: local wall time as if in UTC, seconds since 1970-01-01 00:00:00 (floor) and nanoseconds 0..999,999,999;
 * timestamp_instant: the instant. Proleptic Gregorian calendar.
 */
export interface TimestampVector extends VectorBase {
  readonly kind: 'timestamp' | 'timestamp_instant';
  readonly seconds: BigInt64Array;
  readonly nanos: Int32Array;
}
/** Unscaled values as 128-bit two's complement, little endian pairs: words[2i] is the low, words[2i+1] the high half. */
export interface DecimalVector extends VectorBase {
  readonly kind: 'decimal';
  readonly precision: number;
  readonly scale: number;
  readonly words: BigInt64Array;
}
/** Row i is elements [offsets[i], offsets[i+1]) of the child; offsets[0] may be above 0. */
export interface ListVector extends VectorBase {
  readonly kind: 'list';
  readonly offsets: Int32Array;
  readonly child: ColumnVector;
}
export interface MapVector extends VectorBase {
  readonly kind: 'map';
  readonly offsets: Int32Array;
  readonly keys: ColumnVector;
  readonly values: ColumnVector;
}
/** Children have the struct's own length: a row that is NULL has (unspecified) rows in its children too. */
export interface StructVector extends VectorBase {
  readonly kind: 'struct';
  readonly fieldNames: readonly string[];
  readonly children: readonly ColumnVector[];
}
/** Dense: row i is row rowOffsets[i] of children[tags[i]]. */
export interface UnionVector extends VectorBase {
  readonly kind: 'union';
  readonly tags: Uint8Array;
  readonly rowOffsets: Int32Array;
  readonly children: readonly ColumnVector[];
}
export type ColumnVector =
  | BooleanVector
  | ByteVector
  | ShortVector
  | IntVector
  | LongVector
  | FloatVector
  | DoubleVector
  | BytesVector
  | TimestampVector
  | DecimalVector
  | ListVector
  | MapVector
  | StructVector
  | UnionVector;
