import { afterEach } from 'vitest';
import {
  bindService,
  type ClientOf,
  type ConnectOptions,
  connect,
  type LockService,
  LockServiceService,
  type ServeOptions,
  type Server,
  serve,
  type TransactionService,
  TransactionServiceService,
} from '../src/index.js';

export { ANSWER } from './serving-answer.js';

type LockClient = ClientOf<typeof LockServiceService>;
type TxnClient = ClientOf<typeof TransactionServiceService>;

export interface Serving {
  readonly server: Server;
  /** A client of the lock service. */
  locks(options?: ConnectOptions): LockClient;
  txns(options?: ConnectOptions): TxnClient;
}

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

export function closeAfterTest(close: () => Promise<void> | void): void {
  closing.push(close);
}

/** Two services of which only the given methods do something; others answer with nothing. */
export async function serving(
  methods: Partial<LockService & TransactionService>,
  options: ServeOptions = {},
): Promise<Serving> {
  const whole = <S>(definition: object) =>
    ({
      ...Object.fromEntries(Object.keys(definition).map((name) => [name, async () => ({})])),
      ...methods,
    }) as S;
  const server = await serve(
    [
      bindService(LockServiceService, whole<LockService>(LockServiceService)),
      bindService(TransactionServiceService, whole<TransactionService>(TransactionServiceService)),
    ],
    options,
  );
  closing.push(() => server.close(50));
  return {
    server,
    locks(clientOptions) {
      const { service, close } = connect(LockServiceService, server.address, clientOptions);
      closing.unshift(close);
      return service;
    },
    txns(clientOptions) {
      const { service, close } = connect(TransactionServiceService, server.address, clientOptions);
      closing.unshift(close);
      return service;
    },
  };
}
