import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import { hashColumn } from '@skep/acid';
import type { ColumnVector, TimestampValue } from '@skep/orc';
import type { Expr } from '../expressions/expr.js';
import { BIGINT, BINARY, INT, INTERVAL_DAY_TIME, STRING } from '../types/hive-type.js';
import { convertArguments, customFunction, result } from './builder.js';
import type { Call, ScalarFunction } from './definition.js';

/** Text counts by its UTF-8 bytes. */
function bytesOf(call: Call, arg: Expr): string {
  return arg.type.kind === 'binary' ? arg.sql : call.analysis.cast(call.analysis.cast(arg, STRING), BINARY).sql;
}

const digest = (names: string, algorithm: string): ScalarFunction =>
  customFunction('hash', names, 'string or binary', (call) => {
    const [arg] = convertArguments(call, ['any']);
    const sql = call.analysis.udfs.call(algorithm, [BINARY], STRING, [bytesOf(call, arg)], (b) =>
      createHash(algorithm)
        .update(b as Uint8Array)
        .digest('hex'),
    );
    return result(call, STRING, sql);
  });

const SHA2: Readonly<Record<number, string>> = {
  0: 'sha256',
  1: 'sha1',
  224: 'sha224',
  256: 'sha256',
  384: 'sha384',
  512: 'sha512',
};

const crcTable = Int32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = (c & 1) !== 0 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  return c;
});

function crc32(bytes: Uint8Array): bigint {
  let crc = -1;
  for (const byte of bytes) crc = (crc >>> 8) ^ crcTable[(crc ^ byte) & 0xff];
  return BigInt((crc ^ -1) >>> 0);
}

/** HiveIntervalDayTime.hashCode, as the int that has it. */
function intervalHash(call: Call, arg: Expr): Expr {
  const sql = call.analysis.udfs.call('interval_hash', [INTERVAL_DAY_TIME], INT, [arg.sql], (value) => {
    const { seconds, nanos } = value as TimestampValue;
    const folded = Number(BigInt.asIntN(32, seconds ^ (seconds >> 32n)));
    return (Math.imul((17 * 37 + folded) | 0, 37) + nanos) | 0;
  });
  return { ...arg, type: INT, sql };
}

/** Java's hash codes, or Murmur3 as bucketing_version 2 has it (GenericUDFHash, GenericUDFMurmurHash). */
const rowHash = (name: string, version: 1 | 2): ScalarFunction =>
  customFunction('hash', name, 'value*', (call) => {
    const args = convertArguments(call, ['any*']).map((arg) =>
      arg.type.kind === 'interval_day_time' ? intervalHash(call, arg) : arg,
    );
    if (args.length === 0) return result(call, INT, 'CAST(0 AS INTEGER)');
    const vectorBody = (columns: readonly ColumnVector[], length: number): ColumnVector => {
      const values = new Int32Array(length);
      for (const column of columns) {
        const hashes = hashColumn(column, version);
        for (let row = 0; row < length; row++) values[row] = (Math.imul(31, values[row]) + hashes[row]) | 0;
      }
      return { kind: 'int', length, values };
    };
    const values = args.map((arg) => (arg.type.kind === 'void' ? 'CAST(NULL AS BOOLEAN)' : arg.sql));
    const types = args.map((arg) => arg.type);
    const sql = call.analysis.udfs.call(name, types, INT, values, () => 0, { vectorBody });
    return result(call, INT, sql);
  });

/** AES in ECB mode with PKCS5 padding; NULL for a key of another length, or what cannot be decrypted. */
const aes = (name: 'aes_encrypt' | 'aes_decrypt'): ScalarFunction =>
  customFunction('hash', name, 'string or binary, key', (call) => {
    const [input, key] = convertArguments(call, ['any', 'any']);
    const sql = call.analysis.udfs.call(
      name,
      [BINARY, BINARY],
      BINARY,
      [bytesOf(call, input), bytesOf(call, key)],
      (b, k) => {
        const [bytes, secret] = [b as Uint8Array, k as Uint8Array];
        if (![16, 24, 32].includes(secret.length)) return null;
        const algorithm = `aes-${secret.length * 8}-ecb`;
        const make = name === 'aes_encrypt' ? createCipheriv : createDecipheriv;
        const cipher = make(algorithm, secret, null);
        try {
          return Buffer.concat([cipher.update(bytes), cipher.final()]);
        } catch (error) {
          // Wrong key or no AES text: OpenSSL says "bad decrypt".
          if (name === 'aes_decrypt' && error instanceof Error) return null;
          throw error;
        }
      },
    );
    return result(call, BINARY, sql);
  });

export const hashFunctions: readonly ScalarFunction[] = [
  digest('md5', 'md5'),
  digest('sha1 sha', 'sha1'),
  customFunction('hash', 'sha2', 'string or binary, bits', (call) => {
    const [arg, bits] = convertArguments(call, ['any', 'int']);
    const sql = call.analysis.udfs.call('sha2', [BINARY, INT], STRING, [bytesOf(call, arg), bits.sql], (b, n) => {
      const algorithm = SHA2[n as number];
      return algorithm === undefined
        ? null
        : createHash(algorithm)
            .update(b as Uint8Array)
            .digest('hex');
    });
    return result(call, STRING, sql);
  }),
  customFunction('hash', 'crc32', 'string or binary', (call) => {
    const [arg] = convertArguments(call, ['any']);
    const sql = call.analysis.udfs.call('crc32', [BINARY], BIGINT, [bytesOf(call, arg)], (b) => crc32(b as Uint8Array));
    return result(call, BIGINT, sql);
  }),
  aes('aes_encrypt'),
  aes('aes_decrypt'),
  rowHash('hash', 1),
  rowHash('murmur_hash', 2),
];
