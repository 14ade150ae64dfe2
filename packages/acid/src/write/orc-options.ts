import { SkepError } from '@skep/core';
import type { OrcWriterOptions } from '@skep/orc';
import type { OrcFileOptions } from './write-types.js';

/** A table property that ORC does not understand. */
export class InvalidOrcPropertyError extends SkepError {
  constructor(name: string, value: string) {
    super('INVALID_ORC_PROPERTY', 'invalid', `table property '${name}' cannot be '${value}'`);
  }
}

/** What a file is, which decides sizes: deltas are small (hive.exec.orc.base.delta.ratio). */
export type FileRole = 'base' | 'delta' | 'deleteDelta' | 'minor' | 'plain';

const MIB = 1 << 20;
const DEFAULT_STRIPE_BYTES = 64 * MIB;
const DEFAULT_BLOCK_BYTES = 256 * 1024;
/** hive.exec.orc.base.delta.ratio unless it is given. */
const BASE_DELTA_RATIO = 8;
/** OrcRecordUpdater.DELTA_STRIPE_SIZE and DELTA_BUFFER_SIZE, for what minor compaction writes. */
const MINOR_STRIPE_BYTES = 16 * MIB;
const MINOR_BLOCK_BYTES = 16 * 1024;

type Compression = NonNullable<OrcWriterOptions['compression']>;
const COMPRESSIONS: readonly Compression[] = ['none', 'zlib', 'snappy', 'lz4', 'zstd'];

/** ORC's options for a file of a table (Hive: OrcFile.writerOptions, OrcRecordUpdater, OrcOutputFormat). */
export function orcWriterOptions(options: OrcFileOptions, role: FileRole): OrcWriterOptions {
  const all = { ...fromTableProperties(options.tableProperties ?? {}), ...fromFields(options) };
  const stripe = all.stripeSizeBytes ?? DEFAULT_STRIPE_BYTES;
  const block = all.compressionBlockSizeBytes ?? DEFAULT_BLOCK_BYTES;
  // User columns of ACID files are below `row`.
  const bloom = all.bloomFilterColumns?.map((column) => (role === 'plain' ? column : `row.${column}`));
  return {
    ...all,
    ...(bloom === undefined ? {} : { bloomFilterColumns: bloom }),
    ...sizes(role, stripe, block, options.baseDeltaRatio ?? BASE_DELTA_RATIO),
  };
}

/** Most bytes of a compression chunk, where the table or the request asks for it. */
export function askedBlockBytes(options: OrcFileOptions): number | undefined {
  return options.compressSizeBytes ?? fromTableProperties(options.tableProperties ?? {}).compressionBlockSizeBytes;
}

function sizes(role: FileRole, stripe: number, block: number, deltaRatio: number): OrcWriterOptions {
  switch (role) {
    case 'delta':
      return {
        stripeSizeBytes: Math.max(1, Math.trunc(stripe / deltaRatio)),
        compressionBlockSizeBytes: Math.max(1, Math.trunc(block / deltaRatio)),
        blockPadding: false,
      };
    case 'minor':
      return { stripeSizeBytes: MINOR_STRIPE_BYTES, compressionBlockSizeBytes: MINOR_BLOCK_BYTES, blockPadding: false };
    default:
      return { stripeSizeBytes: stripe, compressionBlockSizeBytes: block };
  }
}

function fromFields(options: OrcFileOptions): OrcWriterOptions {
  return {
    ...(options.compress === undefined ? {} : { compression: compressionOf('orc.compress', options.compress) }),
    ...(options.compressSizeBytes === undefined ? {} : { compressionBlockSizeBytes: options.compressSizeBytes }),
    ...(options.stripeSizeBytes === undefined ? {} : { stripeSizeBytes: options.stripeSizeBytes }),
    ...(options.rowIndexStride === undefined ? {} : { rowIndexStride: options.rowIndexStride }),
    ...(options.bloomFilterColumns === undefined ? {} : { bloomFilterColumns: options.bloomFilterColumns }),
    ...(options.bloomFilterFpp === undefined ? {} : { bloomFilterFpp: options.bloomFilterFpp }),
    ...(options.writerTimezone === undefined ? {} : { writerTimezone: options.writerTimezone }),
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The table properties of OrcConf that a writer heeds. */
function fromTableProperties(properties: Readonly<Record<string, string>>): OrcWriterOptions {
  const out: Mutable<OrcWriterOptions> = {};
  let hasIndex = true;
  for (const [key, value] of Object.entries(properties)) {
    const name = key.toLowerCase();
    switch (name) {
      case 'orc.compress':
        out.compression = compressionOf(name, value);
        break;
      case 'orc.compress.size':
        out.compressionBlockSizeBytes = count(name, value);
        break;
      case 'orc.stripe.size':
        out.stripeSizeBytes = count(name, value);
        break;
      case 'orc.block.size':
        out.blockSizeBytes = count(name, value);
        break;
      case 'orc.row.index.stride':
        out.rowIndexStride = count(name, value);
        break;
      case 'orc.create.index':
        hasIndex = flag(name, value);
        break;
      case 'orc.block.padding':
        out.blockPadding = flag(name, value);
        break;
      case 'orc.block.padding.tolerance':
        out.paddingTolerance = fraction(name, value);
        break;
      case 'orc.bloom.filter.columns':
        out.bloomFilterColumns = value
          .split(',')
          .map((column) => column.trim())
          .filter((column) => column !== '');
        break;
      case 'orc.bloom.filter.fpp':
        out.bloomFilterFpp = fraction(name, value);
        break;
      case 'orc.dictionary.key.threshold':
        out.dictionaryKeySizeThreshold = fraction(name, value);
        break;
      case 'orc.encoding.strategy':
        out.encodingStrategy = strategy(name, value);
        break;
      case 'orc.compression.strategy':
        out.compressionStrategy = strategy(name, value);
        break;
      default:
    }
  }
  return hasIndex ? out : { ...out, rowIndexStride: 0 };
}

function compressionOf(name: string, value: string): Compression {
  const found = COMPRESSIONS.find((compression) => compression === value.trim().toLowerCase());
  if (found === undefined) throw new InvalidOrcPropertyError(name, value);
  return found;
}

function count(name: string, value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isSafeInteger(number) || number < 0)
    throw new InvalidOrcPropertyError(name, value);
  return number;
}

function fraction(name: string, value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !(number >= 0 && number <= 1)) throw new InvalidOrcPropertyError(name, value);
  return number;
}

function flag(name: string, value: string): boolean {
  const text = value.trim().toLowerCase();
  if (text !== 'true' && text !== 'false') throw new InvalidOrcPropertyError(name, value);
  return text === 'true';
}

function strategy(name: string, value: string): 'speed' | 'compression' {
  const text = value.trim().toLowerCase();
  if (text !== 'speed' && text !== 'compression') throw new InvalidOrcPropertyError(name, value);
  return text;
}
