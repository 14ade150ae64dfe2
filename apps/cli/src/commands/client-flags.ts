import type { Command } from 'commander';
import type { Environment } from '../configuration.js';

/** How a metastore is found and reached: of the shell, `skep compactor` and `skep health`. */
export interface ClientFlags {
  readonly metastore?: string;
  readonly tls?: boolean;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsServerName?: string;
  readonly tokenFile?: string;
  readonly user?: string;
  readonly insecure?: boolean;
}

/** The same options on the program and on the commands that take them, so that each one's help lists them. */
export function addClientFlags(command: Command): Command {
  return command
    .option('--tls', 'reach the metastore over TLS, trusting the authorities that Node trusts')
    .option('--tls-ca <file>', 'over TLS, trusting the authorities in this PEM file')
    .option('--tls-cert <file>', 'the certificate to show, for mutual TLS')
    .option('--tls-key <file>', 'its key')
    .option('--tls-server-name <name>', 'the name to find in the metastore’s certificate')
    .option('--token-file <file>', 'its first line is the token that says who calls (or SKEP_TOKEN)')
    .option('--user <name>', 'who runs the statements (or SKEP_USER); default: the system’s user')
    .option('--insecure', 'send a token in plain text beyond this machine');
}

/** What of it `connect` of @skep/rpc takes. */
export function connectOptions(flags: ClientFlags, env: Environment) {
  const { tls, tlsCa, tlsCert, tlsKey, tlsServerName, tokenFile, insecure } = flags;
  const isTls = tls === true || [tlsCa, tlsCert, tlsKey, tlsServerName].some((flag) => flag !== undefined);
  return {
    ...(isTls
      ? {
          tls: {
            ...(tlsCa === undefined ? {} : { caFile: tlsCa }),
            ...(tlsCert === undefined ? {} : { certFile: tlsCert }),
            ...(tlsKey === undefined ? {} : { keyFile: tlsKey }),
            ...(tlsServerName === undefined ? {} : { serverName: tlsServerName }),
          },
        }
      : {}),
    ...(tokenFile !== undefined ? { tokenFile } : env.SKEP_TOKEN ? { token: env.SKEP_TOKEN } : {}),
    ...(insecure === true ? { insecure } : {}),
  };
}

/** The environment with --user in it. */
export function withUser(env: Environment, user: string | undefined): Environment {
  return user === undefined ? env : { ...env, SKEP_USER: user };
}

/** gRPC writes what it thinks to standard error by itself. Before it is loaded. */
export function quietGrpc(): void {
  process.env.GRPC_VERBOSITY ??= 'NONE';
}
