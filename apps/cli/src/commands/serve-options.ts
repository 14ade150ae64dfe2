import type { ServeOptions } from '@skep/rpc';
import { type Command, Option } from 'commander';
import { UsageError } from '../error-line.js';

/** How a process serves: of `skep metastore` and `skep data`. */
export interface ServeFlags {
  readonly listen: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsClientCa?: string;
  readonly tokens?: string;
  readonly certificateName?: 'CN' | 'DNS';
  readonly insecure?: boolean;
}

/** The same options on the commands that serve; where they listen is their own. */
export function addServeFlags(command: Command): Command {
  return command
    .option('--tls-cert <file>', 'serve over TLS: the certificate that callers see')
    .option('--tls-key <file>', 'its key')
    .option('--tls-client-ca <file>', 'mutual TLS: callers must show a certificate of these authorities')
    .option('--tokens <file>', 'who may call: USER SHA256-OF-TOKEN a line')
    .addOption(
      new Option('--certificate-name <name>', 'which name of a certificate is the user').choices(['CN', 'DNS']),
    );
}

/** What of it `serve` of @skep/rpc takes; `parameters`: those of the configuration, for proxy users. */
export function serveOptions(flags: ServeFlags, parameters: readonly (readonly [string, string])[]): ServeOptions {
  const { listen, tlsCert, tlsKey, tlsClientCa, tokens, certificateName, insecure } = flags;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new UsageError('--tls-cert and --tls-key belong together');
  }
  if (tlsClientCa !== undefined && tlsCert === undefined) throw new UsageError('--tls-client-ca needs --tls-cert');
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
