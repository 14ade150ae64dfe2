import { appendFileSync, renameSync, statSync } from 'node:fs';
import { systemClock } from '@skep/core';

/** A log grows to this much; then it is the older one, and a new one begins. */
const MOST_BYTES = 1 << 20;

/** What goes wrong in the background of a shell: lines in a file, which its user may look at or not. */
export function logFile(path: string): (message: string) => void {
  return (message) => {
    try {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      if (size > MOST_BYTES) renameSync(path, `${path}.1`);
      appendFileSync(
        path,
        `${new Date(systemClock.now()).toISOString()} ${process.pid} ${message.replace(/\s*\n\s*/g, ' ')}\n`,
      );
    } catch {
      // A home that cannot be written has no log; what matters to a statement is told by the statement.
    }
  };
}
