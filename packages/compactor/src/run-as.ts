import { withCallOptions } from '@skep/rpc';
import type { CompactorServices } from './services.js';

/**
 * Whom a compaction is done for: hive.compactor.run.as.user, else the owner of the folder, else whoever does it
 * (TxnUtils.findUserToRunAs).
 */
export async function userToRunAs({ conf, fs, user }: CompactorServices, location: string): Promise<string> {
  if (conf.runAsUser !== '') return conf.runAsUser;
  return (await fs.ownerOf?.(location))?.user ?? user;
}

/** Makes the calls in the name of that user: the metastore's proxy-user rules must let this process act for it. */
export function actAs<T>({ user }: CompactorServices, runAs: string, run: () => Promise<T>): Promise<T> {
  return runAs === user ? run() : withCallOptions({ user: runAs }, run);
}

/**
 * Gives what was written to the user it was written for, where this process may (root): to the folder's own user and group
 * if that is who it is.
 */
export async function giveTo({ fs }: CompactorServices, runAs: string, location: string, path: string): Promise<void> {
  if (fs.ownerOf === undefined || fs.giveTo === undefined) return;
  const owner = await fs.ownerOf(location);
  await fs.giveTo(path, owner !== undefined && owner.user === runAs ? owner : { user: runAs });
}
