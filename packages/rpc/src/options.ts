/** What a server or client can be told, as plain data: files by path, times in milliseconds, sizes in bytes. */
import type { Clock } from '@skep/core';

/** The server's side of TLS. All files are PEM, read once at the start. */
export interface ServerTls {
  readonly certFile: string;
  readonly keyFile: string;
  /** Mutual TLS: every client must show a certificate that one of these authorities signed. */
  readonly clientCaFile?: string;
}

/** The client's side of TLS. */
export interface ClientTls {
  /** Authorities that the server's certificate must come from. Absent: those that Node trusts. */
  readonly caFile?: string;
  /** The client's own certificate and key, for mutual TLS: both or neither. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** The name to find in the server's certificate, where it is reached under another. */
  readonly serverName?: string;
}

/**
 * How a server knows who calls. With neither tokens nor `tls.clientCaFile` it trusts what the request says, which it does
 * only on a loopback address or with `insecure`.
 */
export interface IdentityOptions {
  /** One `USER SHA256-OF-TOKEN-IN-HEX` a line (`#` starts a comment). Clients send `authorization: Bearer TOKEN`. */
  readonly tokensFile?: string;
  /** Which name of a client's certificate is the user: the subject's CN (default) or its one DNS alternative name. */
  readonly certificateName?: 'CN' | 'DNS';
  /**
   * Hadoop's rules of who may act for whom: `hadoop.proxyuser.<caller>.hosts|users|groups` (`*` or a list with commas),
   * and `hadoop.user.group.static.mapping.overrides`. Other names are ignored, so a whole core-site.xml may be given.
   */
  readonly proxyUsers?: Readonly<Record<string, string>>;
}

export interface KeepaliveOptions {
  /** A ping is sent after so long without traffic. Default 30 s. */
  readonly timeMs?: number;
  /** A connection whose ping has no answer for so long is closed. Default 10 s. */
  readonly timeoutMs?: number;
}

/** One call as the server saw it, for metrics and logs. */
export interface CallRecord {
  /** `skep.v1.LockService/Lock`. */
  readonly method: string;
  /** OK, or the error's code (NO_SUCH_TXN …). */
  readonly code: string;
  readonly durationMs: number;
  /** How long of that it waited for its turn. */
  readonly queuedMs: number;
  /** Of a method that mostly waits for something to happen: that it took long says nothing. */
  readonly isWait: boolean;
  /** With streams: it takes as long as its messages do. */
  readonly isStream: boolean;
  /** Whom it was done for; empty where nobody said. */
  readonly user: string;
  readonly requestId: string;
  readonly peer: string;
  /** What the implementation threw. */
  readonly error?: unknown;
}

export interface ServeOptions {
  /** HOST:PORT or [IPV6]:PORT; port 0 takes a free one. Default 127.0.0.1:0. */
  readonly address?: string;
  /** Absent: plain text. */
  readonly tls?: ServerTls;
  readonly identity?: IdentityOptions;
  /** Listen beyond loopback without TLS or without knowing who calls. */
  readonly insecure?: boolean;
  /** Calls of one service that are worked on at once. Default 128. */
  readonly maxConcurrentCalls?: number;
  /** Calls of one service that wait for their turn; one more is refused with OVERLOADED. Default 2,048. */
  readonly maxQueuedCalls?: number;
  /** Calls of one service with streams, and such as mostly wait, that are open at once. Default 2,048. */
  readonly maxConcurrentStreams?: number;
  /** Calls with streams that wait for their turn; one more is refused with OVERLOADED. Default 2,048. */
  readonly maxQueuedStreams?: number;
  /** Largest request and response, at least 64 KiB. Default 64 MiB. */
  readonly maxMessageBytes?: number;
  /** A call is cancelled after so long, whatever deadline the client set. Not one with streams. Default 10 min. */
  readonly maxCallMs?: number;
  /** A call with streams is cancelled if its client neither takes nor sends a message for so long. Default 10 min. */
  readonly maxStreamIdleMs?: number;
  readonly keepalive?: KeepaliveOptions;
  /** grpc.reflection.v1 and v1alpha. Default true. */
  readonly reflection?: boolean;
  /** Called at the end of each call. */
  readonly onCall?: (record: CallRecord) => void;
  readonly clock?: Clock;
}

export interface RetryOptions {
  /**
   * How often a call is tried, the first time included. Default 5. Calls are tried again when the server was not reached or
   * refused to begin (OVERLOADED, SHUTTING_DOWN), and calls of idempotent methods also when the connection broke meanwhile.
   */
  readonly maxAttempts?: number;
  /** Pause before the second attempt, doubling to `maxDelayMs`, each time shortened by chance. Default 200 ms. */
  readonly initialDelayMs?: number;
  /** Default 2 s. */
  readonly maxDelayMs?: number;
}

/** What may differ from call to call. */
export interface CallOptions {
  /** How long the call may take, attempts and pauses included. */
  readonly deadlineMs?: number;
  /** Ends the call, here and at the server. */
  readonly signal?: AbortSignal;
  /** Whom the call is made for, if not the caller: the server's proxy-user rules must allow it. */
  readonly user?: string;
}

export interface ConnectOptions {
  /** Of a call that sets none. Default 60 s. */
  readonly deadlineMs?: number;
  /** Absent: plain text. */
  readonly tls?: ClientTls;
  /** The bearer token that says who calls, or the file whose first line it is. */
  readonly token?: string;
  readonly tokenFile?: string;
  /** Whom the calls are made for, if not the caller. */
  readonly user?: string;
  /** Send the token in plain text beyond loopback. */
  readonly insecure?: boolean;
  readonly retry?: RetryOptions;
  /** Largest request and response, at least 64 KiB. Default 64 MiB. */
  readonly maxMessageBytes?: number;
  readonly keepalive?: KeepaliveOptions;
  /** Calls share a stream (skep.v1.CallService) where the server has that. Default true. */
  readonly shareStream?: boolean;
  readonly clock?: Clock;
}
