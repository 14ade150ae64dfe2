import { SkepError } from '@skep/core';

/**
 * The `bucket` column of ACID events (org.apache.hadoop.hive.ql.io.BucketCodec), an int:
 *
 *     bits 31..29  version: 1 (V1), 0 (V0: the whole value is the bucket)
 *     bit  28      reserved
 *     bits 27..16  bucket or writer number
 *     bits 15..12  reserved
 *     bits 11..0   statement id
 */
export interface BucketProperty {
  readonly version: 0 | 1;
  readonly bucket: number;
  readonly statementId: number;
}

export const MAX_BUCKET = 4095;
export const MAX_STATEMENT_ID = 4095;

export class BucketNumberError extends SkepError {
  constructor(what: string) {
    super('BUCKET_NUMBER', 'invalid', what);
  }
}

/** V1: what everything since Hive 3 writes. */
export function encodeBucketProperty(bucket: number, statementId: number): number {
  if (!(bucket >= 0 && bucket <= MAX_BUCKET)) throw new BucketNumberError(`bucket ${bucket} is above ${MAX_BUCKET}`);
  if (!(statementId >= 0 && statementId <= MAX_STATEMENT_ID)) {
    throw new BucketNumberError(`statement id ${statementId} is above ${MAX_STATEMENT_ID}`);
  }
  return (1 << 29) | (bucket << 16) | statementId;
}

export function decodeBucketProperty(property: number): BucketProperty {
  const version = property >>> 29;
  switch (version) {
    case 0:
      return { version, bucket: property, statementId: 0 };
    case 1:
      return { version, bucket: (property >>> 16) & 0xfff, statementId: property & 0xfff };
    default:
      throw new BucketNumberError(`bucket property ${property} has unknown version ${version}`);
  }
}

/** The bucket (file number) of a property. */
export function bucketOf(property: number): number {
  return property >>> 29 === 1 ? (property >>> 16) & 0xfff : decodeBucketProperty(property).bucket;
}
