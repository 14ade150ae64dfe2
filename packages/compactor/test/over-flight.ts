import { Configuration } from '@skep/config';
import { systemClock } from '@skep/core';
import { serveData } from '@skep/data';
import { connectActions } from '@skep/flight';
import type { FileSystem } from '@skep/storage';
import { silentLogger } from '@skep/telemetry/log';
import { type CompactionFiles, remoteCompactionFiles } from '../src/index.js';
import type { World } from './world.js';

/** The files of a World done by a data service of its own, over gRPC. For `World.filesOf`. */
export function filesOverFlight(fs: FileSystem, world: World): CompactionFiles {
  let opened: Promise<CompactionFiles> | undefined;
  const open = () => {
    opened ??= serveFiles(fs, world);
    return opened;
  };
  return {
    ownerOf: async (request) => await (await open()).ownerOf(request),
    compact: async (request, how) => await (await open()).compact(request, how),
    discard: async (request) => await (await open()).discard(request),
  };
}

async function serveFiles(fs: FileSystem, world: World): Promise<CompactionFiles> {
  const { catalog, txns, locks, compactions, clock } = world;
  const { user, host, agentInfo } = world.services;
  const conf = new Configuration();
  conf.set('hive.compactor.run.as.user', world.services.conf.runAsUser);
  const data = await serveData({
    services: {
      catalog,
      txns,
      locks,
      compactions,
      fs,
      clock,
      warehouse: `file:${world.folder}`,
      identity: { user, host, agentInfo },
    },
    conf,
    // Calls have deadlines of this machine's time.
    serve: { clock: systemClock },
    log: silentLogger,
  });
  const { act, close } = connectActions(data.address);
  world.onClose(async () => {
    close();
    await data.close(100);
  });
  return remoteCompactionFiles(act, data.address, systemClock);
}
