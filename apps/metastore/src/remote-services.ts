import {
  CatalogServiceService,
  CompactionServiceService,
  type Connection,
  type ConnectOptions,
  connect,
  LockServiceService,
  TransactionServiceService,
} from '@skep/rpc';
import type { ServiceAddresses } from './service-names.js';
import type { MetastoreServices } from './services.js';

/** Waits for a metastore that is being started again: about ten seconds in all. */
const RETRY = { maxAttempts: 9, initialDelayMs: 100, maxDelayMs: 2000 } as const;

export interface RemoteServices extends MetastoreServices {
  close(): void;
}

/** Clients of the services at their addresses. Nothing is connected before the first call. */
export function connectServices(addresses: Required<ServiceAddresses>, options: ConnectOptions = {}): RemoteServices {
  const connections = connectSome(addresses, options);
  const { catalog, transactions, locks, compaction } = connections;
  if (catalog === undefined || transactions === undefined || locks === undefined || compaction === undefined) {
    throw new TypeError('an address of each service is needed');
  }
  return {
    catalog: catalog.service,
    txns: transactions.service,
    locks: locks.service,
    compactions: compaction.service,
    close: () => closeAll(connections),
  };
}

/** A client of each service that has an address. */
export function connectSome(addresses: ServiceAddresses, given: ConnectOptions = {}) {
  const options = { retry: RETRY, ...given };
  const { catalog, transactions, locks, compaction } = addresses;
  return {
    catalog: catalog && connect(CatalogServiceService, catalog, options),
    transactions: transactions && connect(TransactionServiceService, transactions, options),
    locks: locks && connect(LockServiceService, locks, options),
    compaction: compaction && connect(CompactionServiceService, compaction, options),
  };
}

export function closeAll(connections: Readonly<Record<string, Connection<unknown> | undefined>>): void {
  for (const connection of Object.values(connections)) connection?.close();
}
