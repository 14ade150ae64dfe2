import { assertSafeToListen, type ServeOptions } from '@skep/rpc';
import { UsageError } from '../error-line.js';
import type { ServeFlags } from './serve-flags.js';

/** Refuses what `serve` would refuse, before a database is opened or anything begins. */
export function checkServeFlags(flags: ServeFlags): void {
  assertSafeToListen(serveOptions(flags, []), flags.listen);
}

/** What of it `serve` of @skep/rpc takes; `parameters`: those of the configuration, for proxy users. */
export function serveOptions(flags: ServeFlags, parameters: readonly (readonly [string, string])[]): ServeOptions {
  const { listen, tlsCert, tlsKey, tlsClientCa, tokens, certificateName, insecure } = flags;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new UsageError('--tls-cert and --tls-key belong together');
  }
  if (tlsClientCa !== undefined && tlsCert === undefined) throw new UsageError('--tls-client-ca needs --tls-cert');
  if (certificateName !== undefined && tlsClientCa === undefined) {
    throw new UsageError('--certificate-name is of the certificates that --tls-client-ca asks for');
  }
  const proxyUsers = Object.fromEntries(parameters.filter(([name]) => /^hadoop\.(proxyuser|user\.group)\./.test(name)));
  return {
    address: listen,
    ...(tlsCert === undefined || tlsKey === undefined
      ? {}
      : {
          tls: {
            certFile: tlsCert,
            keyFile: tlsKey,
            ...(tlsClientCa === undefined ? {} : { clientCaFile: tlsClientCa }),
          },
        }),
    identity: {
      ...(tokens === undefined ? {} : { tokensFile: tokens }),
      ...(certificateName === undefined ? {} : { certificateName }),
      proxyUsers,
    },
    insecure: insecure === true,
  };
}
