import { type FileSystem, joinPath, writeFile } from '@skep/storage';
import { ACID_VERSION_FILE, formatAcidDirectoryName, METADATA_FILE } from '../layout/directory-name.js';

/** `_orc_acid_version` of a folder (OrcRecordUpdater.OrcAcidVersion). */
export async function writeAcidVersionFile(fs: FileSystem, dir: string): Promise<void> {
  const path = joinPath(dir, ACID_VERSION_FILE);
  if ((await fs.stat(path)) === undefined) await writeFile(fs, path, new TextEncoder().encode('2'));
}

/** What `_metadata_acid` says of a base (AcidUtils.MetaDataFile, AcidMetaDataFile.DataFormat). */
export type BaseDataFormat = 'compacted' | 'truncated' | 'dropped';

/** An empty base: how TRUNCATE (hive.acid.truncate.usebase) and soft drops empty a folder. Answers its path. */
export async function writeEmptyBase(
  fs: FileSystem,
  location: string,
  writeId: bigint,
  format: BaseDataFormat = 'truncated',
): Promise<string> {
  const dir = joinPath(location, formatAcidDirectoryName({ kind: 'base', writeId, visibilityTxnId: 0n }));
  const json = JSON.stringify({ thisFileVersion: '0', dataFormat: format });
  await writeFile(fs, joinPath(dir, METADATA_FILE), new TextEncoder().encode(json));
  return dir;
}
