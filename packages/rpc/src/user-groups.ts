import { readFile } from 'node:fs/promises';
import { InvalidRequestError } from './errors.js';

/** hadoop.user.group.static.mapping.overrides: `user1=group1,group2;user2=;user3=group2`. */
export function parseStaticGroups(text: string): Map<string, readonly string[]> {
  const groups = new Map<string, readonly string[]>();
  for (const entry of text.split(';').map((part) => part.trim())) {
    if (entry === '') continue;
    const [user, list, more] = entry.split('=');
    if (user === '' || list === undefined || more !== undefined) {
      throw new InvalidRequestError(`hadoop.user.group.static.mapping.overrides: '${entry}' is not USER=GROUP,GROUP`);
    }
    groups.set(
      user.trim(),
      list
        .split(',')
        .map((group) => group.trim())
        .filter((group) => group !== ''),
    );
  }
  return groups;
}

/** The groups of a user of this machine (Hadoop asks `id -Gn`); none where there are no such files, or no such user. */
export async function groupsFromSystem(user: string): Promise<string[]> {
  const [passwd, group] = await Promise.all([fieldsOf('/etc/passwd'), fieldsOf('/etc/group')]);
  const primary = passwd.find(([name]) => name === user)?.[3];
  return group
    .filter(([, , id, members]) => id === primary || (members ?? '').split(',').includes(user))
    .map(([name]) => name);
}

async function fieldsOf(path: string): Promise<string[][]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(':'));
}
