import type { ByteSource } from '@skep/core';
import type { ColumnStatistics } from './proto/gen/orc_proto.js';
import { type OpenOptions, type OrcReader, openOrc } from './reader/orc-reader.js';
import { STREAM_NAMES, type StripeInformation, type StripeLayout } from './reader/stripe.js';
import { dateText, timestampText } from './time/date-text.js';
import { typeToString } from './type-text.js';

/** Names of Java's writer versions (OrcFile.WriterVersion). */
const JAVA_VERSIONS = [
  'ORIGINAL',
  'HIVE_8732',
  'HIVE_4243',
  'HIVE_12055',
  'HIVE_13083',
  'ORC_101',
  'ORC_135',
  'ORC_517',
  'ORC_203',
  'ORC_14',
];
const WRITER_NAMES = {
  java: 'ORC',
  cpp: 'ORC_CPP',
  presto: 'PRESTO',
  go: 'SCRITCHLEY_GO',
  trino: 'TRINO',
  cudf: 'CUDF',
};
const UTF8 = new TextDecoder();
const BYTES = new TextDecoder('utf-8', { fatal: true });

/**
 * What is in an ORC file, as Java's orcfiledump (org.apache.orc.tools.FileDump) tells it: versions, schema, statistics of
 * stripes and file, each stripe's streams and encodings, padding, user metadata.
 */
export async function dumpOrc(source: ByteSource, options: OpenOptions = {}): Promise<string> {
  const reader = await openOrc(source, options);
  const layouts: StripeLayout[] = [];
  for (const number of reader.stripes.keys()) layouts.push(await reader.stripeLayout(number));
  return [
    ...headerLines(reader),
    '',
    'Stripe Statistics:',
    ...(await reader.stripeStatistics()).flatMap((columns, i) => [
      `  Stripe ${i + 1}:`,
      ...columns.map((statistics, id) => `    Column ${id}: ${statisticsText(statistics)}`),
    ]),
    '',
    'File Statistics:',
    ...reader.statistics.map((statistics, id) => `  Column ${id}: ${statisticsText(statistics)}`),
    '',
    'Stripes:',
    ...layouts.flatMap(stripeLines),
    '',
    ...sizeLines(reader, source.size),
    ...userMetadataLines(reader),
    '',
  ].join('\n');
}

function headerLines(reader: OrcReader): string[] {
  const version =
    reader.writer === 'java'
      ? (JAVA_VERSIONS[reader.writerVersion] ?? `FUTURE (${reader.writerVersion})`)
      : `${reader.writer === 'unknown' ? 'an unknown writer' : WRITER_NAMES[reader.writer]} ${reader.writerVersion}`;
  const software = reader.softwareVersion === undefined ? '' : ` by ${reader.softwareVersion}`;
  return [
    `Structure for ${reader.path}`,
    `File Version: ${reader.fileVersion} with ${version}${software}`,
    `Rows: ${reader.numberOfRows}`,
    `Compression: ${reader.compression.toUpperCase()}`,
    ...(reader.compression === 'none' ? [] : [`Compression size: ${reader.compressionBlockSize}`]),
    `Calendar: ${reader.calendar === 'proleptic_gregorian' ? 'Proleptic Gregorian' : 'Julian/Gregorian'}`,
    `Type: ${typeToString(reader.schema)}`,
    ...[...reader.encryptedColumns].map(([id, { key, mask, readable }]) => {
      const which = `'${key.name}' version ${key.version} (${key.algorithm})`;
      return `Encrypted: column ${id} with key ${which}, mask ${mask}, ${readable ? 'readable' : 'not readable'}`;
    }),
  ];
}

/** One column's statistics, in Java's words (ColumnStatisticsImpl.toString). */
export function statisticsText(statistics: ColumnStatistics): string {
  const parts = [`count: ${statistics.numberOfValues ?? 0n}`, `hasNull: ${statistics.hasNull ?? true}`];
  const add = (name: string, value: unknown) => {
    if (value !== undefined) parts.push(`${name}: ${value}`);
  };
  add('bytesOnDisk', statistics.bytesOnDisk);
  const { intStatistics, doubleStatistics, stringStatistics, decimalStatistics, dateStatistics } = statistics;
  for (const range of [intStatistics, doubleStatistics, decimalStatistics]) {
    add('min', range?.minimum);
    add('max', range?.maximum);
    add('sum', range?.sum);
  }
  add('min', stringStatistics?.minimum);
  add('max', stringStatistics?.maximum);
  add('lower', stringStatistics?.lowerBound);
  add('upper', stringStatistics?.upperBound);
  add('sum', stringStatistics?.sum);
  add('true', statistics.bucketStatistics?.count?.[0]);
  add('min', dateStatistics?.minimum === undefined ? undefined : dateText(dateStatistics.minimum));
  add('max', dateStatistics?.maximum === undefined ? undefined : dateText(dateStatistics.maximum));
  const { timestampStatistics, binaryStatistics, collectionStatistics } = statistics;
  add('min', instantText(timestampStatistics?.minimum, undefined));
  add('max', instantText(timestampStatistics?.maximum, undefined));
  add('min UTC', instantText(timestampStatistics?.minimumUtc, timestampStatistics?.minimumNanos));
  add('max UTC', instantText(timestampStatistics?.maximumUtc, timestampStatistics?.maximumNanos));
  add('sum', binaryStatistics?.sum);
  add('minChildren', collectionStatistics?.minChildren);
  add('maxChildren', collectionStatistics?.maxChildren);
  add('totalChildren', collectionStatistics?.totalChildren);
  return parts.join(' ');
}

function instantText(milliseconds: bigint | undefined, nanosPlusOne: number | undefined): string | undefined {
  if (milliseconds === undefined) return undefined;
  const part = Number(((milliseconds % 1000n) + 1000n) % 1000n);
  const nanos = part * 1_000_000 + (nanosPlusOne === undefined ? 0 : nanosPlusOne - 1);
  return timestampText((milliseconds - BigInt(part)) / 1000n, nanos);
}

function stripeLines({ stripe, streams, columns, writerTimezone }: StripeLayout): string[] {
  const { offset, dataLength, numberOfRows, footerLength, indexLength } = stripe;
  const zone = writerTimezone === undefined ? '' : ` timezone: ${writerTimezone}`;
  return [
    `  Stripe: offset: ${offset} data: ${dataLength} rows: ${numberOfRows} tail: ${footerLength} index: ${indexLength}${zone}`,
    ...streams.map(
      ({ column, kind, offset: start, length, variant }) =>
        `    Stream: column ${column} section ${STREAM_NAMES[kind] ?? kind} start: ${start} length ${length}${variant === undefined ? '' : ' encrypted'}`,
    ),
    ...columns.map(
      ({ dictionary, rleV2, dictionarySize }, id) =>
        `    Encoding column ${id}: ${dictionary ? 'DICTIONARY' : 'DIRECT'}${rleV2 ? '_V2' : ''}${dictionary ? `[${dictionarySize}]` : ''}`,
    ),
  ];
}

function sizeLines(reader: OrcReader, fileSize: number): string[] {
  const padding = paddedBytes(reader.stripes);
  const percent = fileSize === 0 ? 0 : (100 * padding) / fileSize;
  return [
    `File length: ${fileSize} bytes`,
    `Padding length: ${padding} bytes`,
    `Padding ratio: ${Number(percent.toFixed(2))}%`,
  ];
}

/** Bytes between stripes, which block padding leaves. */
function paddedBytes(stripes: readonly StripeInformation[]): number {
  let padding = 0;
  for (let i = 1; i < stripes.length; i++) {
    const { offset, indexLength, dataLength, footerLength } = stripes[i - 1];
    padding += stripes[i].offset - (offset + indexLength + dataLength + footerLength);
  }
  return padding;
}

function userMetadataLines(reader: OrcReader): string[] {
  if (reader.userMetadata.size === 0) return [];
  return ['', 'User Metadata:', ...[...reader.userMetadata].map(([name, value]) => `  ${name}=${metadataText(value)}`)];
}

function metadataText(value: Uint8Array): string {
  try {
    return BYTES.decode(value);
  } catch (error) {
    if (error instanceof TypeError)
      return `${value.length} bytes: ${UTF8.decode(value.subarray(0, 32)).replaceAll(/\p{C}/gu, '.')}`;
    throw error;
  }
}
