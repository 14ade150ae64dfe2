import { type FileSystem, walk } from '@skep/storage';
import type { History } from './history.js';
import type { Simulation } from './simulation.js';

/** The folder of a table or a partition, and what is known of what is in it. */
export interface KnownFolder {
  readonly location: string;
  readonly current: readonly string[];
  /** Obsolete, or of aborted transactions. */
  readonly gone: readonly string[];
  /** The lists by which it is known. */
  readonly by: string;
}

const ROOT = 'file:/w';
const DROPPED = /\/d(\.v\d+)?$/;
/** What base and delta folders hold. */
const FILE = /^(bucket_\d{5}(_\d+)?|\d{6}_\d+(_copy_\d+)?|_orc_acid_version|_metadata_acid)$/;

/** Every file is in a base or delta folder that is current, obsolete or of an aborted transaction, and nothing else is there. */
export async function accountForFiles(
  sim: Simulation,
  files: FileSystem,
  folders: readonly KnownFolder[],
  history: History,
  /** What is left to the Cleaner as a whole: the properties of its requests. */
  left: readonly string[] = [],
): Promise<void> {
  const known = new Set(folders.flatMap(({ current, gone }) => [...current, ...gone]));
  const locations = new Set(folders.map(({ location }) => location));
  const isDropped = (place: string) =>
    // Whoever was killed while it dropped `d` has left its files.
    (DROPPED.test(place) && !locations.has(place)) ||
    (!locations.has(place) && left.some((properties) => properties.includes(place))) ||
    history.isUnknown(place.slice(ROOT.length + 1), locations.has(place));
  for (const { location, by } of folders) {
    if (isDropped(location)) continue;
    const children = (await files.stat(location)) === undefined ? [] : await files.list(location);
    for (const { path } of children) {
      const isPartition = folders.some((other) => other.location === path);
      if (!known.has(path) && !isPartition) sim.violated(`${path} is of nobody by ${by}`);
    }
  }
  for await (const entry of walk(files, ROOT)) {
    const folder = entry.path.slice(0, entry.path.lastIndexOf('/'));
    const place = folder.slice(0, folder.lastIndexOf('/'));
    if (isDropped(place)) continue;
    if (!known.has(folder)) {
      const by = folders.find(({ location }) => location === place)?.by ?? 'any table or partition';
      sim.violated(`${entry.path} is of nobody: neither current nor obsolete nor aborted by ${by}`);
    } else if (!FILE.test(entry.name)) sim.violated(`${entry.path} is no file of a base or delta`);
  }
}
