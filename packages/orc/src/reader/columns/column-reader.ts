import { BugError } from '@skep/core';
import type { TimeZone } from '../../time/time-zone.js';
import type { TypeDescription } from '../../type-description.js';
import type { ColumnVector } from '../../vector.js';
import { StreamKind } from '../stripe.js';
import { type Dictionary, dictionaryReader, directBytesReader, readDictionary } from './bytes.js';
import { type ColumnSource, openOrEmpty } from './column-streams.js';
import { decimal64Reader, decimalReader } from './decimals.js';
import { booleanReader, byteReader, floatReader, intReader, longReader, shortReader } from './numbers.js';
import type { Rows } from './rows.js';
import { fixHybridDates, timestampReader } from './timestamps.js';

/** Decodes the column's next rows, of which those of its parent are given. */
export type ColumnReader = (parent: Rows) => ColumnVector;

/** What a stripe says of all its columns. */
export interface StripeContext {
  /** The zone of timestamps; undefined is UTC. */
  readonly zone: TimeZone | undefined;
  /** Dates and timestamps are in the hybrid calendar. */
  readonly hybrid: boolean;
  /** Decimals to 18 digits are integers (file version 2). */
  readonly decimal64: boolean;
  /** Dictionaries that an earlier segment of the stripe has read. */
  readonly dictionaries: Map<number, Dictionary>;
}

/** The reader of a column without children. */
export function leafReader(source: ColumnSource, context: StripeContext): ColumnReader {
  const { type } = source;
  switch (type.kind) {
    case 'boolean':
      return booleanReader(source);
    case 'byte':
      return byteReader(source);
    case 'short':
      return shortReader(source);
    case 'int':
      return intReader(source, type.kind);
    case 'date':
      return intReader(source, type.kind, context.hybrid ? fixHybridDates : undefined);
    case 'long':
      return longReader(source);
    case 'float':
    case 'double':
      return floatReader(source, type.kind);
    case 'timestamp':
      return timestampReader(source, type.kind, context.zone, context.hybrid);
    case 'timestamp_instant':
      return timestampReader(source, type.kind, undefined, context.hybrid);
    case 'decimal':
      return isDecimal64(type, context.decimal64) ? decimal64Reader(source) : decimalReader(source);
    case 'binary':
      return directBytesReader(source, type.kind);
    case 'string':
    case 'char':
    case 'varchar':
      if (!source.layout.dictionary) return directBytesReader(source, type.kind);
      return dictionaryReader(source, type.kind, dictionaryOf(source, context));
    default:
      throw new BugError(`a ${type.kind} column is not a leaf`);
  }
}

export function isDecimal64(type: TypeDescription, decimal64: boolean): boolean {
  return decimal64 && type.kind === 'decimal' && (type.precision ?? 38) <= 18;
}

function dictionaryOf(source: ColumnSource, context: StripeContext): Dictionary {
  const known = context.dictionaries.get(source.type.id);
  if (known !== undefined) return known;
  const blob = openOrEmpty(source, StreamKind.dictionaryData);
  const dictionary = readDictionary(source, blob, openOrEmpty(source, StreamKind.length));
  context.dictionaries.set(source.type.id, dictionary);
  return dictionary;
}
