/**
 * Which answers a predicate may give over some rows: a set of SQL's three truth values as bits (Java's TruthValue:
 * YES = 1, NO_NULL = 6, …). Rows are left out when TRUE is not in the set.
 */
export const TRUE = 1;
export const FALSE = 2;
export const NULL = 4;
export const ANY = TRUE | FALSE | NULL;

export type TruthSet = number;

export function mayBeTrue(set: TruthSet): boolean {
  return (set & TRUE) !== 0;
}

export function not(set: TruthSet): TruthSet {
  return (set & NULL) | ((set & TRUE) !== 0 ? FALSE : 0) | ((set & FALSE) !== 0 ? TRUE : 0);
}

/** All results of `a AND b`: TRUE needs both, FALSE either. */
export function and(a: TruthSet, b: TruthSet): TruthSet {
  let result = a & b & TRUE;
  if (((a | b) & FALSE) !== 0) result |= FALSE;
  if ((a & NULL && b & (TRUE | NULL)) || (b & NULL && a & (TRUE | NULL))) result |= NULL;
  return result;
}

export function or(a: TruthSet, b: TruthSet): TruthSet {
  return not(and(not(a), not(b)));
}
