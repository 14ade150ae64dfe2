import { type Command, Option } from 'commander';

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
