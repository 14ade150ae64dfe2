import { withCallOptions } from '@skep/rpc';
import type { WorkerServices } from './worker-services.js';

/** The folder of a table or partition. */
export interface NamedFolder {
  readonly database: string;
  readonly table: string;
  readonly partition?: string | undefined;
  readonly location: string;
}

/**
 * Whom a compaction is done for: hive.compactor.run.as.user, else the owner of the folder, else whoever does it
 * (TxnUtils.findUserToRunAs).
 */
export async function userToRunAs({ conf, files, user }: WorkerServices, folder: NamedFolder): Promise<string> {
  return conf.runAsUser || ((await files.ownerOf(folder)) ?? user);
}

/** Makes the calls in the name of that user: the proxy-user rules of those called must let this process act for it. */
export function actAs<T>({ user }: WorkerServices, runAs: string, run: () => Promise<T>): Promise<T> {
  return runAs === user ? run() : withCallOptions({ user: runAs }, run);
}
