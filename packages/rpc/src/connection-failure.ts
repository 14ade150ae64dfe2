import type { SkepError } from '@skep/core';
import { TlsError, UnreachableError } from './errors.js';
import type { ClientTls } from './options.js';

/** How grpc-js begins what it says where none came about. */
export const NO_CONNECTION = 'No connection established';

/** What OpenSSL says of a certificate that this side does not take. */
const REFUSED_HERE = /certificate|altnames|unable to (get|verify)|self[- ]signed/i;
/** What the other side says of the certificate shown to it, or of none. */
const REFUSED_THERE =
  /alert (?:number \d+|(?:unsupported |bad )?certificate|unknown ca|access denied|handshake failure)/i;
const CLOSED = /^Failed to connect$|ECONNRESET|EPIPE|socket hang up/;
const NOT_TLS = /wrong version number|packet length too long|record layer failure/i;

/** Why no connection came about: grpc-js's text as one reason, and as an error that says whose certificate it is about. */
export function connectionFailure(address: string, message: string, tls: ClientTls | undefined): SkepError {
  const reason = reasonOf(message);
  if (tls !== undefined) {
    if (NOT_TLS.test(reason)) return new TlsError(address, `${address} does not speak TLS (${reason})`);
    if (REFUSED_THERE.test(reason)) {
      const what =
        tls.certFile === undefined ? 'asks for a certificate of its clients' : 'refuses the certificate shown';
      return new TlsError(address, `${address} ${what} (${reason})`);
    }
    if (REFUSED_HERE.test(reason)) {
      return new TlsError(address, `the certificate of ${address} is refused here: ${reason}`);
    }
  }
  return new UnreachableError(address, `${address}: ${CLOSED.test(reason) ? closed(tls) : reason}`);
}

/** The other side ended it without a word, as Node does with certificates that it does not take. */
function closed(tls: ClientTls | undefined): string {
  if (tls === undefined) return 'it closed the connection (it may want TLS)';
  const doubt = tls.certFile === undefined ? 'want a certificate' : 'not take the certificate shown to it';
  return `it closed the connection (it may ${doubt}, or not speak TLS)`;
}

function reasonOf(message: string): string {
  const [, last = message] = /Last error: (.*?)\.?\s*(?:Resolution note:.*)?$/s.exec(message) ?? [];
  const text = last
    .replace(/\s*\(\d{4}-\d\d-\d\dT[\d:.]+Z\)/, '')
    .replace(/^Error(?: \[\w+\])?: /, '')
    .trim();
  // 80DC…:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:FILE:LINE:SSL alert number 116
  const [, routine] = /error:\w+:SSL routines:[^:]*:([^:]+)/.exec(text) ?? [];
  return routine ?? text;
}
