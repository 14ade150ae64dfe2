import { resolve } from 'node:path';
import type { Services } from '@skep/sql';
import { localFileSystem } from '@skep/storage';
import type { CliHome, HomeOptions } from './cli-home.js';
import { quietGrpc } from './commands/client-flags.js';
import { homePath, loadConfiguration } from './configuration.js';
import { UsageError } from './error-line.js';
import { openHome } from './home.js';
import { metastoreAddresses } from './metastore-address.js';

/** The embedded home, or a metastore that is elsewhere: as the options, the environment or hive-site.xml say. */
export async function openHomeOrMetastore(options: HomeOptions): Promise<CliHome & { readonly services: Services }> {
  const { env, warehouse, hiveconf, hivevar, notice } = options;
  const fs = localFileSystem();
  const notes: string[] = [];
  const conf = await loadConfiguration(fs, homePath(env), { env, hiveconf, notice: (note) => notes.push(note) });
  const metastore = metastoreAddresses(options.metastore, env, conf);
  if (metastore === undefined) {
    return await openHome({ ...options, ...(warehouse === undefined ? {} : { warehouse: localPath(warehouse) }) });
  }
  for (const note of notes) notice(note);
  quietGrpc();
  const { openRemoteHome } = await import('./remote-home.js');
  const { warehouseUri } = await import('./warehouse-uri.js');
  const connect = options.connect ?? {};
  const common = { metastore, connect, conf, fs, hivevar, env, notice };
  return await openRemoteHome(warehouse === undefined ? common : { ...common, warehouse: warehouseUri(warehouse) });
}

/** A home's warehouse is a folder of this machine, as a path or a file: URI. */
function localPath(location: string): string {
  const path = location.replace(/^file:(\/\/(localhost)?(?=\/))?/, '');
  if (/^[a-z][a-z0-9+.-]+:/i.test(path)) {
    throw new UsageError(`warehouse ${location}: only local folders are supported`);
  }
  return resolve(path);
}
