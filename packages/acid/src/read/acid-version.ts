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

/** Whether a delta's file is of ACID version 1 (before Hive 3) and holds updates or deletes among the inserts. */
export async function hasUpdateEvents(fs: FileSystem, file: DataFile): Promise<boolean> {
  const orc = await resultAsync(openOrcFile(fs, file));
  try {
    if (orc.reader === undefined) return false;
    const text = (key: string) => {
      const bytes = orc.reader?.userMetadata.get(key);
      return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
    };
    if (Number(text(ACID_VERSION_KEY) ?? 0) >= 2) return false;
    const stats = text(ACID_STATS_KEY)?.split(',').map(Number);
    // Without statistics nothing is known: merging is right in either case.
    return stats === undefined || stats.length !== 3 || stats[1] > 0 || stats[2] > 0;
  } finally {
    orc.close();
  }
}
