import { systemClock } from '@skep/core';
import {
  bindService,
  CatalogServiceService,
  CompactionServiceService,
  LockServiceService,
  type ServeOptions,
  type Server,
  type ServiceBinding,
  serve,
  TransactionServiceService,
} from '@skep/rpc';
import { startAlarms } from './alarms.js';
import type { BackgroundOptions } from './background.js';
import { keepHouse } from './housekeeping.js';
import { type OpenedServices, type OpenServicesOptions, openServices } from './open-services.js';
import type { ServiceName } from './service-names.js';

export interface ServeMetastoreOptions extends OpenServicesOptions {
  readonly serve: ServeOptions;
  /** Initiator, Cleaner, housekeepers and Workers run where the compaction service does. */
  readonly background: BackgroundOptions;
}

export interface RunningMetastore {
  /** HOST:PORT it listens on. */
  readonly address: string;
  readonly services: OpenedServices;
  /** New calls are refused, running ones may end; then the background stops and the database is closed. */
  close(): Promise<void>;
}

/** Serves the services that live here over gRPC. */
export async function serveMetastore(options: ServeMetastoreOptions): Promise<RunningMetastore> {
  const services = await openServices(options);
  let server: Server;
  try {
    server = await serve(
      services.hosted.map((name) => bindingOf(name, services)),
      {
        clock: options.clock ?? systemClock,
        ...options.serve,
      },
    );
  } catch (error) {
    await services.close();
    throw error;
  }
  const hasBackground = services.hosted.includes('compaction');
  const background = hasBackground ? services.startBackground(options.background) : undefined;
  const { conf, log, clock = systemClock } = options;
  const stopAlarms = hasBackground ? undefined : startAlarms({ figures: services.figures, conf, clock, log });
  // What earlier processes left is cleared up at once. The others may not be there yet: then the housekeepers do it.
  const cleared = hasBackground
    ? keepHouse(services.compactorServices).catch((error: unknown) =>
        options.log.warn({ error }, `housekeeping: ${String(error)}`),
      )
    : Promise.resolve();
  return {
    address: server.address,
    services,
    async close() {
      await server.close();
      await Promise.all([background?.stop(), stopAlarms?.(), cleared]);
      await services.close();
    },
  };
}

function bindingOf(name: ServiceName, services: OpenedServices): ServiceBinding {
  switch (name) {
    case 'catalog':
      return bindService(CatalogServiceService, services.catalog);
    case 'transactions':
      return bindService(TransactionServiceService, services.txns);
    case 'locks':
      return bindService(LockServiceService, services.locks);
    case 'compaction':
      return bindService(CompactionServiceService, services.compactions, { waiting: ['waitForCompact'] });
  }
}
