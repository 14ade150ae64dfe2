import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder `shared` beside the repository (or SKEP_SHARED): files of others that tests may read but the repository not hold. */
export function sharedFolder(...below: string[]): string | undefined {
  const root = join(dirname(fileURLToPath(import.meta.url)), '../../../..');
  const folder = join(process.env.SKEP_SHARED ?? join(root, '../shared'), ...below);
  return existsSync(folder) ? folder : undefined;
}

/** All files below a folder whose name passes. */
export function filesBelow(folder: string, wanted: (name: string) => boolean): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && wanted(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
