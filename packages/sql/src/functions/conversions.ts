import { semantic } from '../expressions/errors.js';
import { dayTimeNanos } from '../text/calendar.js';
import {
  BIGINT,
  BINARY,
  BOOLEAN,
  DATE,
  DOUBLE,
  FLOAT,
  type HiveType,
  INT,
  INTERVAL_DAY_TIME,
  INTERVAL_YEAR_MONTH,
  SMALLINT,
  STRING,
  TIMESTAMP,
  TINYINT,
} from '../types/hive-type.js';
import { convertArguments, customFunction, jsFunction, sqlFunction } from './builder.js';
import type { ScalarFunction } from './definition.js';

const NANOS = 1_000_000_000n;

/** `int(x)` is CAST(x AS INT). */
const conversion = (name: string, type: HiveType): ScalarFunction =>
  customFunction('conversion', name, 'value', (call) => call.analysis.cast(convertArguments(call, ['any'])[0], type));

const ENCODINGS: Readonly<Record<string, BufferEncoding>> = {
  'UTF-8': 'utf8',
  'UTF-16LE': 'utf16le',
  'ISO-8859-1': 'latin1',
  'US-ASCII': 'latin1',
};

function unhex(text: string): Uint8Array | null {
  const even = text.length % 2 === 0 ? text : `0${text}`;
  return /^[0-9a-fA-F]*$/.test(even) ? Buffer.from(even, 'hex') : null;
}

function decodeBytes(bytes: Uint8Array, charset: string): string | null {
  const name = charset.toUpperCase();
  if ((name === 'UTF-16' || name === 'UTF-16BE') && bytes.length % 2 === 1) {
    throw semantic(`DECODE: the bytes are no text in ${charset}`, undefined, 10014);
  }
  if (name === 'UTF-16' || name === 'UTF-16BE') return Buffer.from(bytes).swap16().toString('utf16le');
  const encoding = ENCODINGS[name];
  return encoding === undefined ? null : Buffer.from(bytes).toString(encoding);
}

function encodeText(text: string, charset: string): Uint8Array | null {
  const name = charset.toUpperCase();
  if (name === 'UTF-16' || name === 'UTF-16BE') {
    const bytes = Buffer.from(text, 'utf16le').swap16();
    return name === 'UTF-16' ? Buffer.concat([Buffer.from([0xfe, 0xff]), bytes]) : bytes;
  }
  const encoding = ENCODINGS[name];
  if (encoding === undefined) throw semantic(`ENCODE: there is no character set '${charset}'`);
  return Buffer.from(text, encoding);
}

export const conversionFunctions: readonly ScalarFunction[] = [
  conversion('tinyint udftobyte', TINYINT),
  conversion('smallint udftoshort', SMALLINT),
  conversion('int udftointeger', INT),
  conversion('bigint udftolong', BIGINT),
  conversion('float udftofloat', FLOAT),
  conversion('double udftodouble', DOUBLE),
  conversion('string', STRING),
  conversion('boolean udftoboolean', BOOLEAN),
  conversion('binary', BINARY),
  conversion('date', DATE),
  conversion('timestamp', TIMESTAMP),
  jsFunction('conversion', 'interval_year_month', ['string'], INTERVAL_YEAR_MONTH, (s) => {
    const match = /^([+-]?)(\d+)-(\d+)$/.exec((s as string).trim());
    if (match === null || Number(match[3]) > 11) return null;
    return (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 12 + Number(match[3]));
  }),
  jsFunction('conversion', 'interval_day_time', ['string'], INTERVAL_DAY_TIME, (s) => {
    const nanos = dayTimeNanos(s as string);
    if (nanos === undefined) return null;
    const rest = ((nanos % NANOS) + NANOS) % NANOS;
    return { seconds: (nanos - rest) / NANOS, nanos: Number(rest) };
  }),
  sqlFunction('conversion', 'base64', ['binary'], STRING, (b) => `base64(${b})`),
  jsFunction('conversion', 'unbase64', ['string'], BINARY, (s) => Buffer.from(s as string, 'base64')),
  jsFunction('conversion', 'unhex', ['string'], BINARY, (s) => unhex(s as string)),
  jsFunction('conversion', 'encode', ['string', 'string'], BINARY, (s, charset) =>
    encodeText(s as string, charset as string),
  ),
  jsFunction('conversion', 'decode', ['binary', 'string'], STRING, (b, charset) =>
    decodeBytes(b as Uint8Array, charset as string),
  ),
];
