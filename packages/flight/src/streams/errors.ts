import { SkepError } from '@skep/core';

/** A descriptor, filter, action or stream that cannot be meant. */
export class BadRequestError extends SkepError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('INVALID_REQUEST', 'invalid', message, options);
  }
}

/** A method of Flight that is not offered here; clients know by the status that they need not try again. */
export class NotOfferedError extends SkepError {
  constructor(message: string) {
    super('UNIMPLEMENTED', 'invalid', message);
  }
}

/** A ticket that no service with this key made, or whose text was changed. */
export class BadTicketError extends SkepError {
  constructor(message: string) {
    super('TICKET_INVALID', 'invalid', message);
  }
}

/** What the ticket stands for is no longer kept: GetFlightInfo gives new ones. */
export class TicketExpiredError extends SkepError {
  constructor(message: string) {
    super('TICKET_EXPIRED', 'unavailable', `${message}: ask for new tickets with GetFlightInfo`);
  }
}
