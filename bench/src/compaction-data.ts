import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openHome } from '../../apps/cli/src/home.js';

/** What the table is made of: changing it makes a new one. */
export interface Shape {
  readonly name: string;
  readonly rows: number;
  readonly deltas: number;
  /** Statements that together delete a twentieth of the rows. */
  readonly deletes: number;
  /** Which rows they delete: some of every delta, or half of the latest tenth of the deltas. */
  readonly deleted: 'everywhere' | 'recent';
}

/** Some 80 MB, and 4. */
export const FULL_ROWS = 2_000_000;
const SMALL_PART = 20;

/** All shapes, by the rows of the large ones. */
export function shapesOf(rows: number): Shape[] {
  const common = { rows, deltas: 40, deletes: 10 };
  return [
    { ...common, name: 'recent', deleted: 'recent' },
    { ...common, name: 'everywhere', deleted: 'everywhere' },
    { ...common, name: 'small', rows: rows / SMALL_PART, deleted: 'everywhere' },
  ];
}

/** The condition of delete number `i`. */
function deletedBy({ rows, deleted }: Shape, i: number): string {
  return deleted === 'everywhere' ? `id % 200 = ${i}` : `id >= ${0.9 * rows} and id % 20 = ${i}`;
}

export const COLUMNS = 'id bigint, x bigint, v string, wide string';

/** The table's folder, made once by statements of skep and kept. Write ids are 1 to deltas + deletes. */
export async function preparedTable(cache: string, shape: Shape): Promise<string> {
  const suffix = shape.deleted === 'everywhere' ? '' : `-${shape.deleted}`;
  const folder = join(cache, `compaction-${shape.rows}-${shape.deltas}-${shape.deletes}${suffix}`);
  if (existsSync(folder)) return folder;
  const path = `${folder}.making`;
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  const home = await openHome({ path, hiveconf: { 'hive.compactor.initiator.on': 'false' } });
  const start = performance.now();
  try {
    const session = home.newSession();
    const run = async (statement: string): Promise<void> => {
      const { batches } = await session.execute(statement);
      if (batches !== undefined) for await (const _ of batches);
    };
    await run(`create table t (${COLUMNS}) stored as orc tblproperties ('transactional'='true')`);
    const each = shape.rows / shape.deltas;
    for (let i = 0; i < shape.deltas; i++) {
      const id = `(${i * each} + n)`;
      await run(
        `insert into t select ${id}, (${id} * 7919) % 1000003, concat('row ', ${id} * 31 % ${shape.rows}),
           concat(md5(cast(${id} as string)), md5(cast(-${id} as string)))
         from (select posexplode(split(space(${each - 1}), ' ')) as (n, s)) numbers`,
      );
    }
    for (let i = 0; i < shape.deletes; i++) await run(`delete from t where ${deletedBy(shape, i)}`);
    cpSync(join(home.warehouse, 't'), `${path}.t`, { recursive: true });
  } finally {
    await home.close();
  }
  renameSync(`${path}.t`, folder);
  rmSync(path, { recursive: true, force: true });
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  process.stderr.write(`  made ${(bytesOf(folder) / 1e6).toFixed(0)} MB in ${seconds} s\n`);
  return folder;
}

/** Of all files below. */
export function bytesOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
