import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { DatabaseError } from './errors.js';

/** Where a MySQL or MariaDB server is, and how to come in. */
export interface MysqlAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** How many connections at most; default 16. */
  readonly connections: number;
  readonly ssl:
    | {
        readonly ca?: string;
        readonly rejectUnauthorized: true;
        /** Whether the certificate must be the host's, or only of that authority. */
        readonly verifyIdentity: boolean;
      }
    | undefined;
  /** The address without the password. */
  readonly shown: string;
}

const FORM = 'mysql://USER:PASSWORD@HOST:PORT/DB';
const DEFAULT_CONNECTIONS = 16;
const MAX_CONNECTIONS = 1000;

/** A password must not end up in a message. */
export function withoutPassword(url: string): string {
  return url.replace(/:[^:@/]*@/, ':***@');
}

/**
 * `mysql://USER:PASSWORD@HOST:PORT/DB?connections=N&ssl=true&sslCa=FILE&sslVerify=ca`; `mariadb:` is the same. User and password
 * are percent-encoded where they need to be.
 */
export function parseMysqlUrl(url: string): MysqlAddress {
  const shown = withoutPassword(url);
  const fail = (what: string): DatabaseError => new DatabaseError('DATABASE_URL', shown, what);
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch (cause) {
    throw new DatabaseError('DATABASE_URL', shown, `not of the form ${FORM}`, { cause });
  }
  const database = decodeURIComponent(parsed.pathname.slice(1));
  if (parsed.hostname === '' || database === '' || parsed.username === '') throw fail(`not of the form ${FORM}`);
  if (!/^[\w$-]{1,64}$/.test(database)) throw fail(`'${database}' is no name of a database`);
  const options = new Map(parsed.searchParams);
  const take = (name: string): string | undefined => {
    const value = options.get(name);
    options.delete(name);
    return value;
  };
  const connections = Number(take('connections') ?? DEFAULT_CONNECTIONS);
  if (!Number.isInteger(connections) || connections < 1 || connections > MAX_CONNECTIONS) {
    throw fail(`connections must be a number from 1 to ${MAX_CONNECTIONS}`);
  }
  const ssl = take('ssl') ?? 'false';
  if (!['true', 'false'].includes(ssl)) throw fail('ssl must be true or false');
  const caFile = take('sslCa');
  const verify = take('sslVerify');
  const [unknown] = options.keys();
  if (unknown !== undefined) throw fail(`unknown option ${unknown}; there are connections, ssl, sslCa and sslVerify`);
  const isSsl = ssl === 'true' || caFile !== undefined;
  if (verify !== undefined && !isSsl) throw fail('sslVerify needs ssl=true or sslCa');
  if (!['identity', 'ca', undefined].includes(verify)) throw fail('sslVerify must be identity or ca');
  const host = parsed.hostname.replace(/^\[(.*)\]$/, '$1');
  const verifyIdentity = verify !== 'ca';
  if (isSsl && verifyIdentity && isIP(host) !== 0) {
    throw fail(
      "the server's certificate is looked through for the host's name: give a name instead of an IP address, or sslVerify=ca, which asks only who signed it",
    );
  }
  return {
    host,
    port: parsed.port === '' ? 3306 : Number(parsed.port),
    user: decodeURIComponent(parsed.username),
    password: decodeURIComponent(parsed.password),
    database,
    connections,
    ssl: isSsl ? { rejectUnauthorized: true, verifyIdentity, ...certificate(caFile, fail) } : undefined,
    shown,
  };
}

function certificate(file: string | undefined, fail: (what: string) => DatabaseError): { ca?: string } {
  if (file === undefined) return {};
  try {
    return { ca: readFileSync(file, 'utf8') };
  } catch (cause) {
    throw fail(`the certificate ${file} cannot be read (${String(cause)})`);
  }
}
