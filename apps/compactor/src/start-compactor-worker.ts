import { hostname } from 'node:os';
import { keepSmallFiles } from '@skep/acid';
import { CompactorMeter, startCompactor } from '@skep/compactor';
import type { Configuration } from '@skep/config';
import { type Clock, SkepError, systemClock } from '@skep/core';
import { compactorConf, connectServices, type ServiceAddresses, takeServerParameters } from '@skep/metastore';
import type { ConnectOptions } from '@skep/rpc';
import { type FileSystem, localFileSystem } from '@skep/storage';
import type { FigureSource, Logger } from '@skep/telemetry';
import { currentAgentInfo } from '@skep/txn-manager';

export interface CompactorWorkerOptions {
  /** Where the metastore's services are. */
  readonly addresses: Required<ServiceAddresses>;
  /** How they are reached: TLS, identity. */
  readonly connect?: ConnectOptions;
  readonly conf: Configuration;
  /** Compactions at once. */
  readonly threads: number;
  /** Whose requests are carried out; empty: those of no pool, and what waited too long for its own. */
  readonly pool: string;
  readonly user: string;
  readonly version: string;
  readonly clock?: Clock;
  readonly fs?: FileSystem;
  /** What is done, with ids, and what goes wrong. */
  readonly log: Logger;
}

export interface CompactorWorker {
  /** What its Workers do, timed and counted. */
  readonly figures: readonly FigureSource[];
  /** Gives up what runs: those requests wait again. */
  stop(): Promise<void>;
}

/**
 * Workers of a metastore that is elsewhere. Thresholds and time-outs are the metastore's; the files must be reachable
 * under the same names.
 */
export async function startCompactorWorker(options: CompactorWorkerOptions): Promise<CompactorWorker> {
  const { conf, threads, pool, user, version, log } = options;
  const services = connectServices(options.addresses, options.connect);
  try {
    const info = await services.catalog.getServerInfo({});
    for (const note of takeServerParameters(conf, info.parameters)) log.warn({}, note);
  } catch (error) {
    services.close();
    throw error;
  }
  const { catalog, txns, locks, compactions } = services;
  const fs = options.fs ?? localFileSystem();
  keepSmallFiles(fs);
  const clock = options.clock ?? systemClock;
  const meter = new CompactorMeter(clock);
  const compactor = startCompactor(
    {
      catalog,
      txns,
      locks,
      compactions,
      fs,
      clock,
      conf: compactorConf(conf),
      user,
      host: hostname(),
      agentInfo: currentAgentInfo(),
      version,
      log,
      meter,
    },
    {
      background: true,
      workers: pool === '' ? threads : 0,
      pools: pool === '' ? {} : { [pool]: threads },
      initiator: false,
      cleaner: false,
    },
  );
  return {
    figures: [meter],
    async stop() {
      try {
        await compactor.stop();
      } catch (error) {
        // The metastore is gone too: it takes the requests back when it finds this process ended.
        if (!(error instanceof SkepError && error.kind === 'unavailable')) throw error;
        log.warn({ error }, `compactor: ${error.message}`);
      } finally {
        services.close();
      }
    },
  };
}
