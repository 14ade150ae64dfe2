import type { AppendableValue, ColumnVector, VectorValue } from '@skep/orc';
import type { HiveType } from '../types/hive-type.js';

/** What a function in JavaScript gets and gives: the forms of vectorValue and VectorBuilder. */
export type UdfBody = (...args: VectorValue[]) => AppendableValue;

/** A Hive function that runs in JavaScript, for certain argument types. `sqlName` is unique to name and types. */
export interface Udf {
  readonly sqlName: string;
  readonly parameters: readonly HiveType[];
  readonly returns: HiveType;
  readonly body: UdfBody;
  /** Instead of `body`: whole columns at a time. */
  readonly vectorBody?: ((columns: readonly ColumnVector[], length: number) => ColumnVector) | undefined;
  /** Also called where an argument is NULL (otherwise the result is then NULL). */
  readonly onNull: boolean;
  /** Another value at each call: never folded. */
  readonly volatile: boolean;
}
