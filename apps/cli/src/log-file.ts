import { appendFileSync, closeSync, openSync, renameSync, statSync } from 'node:fs';
import { systemClock } from '@skep/core';
import { createLogger, type Logger } from '@skep/telemetry/log';
import { UsageError } from './error-line.js';

/** A home's log grows to this much; then it is the older one, and a new one begins. */
const MOST_BYTES_OF_HOME = 1 << 20;
/** The same of a service's. */
const MOST_BYTES_OF_SERVICE = 64 << 20;

/** What a home does in the background: lines in its `skep.log`, which its user may look at or not. */
export function homeLogger(path: string): Logger {
  const write = (line: string) => {
    try {
      append(path, line, MOST_BYTES_OF_HOME);
    } catch {
      // A home that cannot be written has no log; what matters to a statement is told by the statement.
    }
  };
  return createLogger({ write, fields: { pid: process.pid }, now: () => systemClock.now() });
}

/** --log-file: where a service's lines go instead of standard error. */
export function serviceLogWriter(path: string | undefined, stderr: { write(text: string): unknown }) {
  if (path === undefined) return (line: string) => void stderr.write(line);
  try {
    closeSync(openSync(path, 'a'));
  } catch (error) {
    throw new UsageError(`--log-file: cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return (line: string) => {
    try {
      append(path, line, MOST_BYTES_OF_SERVICE);
    } catch {
      // The disk is full, or the folder gone: the service goes on, and somebody may still see its standard error.
      stderr.write(line);
    }
  };
}

/** Warnings as people read them, for --verbose. */
export function plainLogger(notice: (message: string) => void): Logger {
  const told = (_fields: unknown, message: string) => notice(message);
  const untold = () => {};
  const logger: Logger = { debug: untold, info: untold, warn: told, error: told, with: () => logger };
  return logger;
}

function append(path: string, line: string, mostBytes: number): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > mostBytes) renameSync(path, `${path}.1`);
  appendFileSync(path, line);
}
