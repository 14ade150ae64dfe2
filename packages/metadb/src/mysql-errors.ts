import { SkepError } from '@skep/core';
import { DatabaseError, type DatabaseErrorCode } from './errors.js';

/** What mysql2 throws: the server's error number, or the code of the network's error. */
export interface MysqlFailure extends Error {
  readonly code?: string;
  readonly errno?: number;
  readonly fatal?: boolean;
}

function isFailure(error: unknown): error is MysqlFailure {
  return error instanceof Error && 'code' in error && !('kind' in error);
}

const SERVER: ReadonlyMap<number, readonly [DatabaseErrorCode, string]> = new Map([
  [1044, ['DATABASE_DENIED', 'the user may not use it']],
  // What MariaDB says, too, of a user without TLS where it wants TLS.
  [1045, ['DATABASE_DENIED', 'wrong user or password, or it wants TLS (ssl=true, sslCa)']],
  [3159, ['DATABASE_TLS', 'it wants TLS (ssl=true, sslCa)']],
  [1698, ['DATABASE_DENIED', 'wrong user or password']],
  [1130, ['DATABASE_DENIED', 'this host may not connect']],
  [1142, ['DATABASE_DENIED', 'the user lacks a privilege']],
  [1143, ['DATABASE_DENIED', 'the user lacks a privilege']],
  [1227, ['DATABASE_DENIED', 'the user lacks a privilege']],
  [1049, ['DATABASE_UNREACHABLE', 'there is no such database']],
  [1290, ['DATABASE_UNWRITABLE', 'the server is read-only']],
  [1836, ['DATABASE_UNWRITABLE', 'the server is read-only']],
  [1040, ['DATABASE_UNREACHABLE', 'the server has no connection left']],
  [1203, ['DATABASE_UNREACHABLE', 'the user has no connection left']],
  [1205, ['DATABASE_LOCKED', 'another transaction keeps rows locked']],
  [1213, ['DATABASE_LOCKED', 'deadlocks with other transactions, again and again']],
  [1020, ['DATABASE_LOCKED', 'other transactions change the same rows, again and again']],
  [1021, ['DATABASE_FULL', 'the disk is full']],
  [1114, ['DATABASE_FULL', 'a table is full']],
  [1034, ['DATABASE_CORRUPT', 'a table is damaged']],
  [1712, ['DATABASE_CORRUPT', 'an index is damaged']],
  [1877, ['DATABASE_CORRUPT', 'a table is damaged']],
  [1048, ['DATABASE_CONSTRAINT', 'a constraint is violated']],
  [1062, ['DATABASE_CONSTRAINT', 'a constraint is violated']],
  [1451, ['DATABASE_CONSTRAINT', 'a constraint is violated']],
  [1452, ['DATABASE_CONSTRAINT', 'a constraint is violated']],
  [1264, ['DATABASE_VALUE', 'a value does not fit its column']],
  [1366, ['DATABASE_VALUE', 'a text does not fit the character set of its column']],
  [1406, ['DATABASE_VALUE', 'a value is too long for its column']],
]);

/** A statement for a connection that is closed: mysql2 says so without a code. */
export class ConnectionClosedError extends SkepError {
  constructor(cause: unknown) {
    super('CONNECTION_CLOSED', 'unavailable', 'the connection is closed', { cause });
  }
}

/** The connection is gone, or never came about. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof ConnectionClosedError) return true;
  if (!isFailure(error)) return false;
  // Shutdown, killed, went away, idle for too long.
  if (error.errno !== undefined && [1053, 1077, 1079, 1927, 2006, 2013, 4031].includes(error.errno)) return true;
  return /^(PROTOCOL_|ECONN|EPIPE|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/.test(error.code ?? '');
}

/** Another transaction was in the way: run again, it may go through. A duplicate key is seen by the second run. */
/** Whether what the server says of an error is one of these, in the form of Hive's DatabaseProduct (hive.txn.retryable.sqlex.regex). */
export function hasMessage(error: unknown, patterns: readonly RegExp[]): boolean {
  if (patterns.length === 0 || !isFailure(error)) return false;
  const { message, errno } = error;
  const state = 'sqlState' in error ? String(error.sqlState) : '';
  const text = `${message} (SQLState=${state}, ErrorCode=${errno ?? 0})`;
  return patterns.some((pattern) => pattern.test(text));
}

export function isRetryable(error: unknown): boolean {
  return isFailure(error) && [1205, 1213, 1020, 1412].includes(error.errno ?? 0);
}

export function isDuplicateKey(error: unknown): boolean {
  return isFailure(error) && error.errno === 1062;
}

export function isUnknownDatabase(error: unknown): boolean {
  return isFailure(error) && error.errno === 1049;
}

/** The typed error for whatever the driver threw; errors that are not the driver's pass as they are. */
export function fromMysql(path: string, error: unknown): unknown {
  if (error instanceof ConnectionClosedError) {
    return new DatabaseError('DATABASE_UNREACHABLE', path, 'the connection was closed', { cause: error });
  }
  if (!isFailure(error)) return error;
  const { errno, code, message } = error;
  const known = errno === undefined ? undefined : SERVER.get(errno);
  if (known !== undefined)
    return new DatabaseError(known[0], path, `${known[1]} (${code}: ${message})`, { cause: error });
  if (code === 'HANDSHAKE_SSL_ERROR') {
    // 80DC…:error:0A000410:SSL routines:ssl3_read_bytes:sslv3 alert handshake failure:FILE:LINE:…
    const [, reason = message] = /error:\w+:SSL routines:[^:]*:([^:]+)/.exec(message) ?? [];
    return new DatabaseError('DATABASE_TLS', path, `no TLS with it: ${reason}`, { cause: error });
  }
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') {
    return new DatabaseError('DATABASE_TLS', path, 'it speaks no TLS (ssl, sslCa)', { cause: error });
  }
  if (isConnectionLost(error)) {
    return new DatabaseError('DATABASE_UNREACHABLE', path, `cannot be reached (${code}: ${message})`, { cause: error });
  }
  return new DatabaseError('DATABASE_STATEMENT', path, `statement failed (${code}: ${message})`, { cause: error });
}

/** The connection broke when a commit was under way. */
export function unknownOutcome(path: string, cause: unknown): DatabaseError {
  const what = 'the connection broke during a commit, which may have taken effect or not: look before trying again';
  return new DatabaseError('DATABASE_UNKNOWN_OUTCOME', path, what, { cause });
}
