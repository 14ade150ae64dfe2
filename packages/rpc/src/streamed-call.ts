import type { Arrival } from './arrival.js';
import { AccessDeniedError } from './errors.js';
import type { Call } from './gen/skep/v1/call.js';
import { DEPTH, REQUEST_ID, USER } from './metadata-keys.js';
import type { UnaryMethod } from './serve-call.js';
import type { WireStatus } from './status.js';

/** The stream that a call came on. */
export interface ItsStream {
  readonly peer: string;
  /** Whom all its calls are for, if its metadata say so: something between client and server may set them, and means it. */
  readonly user: string | undefined;
  /** Who is at the other end; throws UnauthenticatedError. */
  caller(): string | undefined;
  header(name: string): string | undefined;
  reply(call: StreamedCall, failure: WireStatus | undefined, response: unknown): void;
}

/** Leading metadata of most answers. */
export const NO_METADATA: Readonly<Record<string, string>> = {};

/** A call that came with others. */
export class StreamedCall implements Arrival {
  readonly keepsDeadline = false;
  isCancelled = false;
  /** Leading metadata of its answer. */
  metadata = NO_METADATA;
  private listener: (() => void) | undefined;

  constructor(
    private readonly stream: ItsStream,
    private readonly call: Call,
    readonly served: UnaryMethod,
    readonly request: unknown,
    readonly deadline: number,
  ) {}

  get number(): number {
    return this.call.number;
  }

  get requestId(): string | undefined {
    const { requestId } = this.call;
    return requestId === '' ? undefined : requestId;
  }

  get wantedUser(): string | undefined {
    return this.stream.user ?? this.call.user;
  }

  get depth(): number {
    return this.call.depth;
  }

  get peer(): string {
    return this.stream.peer;
  }

  caller(): string | undefined {
    const caller = this.stream.caller();
    const { user } = this.call;
    if (user === undefined || user === this.wantedUser) return caller;
    throw new AccessDeniedError(
      caller ?? '',
      user,
      `the call is for user '${user}', its stream for '${this.wantedUser}'`,
    );
  }

  onCancelled(listener: () => void): void {
    this.listener = listener;
  }

  cancel(): void {
    this.isCancelled = true;
    this.listener?.();
  }

  header(name: string): string | undefined {
    if (name === REQUEST_ID) return this.requestId;
    if (name === USER) return this.wantedUser;
    if (name === DEPTH) return String(this.depth);
    return this.stream.header(name);
  }

  answerHeader(name: string, value: string): void {
    this.metadata = { ...this.metadata, [name.toLowerCase()]: value };
  }

  answer(failure: WireStatus | undefined, response: unknown): void {
    this.stream.reply(this, failure, response);
  }
}
