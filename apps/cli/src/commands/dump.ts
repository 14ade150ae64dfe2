import { readFile } from 'node:fs/promises';
import {
  columnName,
  inMemoryKeys,
  type KeyProvider,
  type OrcReader,
  openOrc,
  parseKeys,
  rowToJson,
  typeToString,
} from '@skep/orc';
import { type FileEntry, type FileSystem, localFileSystem } from '@skep/storage';
import { UsageError } from '../error-line.js';
import { type CliIo, write } from '../io.js';
import { columnStatistics } from './column-statistics.js';

export interface DumpOptions {
  /** Rows only, one a line. */
  readonly data: boolean;
  readonly json: boolean;
  /** A file of master keys for encrypted columns (parseKeys of @skep/orc); absent: what SKEP_ORC_KEYS names. */
  readonly keyFile?: string;
  /** What the masks left of encrypted columns whose key is not there, instead of an error. */
  readonly masked?: boolean;
}

/** What all files of a dump have in common. */
interface FileOptions extends DumpOptions {
  readonly named: boolean;
  readonly keys: KeyProvider | undefined;
}

/** The columns of an ACID file (org.apache.hadoop.hive.ql.io.orc.OrcRecordUpdater). */
const ACID_COLUMNS = 'operation,originalTransaction,bucket,rowId,currentTransaction,row';
/** So many events are shown beside a file's metadata; --data shows all. */
const ROWS_SHOWN = 100;

/** `skep dump`: an ORC file, or every data file below a folder, like orcfiledump. */
export async function dumpPath(io: CliIo, path: string, options: DumpOptions): Promise<void> {
  const fs = localFileSystem();
  const entry = await fs.stat(path);
  if (entry === undefined) throw new UsageError(`no such file or folder: ${path}`);
  const files = entry.isDirectory ? await dataFilesBelow(fs, path) : [path];
  if (files.length === 0) throw new UsageError(`no data file in ${path}`);
  const named = entry.isDirectory && !(options.json && options.data);
  const keys = await keysOf(options.keyFile ?? io.env.SKEP_ORC_KEYS);
  for (const file of files) await dumpFile(io, fs, file, { ...options, named, keys });
}

async function keysOf(file: string | undefined): Promise<KeyProvider | undefined> {
  if (file === undefined || file === '') return undefined;
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new UsageError(
      `the key file ${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
  return inMemoryKeys(parseKeys(text, file));
}

/** Data files by path; what begins with _ or . is none, and side files hold no rows. */
async function dataFilesBelow(fs: FileSystem, dir: string): Promise<string[]> {
  const isData = ({ name }: FileEntry) => !/^[_.]/.test(name) && !name.endsWith('_flush_length');
  const files: string[] = [];
  for (const entry of (await fs.list(dir)).filter(isData)) {
    if (entry.isDirectory) files.push(...(await dataFilesBelow(fs, entry.path)));
    else files.push(entry.path);
  }
  return files;
}

async function dumpFile(io: CliIo, fs: FileSystem, path: string, options: FileOptions): Promise<void> {
  const source = await fs.open(path);
  try {
    const { keys, masked = false } = options;
    const reader = await openOrc(source, keys === undefined ? {} : { keys });
    if (options.data) {
      if (options.named) await write(io.stdout, `# ${path}\n`);
      await writeRows(io, reader, Number.POSITIVE_INFINITY, { masked });
    } else if (options.json) {
      await write(io.stdout, `${JSON.stringify(description(reader, source.size), jsonValue)}\n`);
    } else {
      await write(io.stdout, metadataText(reader, source.size));
      if (reader.schema.fieldNames.join() === ACID_COLUMNS) {
        await write(io.stdout, 'Events:\n');
        await writeRows(io, reader, ROWS_SHOWN, { masked, indent: '  ' });
      }
      await write(io.stdout, '\n');
    }
  } finally {
    await source.close?.();
  }
}

async function writeRows(
  io: CliIo,
  reader: OrcReader,
  most: number,
  { masked, indent = '' }: { readonly masked: boolean; readonly indent?: string },
): Promise<void> {
  let shown = 0;
  for await (const batch of reader.batches({ masked })) {
    let text = '';
    for (let row = 0; row < batch.length && shown < most; row++, shown++)
      text += `${indent}${rowToJson(batch.root, row)}\n`;
    await write(io.stdout, text);
    if (shown >= most) break;
  }
  if (shown < reader.numberOfRows && shown >= most) {
    await write(io.stdout, `${indent}… ${reader.numberOfRows - shown} more (--data shows all)\n`);
  }
}

const userMetadata = (reader: OrcReader): [string, string][] =>
  [...reader.userMetadata].map(([name, value]) => [name, new TextDecoder().decode(value)]);

function metadataText(reader: OrcReader, sizeBytes: number): string {
  const lines = [
    `File: ${reader.path}`,
    `Format: ORC ${reader.fileVersion} by ${reader.softwareVersion ?? reader.writer}, writer version ${reader.writerVersion}, calendar ${reader.calendar}`,
    `Size: ${sizeBytes} bytes, compression: ${reader.compression}, blocks of ${reader.compressionBlockSize} bytes`,
    `Rows: ${reader.numberOfRows}, row index stride: ${reader.rowIndexStride}`,
    `Type: ${typeToString(reader.schema)}`,
    ...section(
      'Encrypted columns',
      [...reader.encryptedColumns].map(([id, { key, mask, readable }]) => {
        const how = `with key '${key.name}' version ${key.version} (${key.algorithm}), mask ${mask}`;
        return `${columnName(reader.schema, id) || 'all'}: ${how}, ${readable ? 'readable' : 'not readable without it'}`;
      }),
    ),
    ...section(
      'Stripes',
      reader.stripes.map(
        (stripe, i) =>
          `${i}: offset ${stripe.offset}, rows ${stripe.numberOfRows}, index ${stripe.indexLength}, data ${stripe.dataLength}, footer ${stripe.footerLength} bytes`,
      ),
    ),
    ...section(
      'Statistics',
      reader.statistics.map((statistics, i) => `column ${i}: ${columnStatistics(statistics)}`),
    ),
    ...section(
      'User metadata',
      userMetadata(reader).map(([name, value]) => `${name}=${value}`),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];

function description(reader: OrcReader, sizeBytes: number) {
  return {
    path: reader.path,
    sizeBytes,
    fileVersion: reader.fileVersion,
    writer: reader.writer,
    softwareVersion: reader.softwareVersion,
    writerVersion: reader.writerVersion,
    calendar: reader.calendar,
    compression: reader.compression,
    compressionBlockSize: reader.compressionBlockSize,
    numberOfRows: reader.numberOfRows,
    rowIndexStride: reader.rowIndexStride,
    schema: typeToString(reader.schema),
    ...(reader.encryptedColumns.size === 0 ? {} : { encryptedColumns: Object.fromEntries(reader.encryptedColumns) }),
    stripes: reader.stripes,
    statistics: reader.statistics,
    userMetadata: Object.fromEntries(userMetadata(reader)),
  };
}

/** Numbers beyond 2^53 as text, bytes as base64. */
function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint')
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}
