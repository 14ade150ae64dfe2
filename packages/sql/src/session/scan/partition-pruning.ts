import type { Sarg, SargLiteral } from '@skep/orc';

/** The value of a partition column, or undefined where the column is not one. */
export type PartitionLookup = (column: string) => { readonly value: SargLiteral } | undefined;

/** SQL's three truth values; `unknown` stands for NULL and for "depends on the rows". */
type Truth = boolean | 'unknown';

/** Whether a partition may hold rows that satisfy the predicate: false only when its own values rule that out. */
export function mayMatch(predicate: readonly Sarg[], lookup: PartitionLookup): boolean {
  return predicate.every((sarg) => {
    const truth = evaluate(sarg, lookup);
    // NULL of partition values alone rules rows out too, but is not told apart from "depends".
    return truth !== false;
  });
}

/** The part of a predicate that speaks of columns in the files: whole conjuncts only. */
export function fileConjuncts(predicate: readonly Sarg[], isFileColumn: (column: string) => boolean): Sarg[] {
  return predicate.filter((sarg) => columnsOf(sarg).every(isFileColumn));
}

function columnsOf(sarg: Sarg): string[] {
  switch (sarg.op) {
    case 'and':
    case 'or':
      return sarg.children.flatMap(columnsOf);
    case 'not':
      return columnsOf(sarg.child);
    default:
      return [String(sarg.column)];
  }
}

function evaluate(sarg: Sarg, lookup: PartitionLookup): Truth {
  switch (sarg.op) {
    case 'and': {
      const truths = sarg.children.map((child) => evaluate(child, lookup));
      return truths.includes(false) ? false : truths.every((t) => t === true) ? true : 'unknown';
    }
    case 'or': {
      const truths = sarg.children.map((child) => evaluate(child, lookup));
      return truths.includes(true) ? true : truths.every((t) => t === false) ? false : 'unknown';
    }
    case 'not': {
      const truth = evaluate(sarg.child, lookup);
      return truth === 'unknown' ? truth : !truth;
    }
    default: {
      const found = lookup(String(sarg.column));
      return found === undefined ? 'unknown' : compare(sarg, found.value);
    }
  }
}

function compare(sarg: Exclude<Sarg, { op: 'and' | 'or' | 'not' }>, value: SargLiteral): Truth {
  switch (sarg.op) {
    case 'isNull':
      return value === null;
    case 'nullSafeEquals':
      return value === null || sarg.literal === null
        ? value === sarg.literal
        : sameOrder(value, sarg.literal, (o) => o === 0);
    case 'equals':
      return sameOrder(value, sarg.literal, (order) => order === 0);
    case 'lessThan':
      return sameOrder(value, sarg.literal, (order) => order < 0);
    case 'lessThanEquals':
      return sameOrder(value, sarg.literal, (order) => order <= 0);
    case 'between': {
      const low = sameOrder(sarg.low, value, (order) => order <= 0);
      const high = sameOrder(value, sarg.high, (order) => order <= 0);
      return low === false || high === false ? false : low === true && high === true ? true : 'unknown';
    }
    case 'in': {
      const truths = sarg.literals.map((literal) => sameOrder(value, literal, (order) => order === 0));
      return truths.includes(true) ? true : truths.every((t) => t === false) ? false : 'unknown';
    }
  }
}

function sameOrder(a: SargLiteral, b: SargLiteral, test: (order: number) => boolean): Truth {
  if (a === null || b === null) return 'unknown';
  const isNumber = (x: SargLiteral): x is number | bigint => typeof x === 'number' || typeof x === 'bigint';
  if (isNumber(a) && isNumber(b)) return test(a < b ? -1 : a > b ? 1 : 0);
  if (typeof a === 'string' && typeof b === 'string') {
    const order = Buffer.compare(Buffer.from(a), Buffer.from(b));
    return test(order);
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return test(Number(a) - Number(b));
  return 'unknown';
}
