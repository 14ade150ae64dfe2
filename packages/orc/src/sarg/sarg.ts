import type { DecimalValue, TimestampValue } from '../vector/value.js';

/**
 * A search argument (Java: org.apache.hadoop.hive.ql.io.sarg.SearchArgument): a predicate that is compared with
 * statistics and bloom filters to leave out stripes and row groups in which no row can satisfy it. Rows that do not
 * satisfy it may still be read: the caller filters. Comparisons with NULL are NULL, as in SQL; only `nullSafeEquals` and
 * `isNull` answer true or false for NULL.
 *
 * A column is its id or its dotted path in the schema that is read (columnByName); only columns outside lists and maps
 * can be searched.
 */
export type Sarg =
  | {
      readonly op: 'equals' | 'nullSafeEquals' | 'lessThan' | 'lessThanEquals';
      readonly column: SargColumn;
      readonly literal: SargLiteral;
    }
  | { readonly op: 'in'; readonly column: SargColumn; readonly literals: readonly SargLiteral[] }
  | { readonly op: 'between'; readonly column: SargColumn; readonly low: SargLiteral; readonly high: SargLiteral }
  | { readonly op: 'isNull'; readonly column: SargColumn }
  | { readonly op: 'and' | 'or'; readonly children: readonly Sarg[] }
  | { readonly op: 'not'; readonly child: Sarg };

export type SargColumn = number | string;

/**
 * By column type: boolean; number or bigint for tinyint to bigint; number for float and double; string for text; number
 * (days) for date; TimestampValue; DecimalValue (also numbers and bigints); Uint8Array for binary; null compares as NULL.
 * A literal of another form is never used to leave anything out.
 */
export type SargLiteral = null | boolean | number | bigint | string | Uint8Array | TimestampValue | DecimalValue;
