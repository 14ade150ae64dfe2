import type { FileSystem } from '@skep/storage';
import type { DataFile } from '../state/acid-directory.js';
import { openOrcFile } from './orc-file.js';
import { resultAsync } from './steps.js';

/** User metadata of ACID files (OrcRecordUpdater). */
export const ACID_VERSION_KEY = 'hive.acid.version';
/** `inserts,updates,deletes` */
export const ACID_STATS_KEY = 'hive.acid.stats';
/** Per stripe the key of its last row: `writeId,bucket,rowId;` */
export const ACID_KEY_INDEX_KEY = 'hive.acid.key.index';

/** Events of ACID version 1 in a delta's file; undefined: the file does not tell. */
export interface OldEvents {
  readonly updates: number;
  readonly deletes: number;
}

/**
 * The updates and deletes among the inserts of a delta's file of ACID version 1 (before Hive 3), by its own statistics
 * (hive.acid.stats). None in files of later versions, which have their deletes in folders of their own.
 */
export async function oldEventsOf(fs: FileSystem, file: DataFile): Promise<OldEvents | undefined> {
  const orc = await resultAsync(openOrcFile(fs, file));
  try {
    if (orc.reader === undefined) return { updates: 0, deletes: 0 };
    const text = (key: string) => {
      const bytes = orc.reader?.userMetadata.get(key);
      return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
    };
    if (Number(text(ACID_VERSION_KEY) ?? 0) >= 2) return { updates: 0, deletes: 0 };
    const stats = text(ACID_STATS_KEY)?.split(',').map(Number);
    return stats === undefined || stats.length !== 3 ? undefined : { updates: stats[1], deletes: stats[2] };
  } finally {
    orc.close();
  }
}

/** Whether a delta's file holds updates or deletes among the inserts. Where nothing is known merging is right in either case. */
export async function hasUpdateEvents(fs: FileSystem, file: DataFile): Promise<boolean> {
  const events = await oldEventsOf(fs, file);
  return events === undefined || events.updates > 0 || events.deletes > 0;
}
