/**
 * A data file's name.
 * `bucket_00000[_attempt]` is an ACID file; `000000_0[_copy_N]` (also Trino's `000000_` and a long number) is an original
 * or an insert-only file, or one that LOAD DATA put there. Other names hold data too but no bucket number.
 */
export interface BucketFileName {
  readonly kind: 'acid' | 'original';
  /** Undefined where the name has none. */
  readonly bucket: number | undefined;
  readonly attempt?: number | undefined;
  readonly copy?: number | undefined;
}

const ACID = /^bucket_(\d+)(?:_(\d+))?$/;
const ORIGINAL = /^(\d+)_\d+(?:_copy_(\d+))?$/;

export function parseBucketFileName(name: string): BucketFileName {
  const acid = ACID.exec(name);
  if (acid !== null) return { kind: 'acid', bucket: Number(acid[1]), attempt: numberOf(acid[2]) };
  const original = ORIGINAL.exec(name);
  if (original === null) return { kind: 'original', bucket: undefined };
  return { kind: 'original', bucket: Number(original[1]), copy: numberOf(original[2]) };
}

function numberOf(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits);
}

/** `bucket_00000`, with the attempt `bucket_00000_0` as Hive's direct insert names it. */
export function formatBucketFileName(bucket: number, attempt?: number): string {
  return `bucket_${String(bucket).padStart(5, '0')}${attempt === undefined ? '' : `_${attempt}`}`;
}

/** `000000_0`. */
export function formatOriginalFileName(bucket: number, copy = 0): string {
  return `${String(bucket).padStart(6, '0')}_0${copy === 0 ? '' : `_copy_${copy}`}`;
}
