import { SkepError } from '@skep/core';

/** What was given to a writer does not fit its schema or options. */
export class InvalidWriteError extends SkepError {
  constructor(message: string) {
    super('INVALID_WRITE', 'invalid', message);
  }
}
