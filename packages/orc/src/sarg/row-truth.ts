import type { TypeDescription } from '../type-description.js';
import { getBit } from '../vector/bitmap.js';
import { isNull, vectorValue } from '../vector/value.js';
import type { BytesVector, ColumnVector } from '../vector.js';
import { evaluate } from './evaluate.js';
import type { Sarg, SargColumn, SargLiteral } from './sarg.js';
import { ANY, and, FALSE, NULL, not, or, TRUE } from './truth.js';
import { comparable } from './value-range.js';

/** Rows of a column of a search argument: 'null' is one that reads as NULL in all rows; undefined one of which nothing is known. */
export type SearchedRows = { readonly type: TypeDescription; readonly vector: ColumnVector } | 'null' | undefined;

type Leaf = Exclude<Sarg, { op: 'and' | 'or' | 'not' }>;

/** The answers (a TruthSet each) that a search argument may give over `length` rows whose values are known. */
export function rowTruths(sarg: Sarg, rowsOf: (column: SargColumn) => SearchedRows, length: number): Uint8Array {
  switch (sarg.op) {
    case 'and':
    case 'or': {
      const combine = sarg.op === 'and' ? and : or;
      const result = new Uint8Array(length).fill(sarg.op === 'and' ? TRUE : FALSE);
      for (const child of sarg.children) {
        const truths = rowTruths(child, rowsOf, length);
        for (let row = 0; row < length; row++) result[row] = combine(result[row], truths[row]);
      }
      return result;
    }
    case 'not':
      return rowTruths(sarg.child, rowsOf, length).map(not);
    default:
      return ofLeaf(sarg, rowsOf(sarg.column), length);
  }
}

function ofLeaf(leaf: Leaf, rows: SearchedRows, length: number): Uint8Array {
  const truths = new Uint8Array(length);
  if (rows === undefined || rows === 'null') return truths.fill(evaluate(leaf, () => rows));
  const wanted = literalsOf(leaf);
  if (wanted !== undefined && (rows.vector.kind === 'string' || rows.vector.kind === 'varchar')) {
    const texts = wanted.filter((literal) => typeof literal === 'string');
    if (texts.length === wanted.length) return ofTexts(rows.vector, texts, leaf.op === 'nullSafeEquals', truths);
  }
  for (let row = 0; row < length; row++) truths[row] = ofValue(leaf, rows.type, rows.vector, row);
  return truths;
}

/** What an equality is with; undefined: the leaf is none. */
function literalsOf(leaf: Leaf): readonly SargLiteral[] | undefined {
  if (leaf.op === 'equals' || leaf.op === 'nullSafeEquals') return [leaf.literal];
  return leaf.op === 'in' ? leaf.literals : undefined;
}

/** As ofValue, without making a text of each value. */
function ofTexts(
  { bytes, offsets, validity }: BytesVector,
  texts: readonly string[],
  isNullSafe: boolean,
  truths: Uint8Array,
): Uint8Array {
  const wanted = texts.map((text) => Buffer.from(text, 'utf8'));
  for (let row = 0; row < truths.length; row++) {
    if (validity !== undefined && !getBit(validity, row)) truths[row] = isNullSafe ? FALSE : NULL;
    else truths[row] = wanted.some((text) => isAt(bytes, offsets[row], offsets[row + 1], text)) ? TRUE : FALSE;
  }
  return truths;
}

function isAt(bytes: Uint8Array, start: number, end: number, wanted: Uint8Array): boolean {
  if (end - start !== wanted.length) return false;
  for (let i = 0; i < wanted.length; i++) if (bytes[start + i] !== wanted[i]) return false;
  return true;
}

/** One value is a range of one value. */
function ofValue(leaf: Leaf, type: TypeDescription, vector: ColumnVector, row: number): number {
  const allNull = isNull(vector, row);
  const value = allNull ? undefined : comparable(vectorValue(vector, row) as SargLiteral, type);
  if (!allNull && value === undefined) return ANY;
  const range = value === undefined ? undefined : { low: value, high: value, exact: true };
  return evaluate(leaf, () => ({ type, range, mayHaveNulls: allNull, allNull, bloom: undefined }));
}

/** Whether few rows satisfy a condition as a rule: what can be true has an equality. */
export function isPoint(sarg: Sarg): boolean {
  switch (sarg.op) {
    case 'equals':
    case 'nullSafeEquals':
    case 'in':
      return true;
    case 'and':
      return sarg.children.some(isPoint);
    case 'or':
      return sarg.children.length > 0 && sarg.children.every(isPoint);
    default:
      return false;
  }
}

/** The columns that an equality names: those whose bloom filters can tell anything. */
export function columnsOfEqualities(sarg: Sarg): SargColumn[] {
  switch (sarg.op) {
    case 'and':
    case 'or':
      return sarg.children.flatMap(columnsOfEqualities);
    case 'not':
      return columnsOfEqualities(sarg.child);
    default:
      return literalsOf(sarg) === undefined ? [] : [sarg.column];
  }
}
