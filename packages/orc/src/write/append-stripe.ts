import { StreamKind } from '../file/stripe-layout.js';
import { stripeLength, type WholeStripe } from '../reader/whole-stripe.js';
import { type TypeDescription, typesEqual } from '../type-description.js';
import { typeToString } from '../type-text.js';
import type { ColumnWriter } from './columns/column-writer.js';
import { createColumnWriter } from './columns/create-column-writer.js';
import { FORMAT_VERSION, WRITER_JAVA, WRITER_VERSION } from './file-metadata.js';
import { type OrcWriterOptions, resolveOptions, type WriterSettings } from './options.js';

/*
 * A stripe says all that is needed to read it in itself (spec: "Stripes": its streams follow each other, its footer has their
 * lengths, positions of the row index are relative to their streams) but for what stands once in the file's tail:
 *
 *   postscript: codec, size of compression chunks, format and writer version | footer: types, row index stride, calendar, writer
 *
 * Where these are the same a stripe can be copied as it is (Java: OrcFile.mergeFiles, Hive: CONCATENATE). Its statistics, which
 * the tail has, are added to the new file's.
 */

/** A stripe of more bytes than so many times the size asked for was meant for other files. */
const MOST_TIMES_LARGER = 2;

/**
 * Says why a stripe would not be the same as one that is written with these options, undefined where it would. Of options that
 * leave no trace in a file (how hard to compress, how to pack integers, when a dictionary is used) only the defaults can be met.
 */
export function appendableStripes(
  schema: TypeDescription,
  options: OrcWriterOptions,
): (stripe: WholeStripe) => string | undefined {
  const settings = resolveOptions(schema, options);
  const columns = flattenColumns(createColumnWriter(schema, settings));
  const asked = unseenOption(options);
  return (stripe) => asked ?? tooLarge(stripe, settings) ?? whyNot(stripe, schema, settings, columns);
}

/** Every column by its id. */
export function flattenColumns(column: ColumnWriter): ColumnWriter[] {
  return [column, ...column.children.flatMap(flattenColumns)];
}

function unseenOption(options: OrcWriterOptions): string | undefined {
  const { compressionStrategy = 'speed', encodingStrategy = 'speed', dictionaryKeySizeThreshold = 0.8 } = options;
  if (compressionStrategy !== 'speed' || encodingStrategy !== 'speed') return 'a strategy is asked for';
  return dictionaryKeySizeThreshold === 0.8 ? undefined : 'a dictionary threshold is asked for';
}

function tooLarge({ tail, number, information }: WholeStripe, { stripeSizeBytes }: WriterSettings): string | undefined {
  const isLarge = stripeLength(information) > stripeSizeBytes * MOST_TIMES_LARGER;
  return isLarge ? `stripe ${number} of ${tail.path} is larger than asked for` : undefined;
}

/** What a stripe has that a file of these settings cannot hold, or lacks that it should have. */
export function whyNot(
  stripe: WholeStripe,
  schema: TypeDescription,
  settings: WriterSettings,
  columns: readonly ColumnWriter[],
): string | undefined {
  return tailDiffers(stripe, schema, settings, columns) ?? stripeDiffers(stripe, settings, columns);
}

function tailDiffers(
  { tail, schema: own }: WholeStripe,
  schema: TypeDescription,
  settings: WriterSettings,
  columns: readonly ColumnWriter[],
): string | undefined {
  const { footer, postScript, compression, path } = tail;
  if (footer.encryption !== undefined) return `${path} has encrypted columns`;
  if (!typesEqual(own, schema)) return `${path} holds ${typeToString(own)}, not ${typeToString(schema)}`;
  if (compression !== settings.compression)
    return `${path} is compressed by ${compression}, not ${settings.compression}`;
  const version = postScript.version ?? [];
  const sameVersion =
    version.length === FORMAT_VERSION.length && version.every((part, i) => part === FORMAT_VERSION[i]);
  if (!sameVersion) return `${path} is of format ${version.join('.')}`;
  if ((footer.writer ?? 0) !== WRITER_JAVA || postScript.writerVersion !== WRITER_VERSION) {
    return `${path} is of writer ${footer.writer ?? 0}, version ${postScript.writerVersion ?? 0}`;
  }
  if ((footer.rowIndexStride ?? 0) !== settings.rowIndexStride) {
    return `${path} has row groups of ${footer.rowIndexStride ?? 0} rows, not ${settings.rowIndexStride}`;
  }
  const isProleptic = footer.calendar === 2;
  const hasDates = columns.some(({ type: { kind } }) => kind === 'date' || kind.startsWith('timestamp'));
  return hasDates && isProleptic !== settings.proleptic ? `${path} has dates of the other calendar` : undefined;
}

function stripeDiffers(
  { tail, number, layout, statistics, bloomFilters }: WholeStripe,
  settings: WriterSettings,
  columns: readonly ColumnWriter[],
): string | undefined {
  const name = `stripe ${number} of ${tail.path}`;
  if (statistics?.length !== columns.length) return `${name} has no statistics`;
  for (const [id, column] of columns.entries()) {
    if (!column.understands(statistics[id])) return `${name} has incomplete statistics of column ${id}`;
    const [asked, own] = [column.bloomShape, bloomFilters.get(id)];
    const isOther = layout.columns[id].streams.has(StreamKind.bloomFilter);
    const isSame = asked?.bytes === own?.bytes && asked?.hashFunctions === own?.hashFunctions;
    if (isOther || !isSame) return `${name} has other bloom filters of column ${id} than asked for`;
  }
  const { rowIndexStride } = settings;
  if (rowIndexStride > 0 && layout.columns.some(({ streams }) => !streams.has(StreamKind.rowIndex))) {
    return `${name} has no row index`;
  }
  return undefined;
}
