import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export interface Pair {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Whether this machine can make certificates for tests. */
export function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A self-signed authority in `dir`. */
export function makeAuthority(dir: string, name: string): Pair {
  const pair = pairOf(dir, name);
  openssl(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    '-subj',
  )(`/CN=${name}`, '-keyout', pair.keyFile, '-out', pair.certFile);
  return pair;
}

/** A certificate of that authority with a common name and alternative names (`DNS:localhost,IP:127.0.0.1`). */
export function makeCertificate(dir: string, authority: Pair, commonName: string, altNames = 'DNS:unused'): Pair {
  const pair = pairOf(dir, `${commonName}-${altNames}`.replace(/[^\w-]/g, '_'));
  openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj')(
    `/CN=${commonName}`,
    '-addext',
    `subjectAltName=${altNames}`,
    '-addext',
    'basicConstraints=critical,CA:FALSE',
    '-CA',
    authority.certFile,
    '-CAkey',
    authority.keyFile,
    '-keyout',
    pair.keyFile,
    '-out',
    pair.certFile,
  );
  return pair;
}

/** The same, of yesterday. */
export function makeExpiredCertificate(dir: string, authority: Pair, commonName: string, altNames: string): Pair {
  const { keyFile, certFile: valid } = makeCertificate(dir, authority, commonName, altNames);
  const certFile = join(dir, `${commonName}-expired.pem`);
  const request = join(dir, `${commonName}.csr`);
  openssl('x509', '-x509toreq', '-copy_extensions', 'copy')('-in', valid, '-signkey', keyFile, '-out', request);
  const signed = ['-CA', authority.certFile, '-CAkey', authority.keyFile, '-CAcreateserial'];
  openssl('x509', '-req', '-copy_extensions', 'copy', '-days', '-1')(...signed, '-in', request, '-out', certFile);
  return { certFile, keyFile };
}

const pairOf = (dir: string, name: string): Pair => ({
  certFile: join(dir, `${name}.pem`),
  keyFile: join(dir, `${name}.key`),
});

const openssl =
  (...first: string[]) =>
  (...more: string[]) =>
    execFileSync('openssl', [...first, ...more], { stdio: 'pipe' });
