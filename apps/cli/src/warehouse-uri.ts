import { resolve } from 'node:path';
import { formatLocation, parseLocation, toFileUri } from '@skep/storage';
import { UsageError } from './error-line.js';

/** A URI as Hive writes it; a path is one of this machine. */
export function warehouseUri(text: string): string {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(text)) return toFileUri(resolve(text));
  if (!/^file:/i.test(text)) throw new UsageError(`warehouse ${text}: only local folders are supported`);
  return formatLocation(parseLocation(text));
}
