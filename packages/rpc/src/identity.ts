import type * as Grpc from '@grpc/grpc-js';
import { peerIp } from './address.js';
import type { Arrival } from './arrival.js';
import { AccessDeniedError, UnauthenticatedError } from './errors.js';
import type { ServeOptions } from './options.js';
import { proxyCheck } from './proxy-users.js';
import { readTokenTable, type TokenTable } from './token-table.js';

/** Who calls, and for whom. */
export interface Caller {
  /** Absent where the server trusts what it is told. */
  readonly caller: string | undefined;
  readonly user: string;
}

/** What shows who is at the other end of a stream. */
type Shown = Pick<Grpc.ServerUnaryCall<unknown, unknown>, 'metadata' | 'getAuthContext'>;

/** What a call says of itself. Of one with a stream of requests there is no request yet. */
type Said = Pick<Arrival, 'request' | 'wantedUser' | 'peer' | 'caller'>;

/** Establishes who a call is from and for. */
export interface Identity {
  /**
   * Who proved to be the caller; undefined where the server trusts what it is told. Throws UnauthenticatedError. Tokens and
   * authorities are read once, at the start: what a stream has shown stays true as long as it lasts.
   */
  callerOf(call: Shown): string | undefined;
  /** Throws UnauthenticatedError or AccessDeniedError. */
  identify(call: Said): Caller | Promise<Caller>;
}

/**
 * Fields of requests that name a user: `user` (OpenTxnsRequest, LockRequest) must be the one the call is made for, and is
 * filled in where the request leaves it empty; as `run_as` (CompactRequest) the work is done later, so the caller must be allowed to act for it.
 */
interface NamesUser {
  user?: unknown;
  readonly runAs?: unknown;
}

const nameIn = (value: unknown): string => (typeof value === 'string' ? value : '');

export async function identification(options: ServeOptions): Promise<Identity> {
  const { tokensFile, certificateName = 'CN', proxyUsers = {} } = options.identity ?? {};
  const tokens = tokensFile === undefined ? undefined : await readTokenTable(tokensFile);
  const hasCertificates = options.tls?.clientCaFile !== undefined;
  const mayActFor = proxyCheck(proxyUsers);
  const isTrusting = tokens === undefined && !hasCertificates;
  const actingFor = async (caller: string, call: Said, user: string, runAs: string): Promise<Caller> => {
    const ip = peerIp(call.peer);
    if (user !== caller) await mayActFor(caller, user, ip);
    const who = { caller, user: settled(call, user, caller) };
    if (runAs !== '' && runAs !== user && runAs !== caller) await mayActFor(caller, runAs, ip);
    return who;
  };
  return {
    callerOf: (call) =>
      isTrusting ? undefined : callerOf(call, tokens, hasCertificates ? certificateName : undefined),
    identify(call) {
      const request = (call.request ?? {}) as NamesUser;
      const named = nameIn(request.user);
      const caller = call.caller();
      const user = call.wantedUser ?? (named || (caller ?? ''));
      if (caller === undefined) return { caller, user: settled(call, user, 'nobody in particular') };
      const runAs = nameIn(request.runAs);
      if (user !== caller || runAs !== '') return actingFor(caller, call, user, runAs);
      return { caller, user: settled(call, user, caller) };
    },
  };
}

/** The user, which the request must not contradict, and has from here on. */
function settled(call: Said, user: string, caller: string): string {
  const request = (call.request ?? {}) as NamesUser;
  const named = nameIn(request.user);
  if (named !== '' && named !== user) {
    throw new AccessDeniedError(caller, named, `the call is made for user '${user}', its request names '${named}'`);
  }
  if (named === '' && 'user' in request) request.user = user;
  return user;
}

/** A token says who calls, where there is one; else the client's certificate. */
function callerOf(call: Shown, tokens: TokenTable | undefined, certificateName: 'CN' | 'DNS' | undefined): string {
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
function flightToken(call: Shown): string | undefined {
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
