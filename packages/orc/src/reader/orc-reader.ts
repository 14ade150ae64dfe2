import type { ByteSource } from '@skep/core';
import type { CompressionKind } from '../compression/codec.js';
import { askKeys, askKeysSync } from '../encryption/ask-keys.js';
import { type FileEncryption, openEncryption, variantOf } from '../encryption/file-encryption.js';
import type { KeyProvider } from '../encryption/keys.js';
import { type EncryptedColumn, encryptedColumns, refuseEncrypted } from '../encryption/refuse.js';
import { readStripeStatistics } from '../encryption/stripe-statistics.js';
import { InvalidReadError } from '../errors.js';
import { fetchAsync, fetchSync, itemsAsync, itemsSync, MeteredSource } from '../file/fetching.js';
import { type FileTail, readFileTail, toNumber } from '../file/file-tail.js';
import type { ColumnStatistics } from '../proto/gen/orc_proto.js';
import type { TypeDescription } from '../type-description.js';
import { planColumns } from './evolution.js';
import { fileSchema } from './file-schema.js';
import type { OrcBatch, ReadOptions } from './options.js';
import { probeFor } from './probe.js';
import { fileColumns } from './projection.js';
import { bindSarg, searchedIds } from './pruning.js';
import { type ScannedFile, scan } from './scan.js';
import { readStripeLayout, type StripeInformation, type StripeLayout, stripesOf } from './stripe.js';
import { readBloomShapes, stripeBytes, type WholeStripe } from './whole-stripe.js';

/** Footer.writer of the specification. */
export type OrcWriterKind = 'java' | 'cpp' | 'presto' | 'go' | 'trino' | 'cudf' | 'unknown';
const WRITERS: readonly OrcWriterKind[] = ['java', 'cpp', 'presto', 'go', 'trino', 'cudf'];

export interface OpenOptions {
  /** The zone of timestamps in files that do not name one (before Hive 1.2); UTC when absent. */
  readonly defaultTimezone?: string;
  /**
   * The scale that decimals of Hive 0.11 and 0.12 are read with, whose columns have none (each value has its own); digits
   * beyond it are cut off. 6 when absent, as in the C++ reader.
   */
  readonly hive11DecimalScale?: number;
  /** The keys of encrypted columns; see inMemoryKeys. */
  readonly keys?: KeyProvider;
}

/** Opens a file whose source may answer later. Reads its tail only. */
export async function openOrc(source: ByteSource, options: OpenOptions = {}): Promise<OrcReader> {
  const metered = new MeteredSource(source);
  const tail = await fetchAsync(metered, readFileTail(source.path, source.size));
  const schema = schemaOf(tail, options);
  return new OrcReader(metered, tail, schema, await askKeys(openEncryption(tail, schema), options.keys), options);
}

/** Opens a file whose source answers at once: memory, a local file. */
export function openOrcSync(source: ByteSource, options: OpenOptions = {}): OrcReader {
  const metered = new MeteredSource(source);
  const tail = fetchSync(metered, readFileTail(source.path, source.size));
  const schema = schemaOf(tail, options);
  return new OrcReader(metered, tail, schema, askKeysSync(openEncryption(tail, schema), options.keys), options);
}

function schemaOf({ footer, path, footerOffset }: FileTail, { hive11DecimalScale = 6 }: OpenOptions): TypeDescription {
  return fileSchema(footer.types ?? [], path, footerOffset, hive11DecimalScale);
}

/** An open ORC file: what its tail says, and its rows in batches. Made by openOrc and openOrcSync. */
export class OrcReader {
  readonly path: string;
  /** As the footer says; a file may say 0 and have rows. */
  readonly numberOfRows: number;
  readonly stripes: readonly StripeInformation[];
  readonly compression: CompressionKind;
  readonly compressionBlockSize: number;
  /** Rows of a row group; 0: the file has no row indexes. */
  readonly rowIndexStride: number;
  readonly userMetadata: ReadonlyMap<string, Uint8Array>;
  /** Version of the format: 0.11, 0.12, or one from the future. */
  readonly fileVersion: string;
  readonly writer: OrcWriterKind;
  /** PostScript.writerVersion: which defects the writer is free of. */
  readonly writerVersion: number;
  readonly softwareVersion: string | undefined;
  readonly calendar: 'julian_gregorian' | 'proleptic_gregorian';
  /** Of the whole file, by column id; empty in files without statistics. Of an encrypted column without its key, as the mask left it. */
  readonly statistics: readonly ColumnStatistics[];
  /** By the ids of the columns that are encrypted, descendants included. */
  readonly encryptedColumns: ReadonlyMap<number, EncryptedColumn>;
  private readonly file: ScannedFile;
  private statisticsOfStripes: Promise<readonly (readonly ColumnStatistics[])[]> | undefined;

  constructor(
    private readonly source: MeteredSource,
    readonly tail: FileTail,
    readonly schema: TypeDescription,
    private readonly encryption: FileEncryption | undefined,
    options: OpenOptions,
  ) {
    const { footer, postScript, path, footerOffset } = tail;
    this.path = path;
    source.keepTail(tail.lastBytes);
    this.stripes = stripesOf(tail);
    this.numberOfRows = toNumber(footer.numberOfRows, path, footerOffset, 'number of rows');
    this.compression = tail.compression;
    this.compressionBlockSize = tail.blockSize;
    this.rowIndexStride = footer.rowIndexStride ?? 0;
    this.userMetadata = new Map(
      (footer.metadata ?? []).map(({ name = '', value }) => [name, value ?? new Uint8Array(0)]),
    );
    const version = postScript.version ?? [];
    this.fileVersion = version.length === 0 ? '0.11' : version.join('.');
    this.writer = WRITERS[footer.writer ?? 0] ?? 'unknown';
    this.writerVersion = postScript.writerVersion ?? 0;
    this.softwareVersion = footer.softwareVersion;
    this.calendar = footer.calendar === 2 ? 'proleptic_gregorian' : 'julian_gregorian';
    this.statistics = (footer.statistics ?? []).map((masked, id) => {
      const variant = variantOf(encryption, id);
      return variant?.statistics[id - variant.root.id] ?? masked;
    });
    this.encryptedColumns = encryptedColumns(encryption);
    this.file = {
      tail,
      schema: this.schema,
      stripes: this.stripes,
      rowIndexStride: this.rowIndexStride,
      origin: {
        writer: this.writer,
        writerVersion: this.writerVersion,
        softwareVersion: this.softwareVersion,
        hybrid: this.calendar === 'julian_gregorian',
      },
      encryption,
      decimal64: version[0] >= 2 || (version[0] === 1 && version[1] === 9999),
      defaultTimezone: options.defaultTimezone ?? 'UTC',
    };
  }

  /** Bytes that were asked of the source since it was opened. */
  get bytesRead(): number {
    return this.source.bytesRead;
  }

  /** By stripe and column id; shorter than `stripes` in files whose writer left them out. */
  async stripeStatistics(): Promise<readonly (readonly ColumnStatistics[])[]> {
    return fetchAsync(this.source, readStripeStatistics(this.tail, this.encryption));
  }

  stripeStatisticsSync(): readonly (readonly ColumnStatistics[])[] {
    return fetchSync(this.source, readStripeStatistics(this.tail, this.encryption));
  }

  /** A stripe to be copied into another file as it is; see OrcWriter.appendStripe. Its row data are not read. */
  async wholeStripe(number: number): Promise<WholeStripe> {
    const { source, tail, schema } = this;
    const layout = await this.stripeLayout(number);
    this.statisticsOfStripes ??= this.stripeStatistics();
    const statistics = (await this.statisticsOfStripes)[number];
    const bloomFilters = await fetchAsync(source, readBloomShapes(tail, layout));
    const information = this.stripes[number];
    return {
      tail,
      schema,
      number,
      information,
      layout,
      statistics,
      bloomFilters,
      bytes: () => stripeBytes(source, information),
    };
  }

  /** A stripe's streams and encodings. */
  async stripeLayout(number: number): Promise<StripeLayout> {
    return fetchAsync(this.source, this.readLayout(number));
  }

  stripeLayoutSync(number: number): StripeLayout {
    return fetchSync(this.source, this.readLayout(number));
  }

  private readLayout(number: number) {
    const stripe = this.stripes[number];
    if (stripe === undefined)
      throw new InvalidReadError(`${this.path} has ${this.stripes.length} stripes, no stripe ${number}`);
    return readStripeLayout(this.tail, stripe, this.schema.maximumId + 1, this.encryption, number);
  }

  /** The rows in batches of columns, in the file's order; see ReadOptions. */
  batches(options: ReadOptions = {}): AsyncIterable<OrcBatch> {
    return itemsAsync(this.source, this.scan(options));
  }

  /** As batches, from a source that answers at once. */
  batchesSync(options: ReadOptions = {}): Iterable<OrcBatch> {
    return itemsSync(this.source, this.scan(options));
  }

  private scan(options: ReadOptions) {
    const sarg = bindSarg(this.schema, options, this.path, this.file.origin);
    const root = planColumns(this.schema, options, this.path);
    const columns = [...fileColumns(root).map(({ id }) => id), ...searchedIds(sarg)];
    refuseEncrypted(this.path, this.schema, this.encryption, columns, options.masked === true);
    const probe = probeFor(sarg, this.schema, options, this.path);
    return scan(this.file, root, sarg, probe, options);
  }
}
