import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it. Answers the uppermost that was missing; undefined where it was there already. (Node's
 * own `recursive` never ends below folders that take no new ones but say ENOENT, like /proc.)
 */
export function makeFolder(path: string): string | undefined {
  const missing: string[] = [];
  for (let at = path; !existsSync(at); at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder);
    } catch (error) {
      // Another process was faster.
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  return missing[0];
}
