import type { Command } from 'commander';
import type { Environment } from '../configuration.js';
import { UsageError } from '../error-line.js';

/**
 * How a metastore is found and reached: of every command that calls one, also of those that serve (`ServeFlags`, whose
 * --tls-cert is what their own callers see).
 */
export interface ClientFlags {
  readonly metastore?: string;
  readonly tls?: boolean;
  readonly tlsCa?: string;
  readonly tlsServerName?: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
  readonly tokenFile?: string;
  readonly user?: string;
  readonly insecure?: boolean;
}

/** The same options on the program and on the commands that take them, so that each one's help lists them. */
export function addClientFlags(command: Command): Command {
  return command
    .option('--tls', 'reach the metastore over TLS, trusting the authorities that Node trusts')
    .option('--tls-ca <file>', 'over TLS, trusting the authorities in this PEM file')
    .option('--tls-server-name <name>', 'the name to find in the metastore’s certificate')
    .option('--client-cert <file>', 'the certificate to show to the metastore, for mutual TLS')
    .option('--client-key <file>', 'its key')
    .option('--token-file <file>', 'its first line is the token that says who calls (or SKEP_TOKEN)')
    .option('--user <name>', 'who runs the statements (or SKEP_USER); default: the system’s user')
    .option('--insecure', 'send a token in plain text, or serve without TLS or identity, beyond this machine');
}

/** What of it `connect` of @skep/rpc takes. Who was named is named in every call: the server must allow it. */
export function connectOptions(flags: ClientFlags, env: Environment) {
  const user = flags.user ?? env.SKEP_USER;
  return { ...peerOptions(flags, env), ...(user === undefined || user === '' ? {} : { user }) };
}

/** The same of a service that calls others for its callers: each call says by itself whom it is for. */
export function peerOptions(flags: ClientFlags, env: Environment) {
  const { tls, tlsCa, tlsServerName, clientCert, clientKey, tokenFile, insecure } = flags;
  if ((clientCert === undefined) !== (clientKey === undefined)) {
    throw new UsageError('--client-cert and --client-key belong together');
  }
  const isTls = tls === true || [tlsCa, tlsServerName, clientCert].some((flag) => flag !== undefined);
  return {
    ...(isTls
      ? {
          tls: {
            ...(tlsCa === undefined ? {} : { caFile: tlsCa }),
            ...(clientCert === undefined ? {} : { certFile: clientCert }),
            ...(clientKey === undefined ? {} : { keyFile: clientKey }),
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

/** gRPC writes what it thinks to standard error by itself, and Node what it thinks of gRPC. Before it is loaded. */
export function quietGrpc(): void {
  process.env.GRPC_VERBOSITY ??= 'NONE';
  process.noDeprecation = true;
}
