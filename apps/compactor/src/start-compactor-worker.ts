import { hostname } from 'node:os';
import { keepSmallFiles } from '@skep/acid';
import {
  COMPACTION_ACTIONS,
  type CompactionFiles,
  CompactorMeter,
  localCompactionFiles,
  remoteCompactionFiles,
  startWorkers,
} from '@skep/compactor';
import type { Configuration } from '@skep/config';
import { type Clock, SkepError, systemClock } from '@skep/core';
import {
  compactorConf,
  connectServices,
  type ServiceAddresses,
  takeServerParameters,
  whenThere,
} from '@skep/metastore';
import type { ConnectOptions } from '@skep/rpc';
import { type FileSystem, localFileSystem } from '@skep/storage';
import type { FigureSource, Logger } from '@skep/telemetry';
import { currentAgentInfo } from '@skep/txn-manager';

export interface CompactorWorkerOptions {
  /** Where the metastore's services are. */
  readonly addresses: Required<ServiceAddresses>;
  /** Where the files are: `skep data` there does with them what compactions need. Absent: they are reached from here. */
  readonly data?: readonly [string, ...string[]];
  /** How both are reached: TLS, identity. */
  readonly connect?: ConnectOptions;
  readonly conf: Configuration;
  /** Compactions at once. */
  readonly threads: number;
  /** Whose requests are carried out; empty: those of no pool, and what waited too long for its own. */
  readonly pool: string;
  /** Workers of named pools beside those of the default pool. */
  readonly pools?: Readonly<Record<string, number>>;
  readonly user: string;
  readonly version: string;
  readonly clock?: Clock;
  /** Where no `data` is given. */
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
 * Workers of a metastore that is elsewhere. Thresholds and time-outs are the metastore's. The files are worked on where they are,
 * by a data service, or else must be reachable from here under the same names.
 */
export async function startCompactorWorker(options: CompactorWorkerOptions): Promise<CompactorWorker> {
  const { conf, threads, pool, user, version, log, clock = systemClock } = options;
  const services = connectServices(options.addresses, options.connect);
  try {
    const info = await whenThere(() => services.catalog.getServerInfo({}), { clock, log });
    for (const note of takeServerParameters(conf, info.parameters)) log.warn({}, note);
  } catch (error) {
    services.close();
    throw error;
  }
  const { catalog, txns, locks, compactions } = services;
  const meter = new CompactorMeter(clock);
  const layer = await openFiles(options, clock).catch((error: unknown) => {
    services.close();
    throw error;
  });
  const compactor = startWorkers(
    {
      catalog,
      txns,
      locks,
      compactions,
      files: layer.files,
      clock,
      conf: compactorConf(conf),
      user,
      host: hostname(),
      agentInfo: currentAgentInfo(),
      version,
      log,
      meter,
    },
    { workers: pool === '' ? threads : 0, pools: pool === '' ? (options.pools ?? {}) : { [pool]: threads } },
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
        layer.close();
        services.close();
      }
    },
  };
}

interface OpenedFiles {
  readonly files: CompactionFiles;
  close(): void;
}

/** What is there is no `skep data`, or an older one. */
class NoDataServiceError extends SkepError {
  constructor(where: string, missing: readonly string[], cause?: unknown) {
    const message = `${where} is no data service that compactions can use: it has no ${missing.join(', ')}`;
    super('NO_DATA_SERVICE', 'invalid', message, { cause });
  }
}

/** Long enough for a service that is being started together with this one. */
const FIRST_CHECK_MS = 5_000;

/** A data service that is not there now may come: requests wait meanwhile. One that cannot do it never will. */
async function openFiles(
  { data, connect, fs = localFileSystem(), log }: CompactorWorkerOptions,
  clock: Clock,
): Promise<OpenedFiles> {
  if (data === undefined) {
    keepSmallFiles(fs);
    return { files: localCompactionFiles(fs), close: () => undefined };
  }
  const where = data.join(',');
  const { connectActions } = await import('@skep/flight');
  const { act, list, close } = connectActions(data, { ...connect, clock });
  try {
    const known = await list({ deadlineMs: FIRST_CHECK_MS });
    const missing = COMPACTION_ACTIONS.filter((action) => !known.includes(action));
    if (missing.length > 0) throw new NoDataServiceError(where, missing);
  } catch (error) {
    if (!(error instanceof SkepError && error.kind === 'unavailable')) {
      close();
      const isOther = error instanceof SkepError && error.code === 'UNIMPLEMENTED';
      throw isOther ? new NoDataServiceError(where, COMPACTION_ACTIONS, error) : error;
    }
    log.warn({ data: where, error }, `the data service at ${where} does not answer: compactions wait until it does`);
  }
  return { files: remoteCompactionFiles(act, where, clock), close };
}
