import { SERVICE_DEFINITIONS, type ServiceName } from '@skep/metastore';
import { connect } from '@skep/rpc';
import { type CliIo, write } from '../io.js';
import { type ClientFlags, connectOptions, quietGrpc } from './client-flags.js';

export interface HealthFlags extends ClientFlags {
  readonly service?: ServiceName;
}

const QUICK = { deadlineMs: 5000, retry: { maxAttempts: 1 } } as const;

/** `skep health HOST:PORT`: whether a metastore there, or one of its services, says that it serves (grpc.health.v1). */
export async function checkHealth(io: CliIo, address: string, { service, ...flags }: HealthFlags): Promise<void> {
  quietGrpc();
  const options = { ...QUICK, ...connectOptions(flags, io.env) };
  const connection = connect(SERVICE_DEFINITIONS[service ?? 'catalog'], address, options);
  try {
    await connection.check({ whole: service === undefined });
  } finally {
    connection.close();
  }
  await write(io.stdout, `${address} serves${service === undefined ? '' : ` ${service}`}\n`);
}
