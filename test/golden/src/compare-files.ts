import type { CaseTable } from './case-tables.js';
import type { Difference } from './compare-rows.js';

/** Transaction ids differ from Hive's, so the visibility id is a pattern. */
const maskVisibility = (path: string): string => path.replace(/_v\d{7,}(?=\/|$)/g, '_vN');

/** So is that of a table's own folder, `t.v0000012`; of several of one name it is told which is older. */
export function maskTableFolders(files: readonly string[]): string[] {
  const folders = [...new Set(files.map((path) => path.split('/')[0]).filter((name) => SOFT_DELETE.test(name)))].sort();
  const masked = new Map<string, string>();
  const seen = new Map<string, number>();
  for (const folder of folders) {
    const table = folder.replace(SOFT_DELETE, '');
    const number = (seen.get(table) ?? 0) + 1;
    seen.set(table, number);
    masked.set(folder, `${table}.v#${number}`);
  }
  return files.map((path) => {
    const [first, ...rest] = path.split('/');
    return [masked.get(first) ?? first, ...rest].join('/');
  });
}

export const SOFT_DELETE = /\.v\d{7,}$/;

const isDataFile = (name: string): boolean => /^(bucket_\d+|\d+_\d+)/.test(name) && !name.endsWith('_flush_length');
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/', path.length - 2) + 1);
const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

/**
 * A folder `hr=2/` directly under a table whose first partition column is another one: what Hive's mixed static and dynamic
 * INSERT leaves behind. It is empty and nothing reads it, so nobody need make it.
 */
function isLeftOver(path: string, all: readonly string[], table: CaseTable | undefined): boolean {
  const key = /^([^/=]+)=[^/]*\/$/.exec(path)?.[1];
  if (key === undefined || table === undefined || table.partitionColumns.length < 2) return false;
  return (
    key.toLowerCase() !== table.partitionColumns[0] && !all.some((other) => other !== path && other.startsWith(path))
  );
}

/** The form in which listings are compared: of data files of an unbucketed table only that there are some in a folder. */
function comparable(listing: readonly string[], table: CaseTable | undefined): Set<string> {
  const out = new Set<string>();
  const files = maskTableFolders(listing);
  for (const path of files) {
    if (isLeftOver(path, files, table)) continue;
    const name = maskVisibility(path);
    if (!path.endsWith('/') && isDataFile(nameOf(path)) && table?.bucketed !== true)
      out.add(`${folderOf(name)}<data files>`);
    else out.add(name);
  }
  return out;
}

/** `!ls`: directory names exact but for the visibility id, side files where Hive has them, data files as the table is bucketed. */
export function compareFiles(expected: readonly string[], got: readonly string[], table?: CaseTable): Difference {
  const want = comparable(expected, table);
  const have = comparable(got, table);
  const missing = [...want].filter((path) => !have.has(path));
  // A version file more than Hive wrote says nothing wrong.
  const extra = [...have].filter((path) => !want.has(path) && nameOf(path) !== '_orc_acid_version');
  if (missing.length === 0 && extra.length === 0) return undefined;
  return [
    ...(missing.length > 0 ? [`missing: ${missing.join(' ')}`] : []),
    ...(extra.length > 0 ? [`not in Hive's: ${extra.join(' ')}`] : []),
  ].join('; ');
}
