import { isHiddenName } from '@skep/acid';
import { baseName, type FileSystem, joinPath } from '@skep/storage';

/** What a statement puts into the folder of a table that is not transactional. */
export interface Publication {
  readonly location: string;
  /** Files that are finished, elsewhere in the same store, by the names they would like to have. */
  readonly files: readonly { readonly path: string; readonly name: string }[];
  /** INSERT OVERWRITE, LOAD DATA OVERWRITE: what was there goes. */
  readonly overwrite: boolean;
  /** A hidden folder inside `location` for what is replaced; removed at the end. */
  readonly staging: string;
}

/** The folder of a statement's unfinished files; hidden from readers, as Hive's. */
export const stagingFolder = (location: string, txnId: bigint, statementId: number): string =>
  joinPath(location, `.hive-staging_skep_${txnId}_${statementId}`);

/**
 * Makes the files visible by renaming them, after everything was written. Should one rename fail, those before it are
 * undone: the tables are as before. A process that dies in between leaves some of the files (a table that is not
 * transactional cannot do better, nor does Hive's), the replaced ones still in the hidden folder.
 */
export async function publish(fs: FileSystem, publications: readonly Publication[]): Promise<void> {
  const moved: { from: string; to: string }[] = [];
  const move = async (from: string, to: string) => {
    await fs.rename(from, to);
    moved.push({ from, to });
  };
  try {
    for (const { location, overwrite, staging } of publications) {
      if (!overwrite || (await fs.stat(location)) === undefined) continue;
      for (const entry of await fs.list(location)) {
        if (!isHiddenName(entry.name)) await move(entry.path, joinPath(staging, 'replaced', entry.name));
      }
    }
    for (const { location, files } of publications) {
      await fs.mkdirs(location);
      const taken = new Set((await fs.list(location)).map((entry) => entry.name));
      for (const { path, name } of files) await move(path, joinPath(location, freeName(name, taken)));
    }
  } catch (cause) {
    for (const { from, to } of moved.reverse()) await fs.rename(to, from);
    throw cause;
  }
  for (const { staging } of publications) await fs.delete(staging, { recursive: true });
}

/** `name`, or with `_copy_N` before its ending where that is taken (org.apache.hadoop.hive.ql.metadata.Hive.mvFile). */
export function freeName(name: string, taken: Set<string>): string {
  const dot = name.lastIndexOf('.');
  const [stem, ending] = dot < 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot)];
  let candidate = name;
  for (let copy = 1; taken.has(candidate); copy++) candidate = `${stem}_copy_${copy}${ending}`;
  taken.add(candidate);
  return candidate;
}

export const asNamed = (path: string): { path: string; name: string } => ({ path, name: baseName(path) });
