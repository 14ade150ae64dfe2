import { type TokenTable, UnauthenticatedError } from '@skep/rpc';
import { BasicAuth, type HandshakeRequest } from '../gen/flight.js';

/**
 * The token to send from then on as `authorization: Bearer TOKEN` (or `auth-token-bin`): a user proves who it is by its token
 * of the tokens file, as password of basic authentication (in the header, or as BasicAuth in the first message), or as bearer.
 * Without a tokens file nobody is asked.
 */
export async function handshakeToken(
  header: string | undefined,
  requests: AsyncIterable<HandshakeRequest>,
  tokens: TokenTable | undefined,
): Promise<string> {
  const { user, token } = ofHeader(header) ?? (await ofFirst(requests));
  if (tokens === undefined) return token;
  const known = tokens(token);
  if (known === undefined || (user !== undefined && user !== known)) {
    throw new UnauthenticatedError('user and token do not belong together, or are not known here');
  }
  return token;
}

interface Proof {
  /** Absent: the token alone says it. */
  readonly user: string | undefined;
  readonly token: string;
}

function ofHeader(header: string | undefined): Proof | undefined {
  const match = /^(Basic|Bearer)\s+(\S+)$/i.exec(header ?? '');
  if (match === null) return undefined;
  if (match[1].toLowerCase() === 'bearer') return { user: undefined, token: match[2] };
  const text = Buffer.from(match[2], 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) throw new UnauthenticatedError('authorization: Basic wants USER:TOKEN in base64');
  return { user: text.slice(0, colon), token: text.slice(colon + 1) };
}

async function ofFirst(requests: AsyncIterable<HandshakeRequest>): Promise<Proof> {
  for await (const { payload } of requests) {
    if (payload.length === 0) continue;
    const { username, password } = decodeBasic(payload);
    return { user: username, token: password };
  }
  throw new UnauthenticatedError(
    'a handshake proves who calls: authorization: Basic (user and token), or Bearer, or a BasicAuth message',
  );
}

function decodeBasic(payload: Buffer): BasicAuth {
  try {
    return BasicAuth.decode(payload);
  } catch (cause) {
    throw new UnauthenticatedError(`the handshake's payload is no BasicAuth message: ${String(cause)}`);
  }
}
