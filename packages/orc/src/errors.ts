import { SkepError } from '@skep/core';

/** A type text that does not follow ORC's syntax; `position` is the index of the character that does not fit. */
export class InvalidTypeError extends SkepError {
  readonly position: number;
  constructor(text: string, position: number, what: string) {
    super('INVALID_TYPE', 'invalid', `type '${text}' at position ${position}: ${what}`);
    this.position = position;
  }
}

/** A JavaScript value that its column's type cannot hold. */
export class InvalidValueError extends SkepError {
  constructor(value: unknown, type: string, why = '') {
    super('INVALID_VALUE', 'invalid', `${describe(value)} is not a value of ${type}${why === '' ? '' : `: ${why}`}`);
  }
}

/** What was asked of a reader does not fit the file: an unknown column, a conversion that ORC does not define. */
export class InvalidReadError extends SkepError {
  constructor(message: string) {
    super('INVALID_READ', 'invalid', message);
  }
}

/** An encrypted column was asked for without its key. */
export class EncryptedColumnError extends SkepError {
  readonly column: string;
  /** `key` with its version, as keyText has it. */
  constructor(path: string, column: string, key: string, mask: string) {
    const what = `column ${column} is encrypted with key ${key}`;
    const help = `give the key, leave the column out, or ask for what the mask '${mask}' left`;
    super('ENCRYPTED_COLUMN', 'invalid', `${path}: ${what}: ${help}`);
    this.column = column;
  }
}

/** The key that was given for an encrypted column does not decrypt it. */
export class WrongKeyError extends SkepError {
  readonly column: string;
  constructor(path: string, column: string, key: string) {
    const what = `the key given as ${key} does not open column ${column}`;
    super('WRONG_KEY', 'invalid', `${path}: ${what}: give the right one, or none`);
    this.column = column;
  }
}

/** What was given as a key is none. The message does not show it. */
export class InvalidKeyError extends SkepError {
  constructor(message: string) {
    super('INVALID_KEY', 'invalid', message);
  }
}

/** The file is sound but uses something that this library does not read. */
export class UnsupportedFileError extends SkepError {
  constructor(path: string, what: string) {
    super('UNSUPPORTED_FILE', 'invalid', `${path}: ${what}`);
  }
}

/** A time zone id that neither Java nor the IANA database knows. */
export class UnknownTimeZoneError extends SkepError {
  constructor(name: string, cause: unknown) {
    super('UNKNOWN_TIME_ZONE', 'invalid', `time zone '${name}' is not known`, { cause });
  }
}

/** A compression that is not written. */
export class UnsupportedCodecError extends SkepError {
  constructor(what: string) {
    super('UNSUPPORTED_CODEC', 'invalid', what);
  }
}

function describe(value: unknown): string {
  if (typeof value === 'string') return `'${value.length > 40 ? `${value.slice(0, 40)}…` : value}'`;
  if (typeof value === 'bigint') return `${value}`;
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}
