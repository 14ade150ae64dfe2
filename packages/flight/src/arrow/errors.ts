import { SkepError } from '@skep/core';

/** A value or type that the other side of the mapping (docs/flight.md) does not have. */
export class ArrowMappingError extends SkepError {
  constructor(code: 'NOT_REPRESENTABLE' | 'TYPE_MISMATCH' | 'BAD_ARROW_DATA', message: string, cause?: unknown) {
    super(code, 'invalid', message, { cause });
  }
}
