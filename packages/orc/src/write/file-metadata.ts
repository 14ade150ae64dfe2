import type { CompressionKind as CompressionName } from '../compression/codec.js';
import {
  CalendarKind,
  type ColumnStatistics,
  CompressionKind,
  Footer,
  Metadata,
  PostScript,
  type StripeInformation,
  type StripeStatistics,
  type Type,
  Type_Kind,
} from '../proto/gen/orc_proto.js';
import type { TypeDescription, TypeKind } from '../type-description.js';
import type { WriterSettings } from './options.js';
import { OutStream } from './out-stream.js';

export const MAGIC = Uint8Array.of(0x4f, 0x52, 0x43);
/** The format of Hive 0.12, which every release since writes. */
export const FORMAT_VERSION = [0, 12];
/**
 * We write as Java's writer does and are free of the defects that its versions up to ORC-14 repaired; readers, Hive's
 * too, decide by this pair what to trust. Who wrote a file is told by the software version.
 */
export const WRITER_JAVA = 0;
export const WRITER_VERSION = 9;

const TYPE_KINDS: Record<TypeKind, Type_Kind> = {
  boolean: Type_Kind.BOOLEAN,
  byte: Type_Kind.BYTE,
  short: Type_Kind.SHORT,
  int: Type_Kind.INT,
  long: Type_Kind.LONG,
  float: Type_Kind.FLOAT,
  double: Type_Kind.DOUBLE,
  string: Type_Kind.STRING,
  char: Type_Kind.CHAR,
  varchar: Type_Kind.VARCHAR,
  binary: Type_Kind.BINARY,
  date: Type_Kind.DATE,
  timestamp: Type_Kind.TIMESTAMP,
  timestamp_instant: Type_Kind.TIMESTAMP_INSTANT,
  decimal: Type_Kind.DECIMAL,
  list: Type_Kind.LIST,
  map: Type_Kind.MAP,
  struct: Type_Kind.STRUCT,
  union: Type_Kind.UNION,
};

const COMPRESSION_KINDS: Record<CompressionName, CompressionKind> = {
  none: CompressionKind.NONE,
  zlib: CompressionKind.ZLIB,
  snappy: CompressionKind.SNAPPY,
  lzo: CompressionKind.LZO,
  lz4: CompressionKind.LZ4,
  zstd: CompressionKind.ZSTD,
};

/** The type tree in pre-order. */
export function typeMessages(type: TypeDescription): Type[] {
  const { maximumLength, precision, scale, attributes = {} } = type;
  const message: Type = {
    kind: TYPE_KINDS[type.kind],
    subtypes: type.children.map((child) => child.id),
    fieldNames: [...type.fieldNames],
    maximumLength,
    precision,
    scale,
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value })),
  };
  return [message, ...type.children.flatMap(typeMessages)];
}

/** What a file's end is made of. */
export interface FileSummary {
  readonly schema: TypeDescription;
  /** Bytes before the metadata. */
  readonly contentLength: number;
  readonly stripes: readonly StripeInformation[];
  readonly stripeStatistics: readonly StripeStatistics[];
  readonly statistics: readonly ColumnStatistics[];
  readonly userMetadata: ReadonlyMap<string, Uint8Array>;
  readonly numberOfRows: bigint;
  /** Most bytes that a compression chunk of the file holds. */
  readonly blockBytes: number;
}

/** Metadata, footer, postscript and its length (spec: "File Tail"). */
export function fileTail(file: FileSummary, settings: WriterSettings): Uint8Array[] {
  const { stripes, stripeStatistics, statistics, userMetadata, numberOfRows } = file;
  const metadata = compressMessage(Metadata.encode({ stripeStats: [...stripeStatistics] }).finish(), settings);
  const footer = compressMessage(
    Footer.encode({
      headerLength: BigInt(MAGIC.length),
      contentLength: BigInt(file.contentLength),
      stripes: [...stripes],
      types: typeMessages(file.schema),
      metadata: [...userMetadata].map(([name, value]) => ({ name, value })),
      numberOfRows,
      statistics: [...statistics],
      rowIndexStride: settings.rowIndexStride,
      writer: WRITER_JAVA,
      calendar: settings.proleptic ? CalendarKind.PROLEPTIC_GREGORIAN : CalendarKind.JULIAN_GREGORIAN,
      softwareVersion: settings.softwareVersion,
    }).finish(),
    settings,
  );
  const postScript = PostScript.encode({
    footerLength: BigInt(footer.lengthBytes),
    compression: COMPRESSION_KINDS[settings.compression],
    compressionBlockSize: settings.codec === undefined ? undefined : BigInt(file.blockBytes),
    version: FORMAT_VERSION,
    metadataLength: BigInt(metadata.lengthBytes),
    writerVersion: WRITER_VERSION,
    magic: 'ORC',
  }).finish();
  return [...metadata.parts, ...footer.parts, postScript, Uint8Array.of(postScript.length)];
}

/** A message as a stream of its own. */
export function compressMessage(
  bytes: Uint8Array,
  settings: WriterSettings,
): { parts: Uint8Array[]; lengthBytes: number } {
  const stream = new OutStream(settings.codec, settings.blockBytes);
  stream.putBytes(bytes);
  return stream.finish();
}
