import type * as Grpc from '@grpc/grpc-js';
import { DEPTH, REQUEST_ID, USER } from './metadata-keys.js';
import type { AnyCall } from './serve-stream.js';
import { STATUS_DETAILS, statusDetails, type WireStatus } from './status.js';

/** A call as it came in: by itself, or with others on one stream. */
export interface Arrival {
  /** Of calls with one request. */
  readonly request: unknown;
  readonly requestId: string | undefined;
  /** Whom the client says that the call is for. */
  readonly wantedUser: string | undefined;
  /** As the client says it, whatever that is. */
  readonly depth: number;
  readonly peer: string;
  /** Infinity where the client has set none. */
  readonly deadline: number;
  /** Whether what carries the call ends it at its deadline. */
  readonly keepsDeadline: boolean;
  /** Who proved to be the caller; undefined where the server trusts what it is told. Throws UnauthenticatedError. */
  caller(): string | undefined;
  /** Called once, if the client gives the call up or is gone. */
  onCancelled(listener: () => void): void;
  header(name: string): string | undefined;
  answerHeader(name: string, value: string): void;
  /** Tells the client how the call ended; `response`: of calls with one. */
  answer(failure: WireStatus | undefined, response: unknown): void;
}

/** A call of gRPC's own. */
export class SingleCall implements Arrival {
  readonly keepsDeadline = true;

  constructor(
    private readonly grpc: typeof Grpc,
    private readonly call: AnyCall,
    private readonly callerOf: (call: AnyCall) => string | undefined,
    private readonly end: (error: Partial<Grpc.StatusObject> | null, response: unknown) => void,
  ) {}

  get request(): unknown {
    return this.call.request;
  }

  get requestId(): string | undefined {
    return this.header(REQUEST_ID);
  }

  get wantedUser(): string | undefined {
    return this.header(USER);
  }

  get depth(): number {
    return Number(this.call.metadata.get(DEPTH)[0] ?? 0);
  }

  get peer(): string {
    return this.call.getPeer();
  }

  get deadline(): number {
    return Number(this.call.getDeadline());
  }

  caller(): string | undefined {
    return this.callerOf(this.call);
  }

  onCancelled(listener: () => void): void {
    this.call.on('cancelled', listener);
  }

  header(name: string): string | undefined {
    const [value] = this.call.metadata.get(name);
    return value === undefined ? undefined : String(value);
  }

  answerHeader(name: string, value: string): void {
    const metadata = new this.grpc.Metadata();
    metadata.set(name, value);
    this.call.sendMetadata(metadata);
  }

  answer(failure: WireStatus | undefined, response: unknown): void {
    if (failure === undefined) {
      this.end(null, response);
      return;
    }
    const metadata = new this.grpc.Metadata();
    metadata.set(STATUS_DETAILS, Buffer.from(statusDetails(failure)));
    this.end({ code: failure.code, details: failure.message, metadata }, undefined);
  }
}
