import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type * as Grpc from '@grpc/grpc-js';
import { formatAddress, isLoopback, parseAddress } from './address.js';
import { InvalidRequestError } from './errors.js';
import type { ConnectOptions, ServeOptions } from './options.js';
import { readOptionFile, readTextFile } from './token-table.js';

/** Refuses to listen where strangers could call, unless they are known and cannot listen in. */
export function assertSafeToListen(options: ServeOptions, address: string): void {
  if (options.insecure || isLoopback(parseAddress(address).host)) return;
  const { tls, identity } = options;
  const missing = [
    ...(tls === undefined ? ['TLS (a certificate and its key)'] : []),
    ...(tls?.clientCaFile === undefined && identity?.tokensFile === undefined
      ? ['a way to know who calls (tokens, or an authority of client certificates)']
      : []),
  ];
  if (missing.length === 0) return;
  throw new InvalidRequestError(
    `${address} can be reached from other machines: it needs ${missing.join(' and ')}, or must be allowed as insecure`,
  );
}

export async function serverCredentials(grpc: typeof Grpc, options: ServeOptions): Promise<Grpc.ServerCredentials> {
  const { tls } = options;
  if (tls === undefined) return grpc.ServerCredentials.createInsecure();
  const [certificate, key, clientCa] = await Promise.all([
    readOptionFile(tls.certFile, 'certificate'),
    readOptionFile(tls.keyFile, 'key'),
    tls.clientCaFile === undefined ? null : readOptionFile(tls.clientCaFile, 'client authorities'),
  ]);
  assertPem(certificate, tls.certFile, 'CERTIFICATE');
  assertPem(key, tls.keyFile, 'PRIVATE KEY');
  if (clientCa !== null) assertPem(clientCa, tls.clientCaFile ?? '', 'CERTIFICATE');
  assertUsable({ cert: certificate, key, ...(clientCa === null ? {} : { ca: clientCa }) }, tls);
  const pair = { cert_chain: certificate, private_key: key };
  return grpc.ServerCredentials.createSsl(clientCa, [pair], clientCa !== null);
}

export async function channelCredentials(grpc: typeof Grpc, options: ConnectOptions): Promise<Grpc.ChannelCredentials> {
  const { tls } = options;
  if (tls === undefined) return grpc.credentials.createInsecure();
  const { caFile, certFile, keyFile } = tls;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new InvalidRequestError('a client certificate needs its key, and a key its certificate');
  }
  const read = (path: string | undefined, what: string) => (path === undefined ? null : readOptionFile(path, what));
  const [ca, certificate, key] = await Promise.all([
    read(caFile, 'authorities'),
    read(certFile, 'certificate'),
    read(keyFile, 'key'),
  ]);
  if (ca !== null) assertPem(ca, caFile ?? '', 'CERTIFICATE');
  if (certificate !== null) assertPem(certificate, certFile ?? '', 'CERTIFICATE');
  if (key !== null) assertPem(key, keyFile ?? '', 'PRIVATE KEY');
  if (certificate !== null && key !== null) assertUsable({ cert: certificate, key }, { certFile, keyFile });
  return grpc.credentials.createSsl(ca, key, certificate);
}

/** The token to send; undefined: none. Refuses to send one where others could read it. */
export async function clientToken(address: string, options: ConnectOptions): Promise<string | undefined> {
  const { tokenFile } = options;
  const token =
    options.token ?? (tokenFile === undefined ? undefined : firstLine(await readTextFile(tokenFile, 'token')));
  if (token === undefined) return undefined;
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new InvalidRequestError(`${tokenFile ?? 'the token'}: a token is one word of visible ASCII characters`);
  }
  const parsed = parseAddress(address);
  if (options.tls === undefined && !options.insecure && !isLoopback(parsed.host)) {
    throw new InvalidRequestError(
      `the token would go to ${formatAddress(parsed)} in plain text: use TLS, or allow it as insecure`,
    );
  }
  return token;
}

/** A key that is not the certificate's, or needs a passphrase: named before anything is served or called. */
function assertUsable(
  pem: SecureContextOptions,
  { certFile, keyFile }: { readonly certFile?: string; readonly keyFile?: string },
): void {
  try {
    createSecureContext(pem);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const what = /mismatch/.test(why) ? 'are no pair' : 'cannot be used';
    throw new InvalidRequestError(`certificate ${certFile} and key ${keyFile} ${what}: ${why}`, { cause });
  }
}

const firstLine = (text: string): string => text.split(/\r?\n/)[0].trim();

function assertPem(bytes: Buffer, path: string, what: string): void {
  if (!new RegExp(`-----BEGIN [A-Z ]*${what}-----`).test(bytes.toString('latin1'))) {
    throw new InvalidRequestError(`${path}: no ${what.toLowerCase()} in PEM form in it`);
  }
}
