import { openOrc } from '@skep/orc';
import type { TableSplit } from '@skep/sql';
import type { FileSystem } from '@skep/storage';

/** A table of more splits is not opened file by file only to count its rows. */
const MOST_SPLITS = 64;

/** How many rows splits have, where their files' footers tell: not with deletes, nor in other formats than ORC. */
export async function knownRows(
  fs: FileSystem,
  splits: readonly TableSplit[],
): Promise<readonly (number | undefined)[]> {
  const isCountable = splits.length <= MOST_SPLITS && splits.every(isPlain);
  return isCountable ? await Promise.all(splits.map((split) => countOf(fs, split))) : splits.map(() => undefined);
}

/** Every row of the file is seen: nothing is deleted, and the file is of one write, which the snapshot has as a whole. */
function isPlain({ split, layout }: TableSplit): boolean {
  if (layout !== undefined) return false;
  switch (split.kind) {
    case 'plain':
      return true;
    case 'original':
      return split.deletes.length === 0;
    case 'acid':
      return split.deletes.length === 0 && split.writeIdRange !== undefined && isOne(split.writeIdRange);
    case 'events':
      return false;
  }
}

const isOne = ([min, max]: readonly [bigint, bigint]): boolean => min === max;

async function countOf(fs: FileSystem, { split }: TableSplit): Promise<number | undefined> {
  if (split.kind === 'events' || split.file.flushLengthPath !== undefined) return undefined;
  const source = await fs.open(split.file.path);
  try {
    return Number((await openOrc(source)).numberOfRows);
  } finally {
    await source.close?.();
  }
}
