import type { Codec, CompressionKind } from '../compression/codec.js';
import { type CompressionStrategy, codecOf } from '../compression/codecs.js';
import type { TypeDescription } from '../type-description.js';
import type { ColumnVector } from '../vector.js';
import { ChunksLater } from './chunks-later.js';
import { InvalidWriteError } from './errors.js';

/** A stripe about to be written (Java: OrcFile.WriterCallback.preStripeWrite). */
export interface StripeEvent {
  /** 0 for the first. */
  readonly stripe: number;
  readonly rows: number;
  /** Rows of the file up to this stripe's end. */
  readonly totalRows: number;
  /** The stripe's last row is row `lastRow` of this vector, one that was given to `write`. */
  readonly root: ColumnVector;
  readonly lastRow: number;
}

/** How a file is written. Absent: as Hive 4 does. Names in brackets are Java's OrcConf. */
export interface OrcWriterOptions {
  /** zlib. */
  readonly compression?: Exclude<CompressionKind, 'lzo'>;
  /** `speed` (default) or `compression`: how hard the compressor tries (orc.compression.strategy). */
  readonly compressionStrategy?: CompressionStrategy;
  /** 64 MiB (orc.stripe.size), of encoded bytes. */
  readonly stripeSizeBytes?: number;
  /** 10,000 rows (orc.row.index.stride); 0: no index. */
  readonly rowIndexStride?: number;
  /** 256 KiB (orc.compress.size): most bytes of a compression chunk; less is taken for small stripes of many columns. */
  readonly compressionBlockSizeBytes?: number;
  /** Takes compressionBlockSizeBytes as it is (orc.buffer.size.enforce). */
  readonly enforceCompressionBlockSize?: boolean;
  /** Column names (`a`, nested `s.x`) or ids; a column's descendants are meant too (orc.bloom.filter.columns). */
  readonly bloomFilterColumns?: readonly (string | number)[];
  /** 0.01 (orc.bloom.filter.fpp, as ORC 1.8 has it). */
  readonly bloomFilterFpp?: number;
  /** 0.8 (orc.dictionary.key.threshold): strings are dictionary encoded up to this share of distinct values; 0: never. */
  readonly dictionaryKeySizeThreshold?: number;
  /** `speed` (default) packs integers in whole bytes; `compression` in as few bits as they need (orc.encoding.strategy). */
  readonly encodingStrategy?: 'speed' | 'compression';
  /** A stripe does not cross a block's end if padding costs at most `paddingTolerance` of a stripe (orc.block.padding). */
  readonly blockPadding?: boolean;
  /** 256 MiB (orc.block.size). */
  readonly blockSizeBytes?: number;
  /** 0.05 (orc.block.padding.tolerance). */
  readonly paddingTolerance?: number;
  /** IANA name; UTC. Timestamps without time zone are written as this zone's wall time. */
  readonly writerTimezone?: string;
  /** false (orc.proleptic.gregorian): dates before 1582-10-15 are written in the hybrid calendar, as Hive does. */
  readonly prolepticGregorian?: boolean;
  /** Compresses zlib's large chunks on other threads (libuv's) meanwhile; the file is the same. */
  readonly compressLater?: boolean;
  readonly userMetadata?: ReadonlyMap<string, Uint8Array>;
  /** Of the footer; skep's. */
  readonly softwareVersion?: string;
  readonly onStripe?: (event: StripeEvent) => void;
  /** The last moment for addUserMetadata (Java: preFooterWrite). */
  readonly beforeFooter?: () => void;
}

/** The options with all defaults, and what follows from them. */
export interface WriterSettings {
  readonly compression: Exclude<CompressionKind, 'lzo'>;
  readonly codec: Codec | undefined;
  readonly blockBytes: number;
  readonly later: ChunksLater | undefined;
  readonly stripeSizeBytes: number;
  readonly rowIndexStride: number;
  readonly bloomFilterIds: ReadonlySet<number>;
  readonly bloomFilterFpp: number;
  readonly dictionaryThreshold: number;
  readonly alignedBitPacking: boolean;
  readonly blockPadding: boolean;
  readonly blockSizeBytes: number;
  readonly paddingTolerance: number;
  readonly writerTimezone: string;
  readonly proleptic: boolean;
  readonly softwareVersion: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;
/** A chunk's length has 23 bits. */
const LARGEST_BLOCK = 8 * MIB - 1;

export function resolveOptions(schema: TypeDescription, options: OrcWriterOptions): WriterSettings {
  const stripeSizeBytes = positive('stripeSizeBytes', options.stripeSizeBytes ?? 64 * MIB);
  const asked = positive('compressionBlockSizeBytes', options.compressionBlockSizeBytes ?? 256 * KIB);
  if (asked > LARGEST_BLOCK)
    throw new InvalidWriteError(`compressionBlockSizeBytes ${asked} is above ${LARGEST_BLOCK}`);
  const stride = options.rowIndexStride ?? 10_000;
  if (!Number.isInteger(stride) || stride < 0 || stride > 0x7fffffff) {
    throw new InvalidWriteError(`rowIndexStride ${stride} is not a whole number from 0 on`);
  }
  const compression = options.compression ?? 'zlib';
  const fpp = options.bloomFilterFpp ?? 0.01;
  if (!(fpp > 0 && fpp < 1)) throw new InvalidWriteError(`bloomFilterFpp ${fpp} is not between 0 and 1`);
  return {
    compression,
    codec: codecOf(compression, options.compressionStrategy ?? 'speed'),
    blockBytes: options.enforceCompressionBlockSize
      ? asked
      : Math.min(asked, estimatedBlockBytes(stripeSizeBytes, schema.maximumId + 1)),
    later: options.compressLater ? new ChunksLater() : undefined,
    stripeSizeBytes,
    rowIndexStride: stride,
    bloomFilterIds: stride === 0 ? new Set() : columnIds(schema, options.bloomFilterColumns ?? []),
    bloomFilterFpp: fpp,
    dictionaryThreshold: options.dictionaryKeySizeThreshold ?? 0.8,
    alignedBitPacking: (options.encodingStrategy ?? 'speed') === 'speed',
    blockPadding: options.blockPadding ?? true,
    blockSizeBytes: positive('blockSizeBytes', options.blockSizeBytes ?? 256 * MIB),
    paddingTolerance: options.paddingTolerance ?? 0.05,
    writerTimezone: options.writerTimezone ?? 'UTC',
    proleptic: options.prolepticGregorian ?? false,
    softwareVersion: options.softwareVersion ?? 'skep',
  };
}

function positive(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidWriteError(`${name} ${value} is not a whole number from 1 on`);
  return value;
}

/** About ten chunks for each of two big streams a column (Java: WriterImpl.getEstimatedBufferSize). */
function estimatedBlockBytes(stripeSizeBytes: number, columns: number): number {
  const estimate = Math.trunc(stripeSizeBytes / (20 * columns));
  for (let size = 4 * KIB; size < 256 * KIB; size *= 2) if (estimate <= size) return size;
  return 256 * KIB;
}

function columnIds(schema: TypeDescription, columns: readonly (string | number)[]): Set<number> {
  const ids = new Set<number>();
  for (const column of columns) {
    const type = typeof column === 'number' ? typeById(schema, column) : typeByName(schema, column);
    if (type === undefined) throw new InvalidWriteError(`bloomFilterColumns: there is no column ${column}`);
    for (let id = type.id; id <= type.maximumId; id++) ids.add(id);
  }
  return ids;
}

function typeById(type: TypeDescription, id: number): TypeDescription | undefined {
  if (type.id === id) return type;
  for (const child of type.children) if (id >= child.id && id <= child.maximumId) return typeById(child, id);
  return undefined;
}

/** Fields by name without regard to case; `_elem`, `_key`, `_value` and numbers for the rest, as TypeDescription.findSubtype. */
function typeByName(schema: TypeDescription, path: string): TypeDescription | undefined {
  let type: TypeDescription | undefined = schema;
  for (const name of path.split('.')) {
    if (type === undefined) return undefined;
    const { children, fieldNames, kind }: TypeDescription = type;
    if (kind === 'struct') type = children[fieldNames.findIndex((field) => field.toLowerCase() === name.toLowerCase())];
    else if (kind === 'list') type = name === '_elem' ? children[0] : undefined;
    else if (kind === 'map') type = name === '_key' ? children[0] : name === '_value' ? children[1] : undefined;
    else type = children[Number(name)];
  }
  return type;
}
