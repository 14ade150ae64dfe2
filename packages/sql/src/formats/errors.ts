import { SkepError } from '@skep/core';

/** A file format, or a value in it, that skep does not do: named, never half done. */
export class UnsupportedFormatError extends SkepError {
  constructor(what: string, options: { cause?: unknown } = {}) {
    super('UNSUPPORTED_FORMAT', 'invalid', `${what} is not supported by skep`, { sqlState: '0A000', ...options });
  }
}
