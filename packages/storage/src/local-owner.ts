import { readFileSync, statSync } from 'node:fs';
import { lchown, readdir } from 'node:fs/promises';
import { SkepError } from '@skep/core';
import { storageError } from './errors.js';
import type { FileOwner } from './file-system.js';
import { joinPath, toLocalPath } from './location.js';

class NoSuchUserError extends SkepError {
  constructor(user: string) {
    super('NO_SUCH_USER', 'invalid', `this machine knows no user '${user}'`);
  }
}

interface Account {
  readonly user: string;
  readonly uid: number;
  readonly gid: number;
}

/** /etc/passwd: name:password:uid:gid:… */
function accounts(): Account[] {
  let text: string;
  try {
    text = readFileSync('/etc/passwd', 'utf8');
  } catch {
    // Elsewhere users are numbers.
    return [];
  }
  return text
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4)
    .map(([user, , uid, gid]) => ({ user, uid: Number(uid), gid: Number(gid) }));
}

/** The owner of a file or folder of this machine, by number where it has no name. */
export async function localOwner(path: string): Promise<FileOwner | undefined> {
  try {
    const stat = statSync(toLocalPath(path), { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    const { uid, gid } = stat;
    return { user: accounts().find((account) => account.uid === uid)?.user ?? String(uid), uid, gid };
  } catch (cause) {
    throw storageError('stat', path, cause);
  }
}

/** Only root can give files away. */
export async function giveLocal(path: string, owner: FileOwner): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const account = owner.uid === undefined ? accounts().find(({ user }) => user === owner.user) : undefined;
  const uid = owner.uid ?? account?.uid ?? (/^\d+$/.test(owner.user) ? Number(owner.user) : undefined);
  if (uid === undefined) throw new NoSuchUserError(owner.user);
  try {
    await giveAll(toLocalPath(path), uid, owner.gid ?? account?.gid ?? uid);
  } catch (cause) {
    throw storageError('change the owner of', path, cause);
  }
}

async function giveAll(local: string, uid: number, gid: number): Promise<void> {
  await lchown(local, uid, gid);
  if (!statSync(local).isDirectory()) return;
  for (const name of await readdir(local)) await giveAll(joinPath(local, name), uid, gid);
}
