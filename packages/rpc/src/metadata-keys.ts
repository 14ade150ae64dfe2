/** Whom the call is made for, if not the caller. */
export const USER = 'x-skep-user';
/** The call's id in logs. */
export const REQUEST_ID = 'x-request-id';
/** How many services called one another before this call. */
export const DEPTH = 'x-skep-depth';

/** What a client says of a call beside its request. */
export interface CallHeaders {
  readonly requestId: string;
  readonly user: string | undefined;
  readonly depth: number | undefined;
}
