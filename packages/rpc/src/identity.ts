import type * as Grpc from '@grpc/grpc-js';
import { peerIp } from './address.js';
import { AccessDeniedError, UnauthenticatedError } from './errors.js';
import { USER } from './metadata-keys.js';
import type { ServeOptions } from './options.js';
import { proxyCheck } from './proxy-users.js';
import { readTokenTable, type TokenTable } from './token-table.js';

/** Who calls, and for whom. */
export interface Caller {
  /** Absent where the server trusts what it is told. */
  readonly caller: string | undefined;
  readonly user: string;
}

/** Of a call with a stream of requests there is no request yet. */
type ServerCall = Pick<Grpc.ServerUnaryCall<unknown, unknown>, 'metadata' | 'getPeer' | 'getAuthContext'> & {
  readonly request?: unknown;
};

/** Establishes who a call is from and for, or throws UnauthenticatedError or AccessDeniedError. */
export type Identify = (call: ServerCall) => Promise<Caller>;

/**
 * Fields of requests that name a user: `user` (OpenTxnsRequest, LockRequest) must be the one the call is made for, and is
 * filled in where the request leaves it empty; as `run_as` (CompactRequest) the work is done later, so the caller must be allowed to act for it.
 */
interface NamesUser {
  user?: unknown;
  readonly runAs?: unknown;
}

const nameIn = (value: unknown): string => (typeof value === 'string' ? value : '');

export async function identification(options: ServeOptions): Promise<Identify> {
  const { tokensFile, certificateName = 'CN', proxyUsers = {} } = options.identity ?? {};
  const tokens = tokensFile === undefined ? undefined : await readTokenTable(tokensFile);
  const hasCertificates = options.tls?.clientCaFile !== undefined;
  const mayActFor = proxyCheck(proxyUsers);
  return async (call) => {
    const request = (call.request ?? {}) as NamesUser;
    const named = nameIn(request.user);
    const [wanted] = call.metadata.get(USER).map(String);
    if (tokens === undefined && !hasCertificates) {
      const user = wanted ?? named;
      mustBe(user, named, 'nobody in particular');
      if (named === '' && 'user' in request) request.user = user;
      return { caller: undefined, user };
    }
    const caller = callerOf(call, tokens, hasCertificates ? certificateName : undefined);
    const user = wanted ?? (named || caller);
    const ip = peerIp(call.getPeer());
    if (user !== caller) await mayActFor(caller, user, ip);
    mustBe(user, named, caller);
    if (named === '' && 'user' in request) request.user = user;
    const runAs = nameIn(request.runAs);
    if (runAs !== '' && runAs !== user && runAs !== caller) await mayActFor(caller, runAs, ip);
    return { caller, user };
  };
}

function mustBe(user: string, named: string, caller: string): void {
  if (named !== '' && named !== user) {
    throw new AccessDeniedError(caller, named, `the call is made for user '${user}', its request names '${named}'`);
  }
}

/** A token says who calls, where there is one; else the client's certificate. */
function callerOf(call: ServerCall, tokens: TokenTable | undefined, certificateName: 'CN' | 'DNS' | undefined): string {
  const header = call.metadata.get('authorization').map(String)[0] ?? flightToken(call);
  if (tokens !== undefined && (header !== undefined || certificateName === undefined)) {
    const token = /^Bearer\s+(\S+)$/i.exec(header ?? '')?.[1];
    if (token === undefined) throw new UnauthenticatedError('a token is needed: authorization: Bearer TOKEN');
    const user = tokens(token);
    if (user === undefined) throw new UnauthenticatedError('the token is not known here');
    return user;
  }
  const certificate = call.getAuthContext().sslPeerCertificate;
  const names =
    certificateName === 'DNS'
      ? dnsNames(certificate?.subjectaltname ?? '')
      : [certificate?.subject?.CN ?? []].flat().filter((name) => name !== '');
  if (names.length !== 1) {
    throw new UnauthenticatedError(
      `the client's certificate must have one ${certificateName === 'DNS' ? 'DNS alternative name' : 'CN'}, it has ${names.length}`,
    );
  }
  return names[0];
}

/** Where Arrow Flight's clients put the token of a handshake. */
function flightToken(call: ServerCall): string | undefined {
  const [token] = call.metadata.get('auth-token-bin').map(String);
  return token === undefined ? undefined : `Bearer ${token}`;
}

/** Of Node's text `DNS:a, URI:b`. An entry with quotes is escaped text, which no plain name needs. */
function dnsNames(text: string): string[] {
  if (text.includes('"')) return [];
  return text
    .split(', ')
    .filter((entry) => entry.startsWith('DNS:'))
    .map((entry) => entry.slice(4));
}
