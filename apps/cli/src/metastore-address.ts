import type { Configuration } from '@skep/config';
import { SkepError } from '@skep/core';
import { parseMetastore, type ServiceAddresses } from '@skep/metastore';
import type { Environment } from './configuration.js';

export interface MetastoreAddress {
  /** As it was given. */
  readonly text: string;
  readonly addresses: Required<ServiceAddresses>;
}

/**
 * Which metastore: --metastore, SKEP_METASTORE, or `skep://HOST:PORT` addresses in hive.metastore.uris (others there are a
 * Hive's). undefined: none, there is a home.
 */
export function metastoreAddresses(
  flag: string | undefined,
  env: Environment,
  conf: Configuration,
): MetastoreAddress | undefined {
  const uris = conf.get('hive.metastore.uris')?.trim() ?? '';
  const given = [
    ['--metastore', flag],
    ['SKEP_METASTORE', env.SKEP_METASTORE || undefined],
    ['hive.metastore.uris', uris.startsWith('skep://') ? uris : undefined],
  ] as const;
  for (const [where, text] of given) if (text !== undefined) return { text, addresses: parseMetastore(text, where) };
  return undefined;
}

/** Nobody answers there. */
class MetastoreUnreachableError extends SkepError {
  constructor(metastore: string, cause: SkepError) {
    super(
      'METASTORE_UNREACHABLE',
      'unavailable',
      `the metastore at ${metastore} cannot be reached (${cause.message}): is \`skep metastore\` running there?`,
      { cause },
    );
  }
}

/** One of the two does not trust the other's certificate. */
class MetastoreTlsError extends SkepError {
  constructor(metastore: string, cause: SkepError) {
    const flags = '--tls-ca says whom to trust, --tls-server-name which name to expect, --client-cert what to show';
    super('METASTORE_TLS', 'invalid', `no TLS with the metastore at ${metastore}: ${cause.message}: ${flags}`, {
      cause,
    });
  }
}

/** Runs what calls the metastore for the first time. */
export async function reaching<T>(metastore: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof SkepError && (error.code === 'UNREACHABLE' || error.code === 'DEADLINE')) {
      throw new MetastoreUnreachableError(metastore, error);
    }
    if (error instanceof SkepError && error.code === 'TLS') throw new MetastoreTlsError(metastore, error);
    throw error;
  }
}
