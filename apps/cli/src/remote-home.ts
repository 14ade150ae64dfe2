import { hostname } from 'node:os';
import { keepSmallFiles } from '@skep/acid';
import type { Configuration } from '@skep/config';
import { type Clock, systemClock } from '@skep/core';
import { connectServices, takeServerParameters } from '@skep/metastore';
import type { ConnectOptions } from '@skep/rpc';
import { type Services, Session } from '@skep/sql';
import { type FileSystem, parseLocation } from '@skep/storage';
import { currentAgentInfo } from '@skep/txn-manager';
import { type Environment, userName } from './configuration.js';
import { type MetastoreAddress, reaching } from './metastore-address.js';

export interface RemoteHomeOptions {
  readonly metastore: MetastoreAddress;
  readonly connect: ConnectOptions;
  readonly conf: Configuration;
  readonly fs: FileSystem;
  /** Where new databases get their folders, a URI; default: where the metastore says. */
  readonly warehouse?: string;
  readonly hivevar: Readonly<Record<string, string>>;
  readonly env: Environment;
  readonly clock?: Clock;
  /** What the user should know at the start. */
  readonly notice: (message: string) => void;
  /** How the first call is made; default: once, as all others. */
  readonly first?: <T>(ask: () => Promise<T>) => Promise<T>;
}

/** Sessions on a metastore that is elsewhere; the files are read and written from here. */
export interface RemoteHome {
  readonly services: Services;
  newSession(): Session;
  close(): Promise<void>;
}

export async function openRemoteHome(options: RemoteHomeOptions): Promise<RemoteHome> {
  const { metastore, conf, fs, hivevar, env, notice, first = (ask) => ask() } = options;
  const remote = connectServices(metastore.addresses, options.connect);
  try {
    const info = await reaching(metastore.text, () => first(() => remote.catalog.getServerInfo({})));
    for (const note of takeServerParameters(conf, info.parameters)) notice(note);
    const warehouse = options.warehouse ?? info.warehouseUri;
    conf.set('hive.metastore.warehouse.dir', parseLocation(warehouse).path);
    keepSmallFiles(fs);
    const { catalog, txns, locks, compactions } = remote;
    const services: Services = {
      catalog,
      txns,
      locks,
      compactions,
      fs,
      clock: options.clock ?? systemClock,
      warehouse,
      identity: { user: userName(env), host: hostname(), agentInfo: currentAgentInfo() },
    };
    const sessions: Session[] = [];
    return {
      services,
      newSession() {
        const session = new Session(services, conf.fork(), { hivevar: new Map(Object.entries(hivevar)), env });
        sessions.push(session);
        return session;
      },
      async close() {
        for (const session of sessions) await session.close();
        remote.close();
      },
    };
  } catch (error) {
    remote.close();
    throw error;
  }
}
