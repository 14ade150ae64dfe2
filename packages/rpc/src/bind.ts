/** A method as ts-proto describes it (`TransactionServiceService.openTxns`). */
export interface MethodDefinition {
  readonly path: string;
  readonly requestStream: false;
  readonly responseStream: false;
  readonly requestSerialize: (value: never) => Buffer;
  readonly requestDeserialize: (value: Buffer) => unknown;
  readonly responseSerialize: (value: never) => Buffer;
  readonly responseDeserialize: (value: Buffer) => unknown;
}

/** A service of unary methods as ts-proto describes it. */
export type ServiceDefinition = Readonly<Record<string, MethodDefinition>>;

/** The promise interface that belongs to a definition: `TransactionService` fits `typeof TransactionServiceService`. */
export type ServiceOf<D extends ServiceDefinition> = {
  [M in keyof D]: (request: ReturnType<D[M]['requestDeserialize']>) => Promise<ReturnType<D[M]['responseDeserialize']>>;
};

/** A definition with what implements it. */
export interface ServiceBinding {
  readonly definition: ServiceDefinition;
  readonly implementation: object;
}

export function bindService<D extends ServiceDefinition>(definition: D, implementation: ServiceOf<D>): ServiceBinding {
  return { definition, implementation };
}

/** `skep.v1.LockService` of a definition's paths `/skep.v1.LockService/Lock`. */
export function serviceName(definition: ServiceDefinition): string {
  const [method] = Object.values(definition);
  return method.path.split('/')[1];
}

/** More than any snapshot of 100,000 open transactions needs. */
export const MAX_MESSAGE_BYTES = 64 << 20;
export const KEEPALIVE_MS = { time: 30_000, timeout: 10_000 } as const;
