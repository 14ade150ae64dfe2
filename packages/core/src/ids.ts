/** A transaction of the metastore (TXNS.TXN_ID). Never a write id. */
export type TxnId = bigint & { readonly __brand?: 'TxnId' };
/** A table's own sequence of writes (TXN_TO_WRITE_ID.T2W_WRITEID); it is what file names and ROW__ID hold. */
export type WriteId = bigint & { readonly __brand?: 'WriteId' };
export type LockId = bigint & { readonly __brand?: 'LockId' };

/** Java's Long.MAX_VALUE: "none" in Hive's lists. */
export const LONG_MAX = 9223372036854775807n;
/** Java's Long.MIN_VALUE: the write id of a base that holds original files only. */
export const LONG_MIN = -9223372036854775808n;
