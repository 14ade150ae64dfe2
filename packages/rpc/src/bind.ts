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

/** A method of any form as ts-proto describes it: one request or a stream of them, one answer or a stream. */
export interface AnyMethodDefinition extends Omit<MethodDefinition, 'requestStream' | 'responseStream'> {
  readonly requestStream: boolean;
  readonly responseStream: boolean;
}

/** A service that has methods with streams. */
export type AnyServiceDefinition = Readonly<Record<string, AnyMethodDefinition>>;

export type RequestOf<M extends AnyMethodDefinition> = ReturnType<M['requestDeserialize']>;
export type ResponseOf<M extends AnyMethodDefinition> = ReturnType<M['responseDeserialize']>;

/** The promise interface that belongs to a definition: `TransactionService` fits `typeof TransactionServiceService`. */
export type ServiceOf<D extends ServiceDefinition> = {
  [M in keyof D]: (request: ReturnType<D[M]['requestDeserialize']>) => Promise<ReturnType<D[M]['responseDeserialize']>>;
};

/** The same of methods of any form: a stream is an async iterable, and is read and made only as fast as the other side goes. */
export type ImplementationOf<D extends AnyServiceDefinition> = {
  [M in keyof D]: (
    request: D[M]['requestStream'] extends true ? AsyncIterable<RequestOf<D[M]>> : RequestOf<D[M]>,
  ) => D[M]['responseStream'] extends true ? AsyncIterable<ResponseOf<D[M]>> : Promise<ResponseOf<D[M]>>;
};

/** A definition with what implements it. */
export interface ServiceBinding {
  readonly definition: AnyServiceDefinition;
  readonly implementation: object;
  /** Methods that find out themselves who calls. */
  readonly anonymous: readonly string[];
  /** Methods that mostly wait for something to happen: they take places of streams, and are told at once that the server ends. */
  readonly waiting: readonly string[];
  /** For reflection: a google.protobuf.FileDescriptorSet with its imports, of services that are not of proto/skep. */
  readonly descriptors?: (() => Promise<Uint8Array>) | undefined;
}

export function bindService<D extends AnyServiceDefinition>(
  definition: D,
  implementation: ImplementationOf<D>,
  options: {
    readonly anonymous?: readonly (keyof D & string)[];
    readonly waiting?: readonly (keyof D & string)[];
    readonly descriptors?: () => Promise<Uint8Array>;
  } = {},
): ServiceBinding {
  const { anonymous = [], waiting = [], descriptors } = options;
  return { definition, implementation, anonymous, waiting, descriptors };
}

/** `skep.v1.LockService` of a definition's paths `/skep.v1.LockService/Lock`. */
export function serviceName(definition: AnyServiceDefinition): string {
  const [method] = Object.values(definition);
  return method.path.split('/')[1];
}

/** More than any snapshot of 100,000 open transactions needs. */
export const MAX_MESSAGE_BYTES = 64 << 20;
export const KEEPALIVE_MS = { time: 30_000, timeout: 10_000 } as const;
