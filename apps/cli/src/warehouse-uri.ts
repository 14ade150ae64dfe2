import { resolve } from 'node:path';
import { formatLocation, parseLocation, toFileUri } from '@skep/storage';

/** A URI as Hive writes it; a path is one of this machine. */
export function warehouseUri(text: string): string {
  return /^[a-z][a-z0-9+.-]+:/i.test(text) ? formatLocation(parseLocation(text)) : toFileUri(resolve(text));
}
