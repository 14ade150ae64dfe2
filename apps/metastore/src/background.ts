import { type Compactor, type CompactorServices, startCompactor } from '@skep/compactor';
import type { Configuration } from '@skep/config';
import type { Database } from '@skep/metadb';
import type { FigureSource } from '@skep/telemetry';
import { startAlarms } from './alarms.js';
import { startHousekeeping } from './housekeeping.js';
import { Lease } from './lease.js';
import { isLeader, workerPools } from './service-conf.js';

export interface BackgroundOptions {
  /** False: nothing runs by itself, what the returned compactor is told to do aside. */
  readonly loops: boolean;
  /** Workers of the default pool. */
  readonly workers: number;
  /** Workers of the pools that the configuration names, too. */
  readonly pools?: boolean;
}

export interface Background {
  readonly compactor: Compactor;
  /** Gives up what runs, and the leases. */
  stop(): Promise<void>;
}

export interface BackgroundContext extends BackgroundOptions {
  readonly services: CompactorServices;
  readonly db: Database;
  readonly conf: Configuration;
  readonly isAlive: (agentInfo: string) => boolean;
  /** Looked at now and then, and told of when they are beyond their levels. */
  readonly figures: readonly FigureSource[];
}

/** What runs beside the calls. Of several processes on one database one does each of Initiator, Cleaner and housekeeping. */
export function startBackground(context: BackgroundContext): Background {
  const { services, db, conf, isAlive, loops } = context;
  const { clock, host, agentInfo, log } = services;
  const lease = (name: string) => new Lease({ db, clock, name, host, agentInfo, isAlive, log });
  const leases = { Initiator: lease('Initiator'), Cleaner: lease('Cleaner'), HouseKeeper: lease('HouseKeeper') };
  const leads = isLeader(conf, host);
  if (loops && !leads) log.info({ host }, 'housekeeping, Initiator and Cleaner are for another host');
  const compactor = startCompactor(services, {
    background: loops,
    workers: context.workers,
    pools: context.pools === true ? workerPools(conf) : {},
    initiator: leads && conf.getBoolean('hive.compactor.initiator.on'),
    cleaner: leads && conf.getBoolean('hive.compactor.cleaner.on'),
    mayRun: (role) => leases[role].hold(),
  });
  const keepsHouse = loops && leads && conf.getBoolean('metastore.housekeeping.threads.on');
  const stopHousekeeping = keepsHouse
    ? startHousekeeping({ services, conf, mayRun: () => leases.HouseKeeper.hold() })
    : async () => {};
  const stopAlarms = loops ? startAlarms({ figures: context.figures, conf, clock, log }) : async () => {};
  return {
    compactor,
    async stop() {
      await Promise.all([stopHousekeeping(), stopAlarms(), compactor.stop()]);
      for (const held of Object.values(leases)) await held.release();
    },
  };
}
