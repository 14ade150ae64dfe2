import { isIP } from 'node:net';
import { InvalidRequestError } from './errors.js';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Of HOST:PORT or [IPV6]:PORT. */
export function parseAddress(text: string): Address {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new InvalidRequestError(`'${text}' is no address: write HOST:PORT or [IPV6]:PORT`);
  }
  return { host: match[1] ?? match[2], port };
}

export function formatAddress({ host, port }: Address): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Whether only this machine can be at that host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** The IP address of grpc-js's `IP:PORT`, without the brackets and the mapping of IPv4 into IPv6. */
export function peerIp(peer: string): string {
  const host = peer.slice(0, peer.lastIndexOf(':')).replace(/^\[|\]$/g, '');
  return host.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}
