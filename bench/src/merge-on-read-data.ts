import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { type Home, openHome } from '../../apps/cli/src/home.js';

/** What the benchmark's tables are made of: changing it makes new ones. */
export interface Shape {
  readonly rows: number;
  readonly deltas: number;
  readonly deletedRows: number;
  /** Statements that delete the rows: each one's delete events hit every delta. */
  readonly deletes: number;
}

export const FULL: Shape = { rows: 10_000_000, deltas: 20, deletedRows: 1_000_000, deletes: 10 };

/** The same rows: `deltas` as they were written, `compacted` after a major compaction. */
export const TABLES = ['deltas', 'compacted'] as const;
export type TableName = (typeof TABLES)[number];

export const answerOf = (table: TableName): string => `select count(*), sum(x) from ${table}`;

/** The deltas are to stay as they are. */
export const NO_INITIATOR = { 'hive.compactor.initiator.on': 'false' };

const mark = (path: string): string => `${path}/complete`;

/** A home with the tables; made once, by statements, and kept. */
export async function preparedHome(folder: string, shape: Shape): Promise<string> {
  const path = `${folder}/merge-on-read-wide-${shape.rows}-${shape.deltas}-${shape.deletedRows}-${shape.deletes}`;
  if (existsSync(mark(path))) return path;
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  const home = await openHome({ path, backgroundCompaction: true, hiveconf: NO_INITIATOR });
  try {
    for (const table of TABLES) await makeTable(home, table, shape);
  } finally {
    await home.close();
  }
  writeFileSync(mark(path), '');
  return path;
}

/** x has no order to compress by; v, with a bloom filter of the default rate, and wide are what a query for x does not read. */
async function makeTable(home: Home, table: TableName, shape: Shape): Promise<void> {
  const session = home.newSession();
  const start = performance.now();
  const run = async (statement: string): Promise<void> => {
    const { batches } = await session.execute(statement);
    if (batches !== undefined) for await (const _ of batches);
  };
  await run(
    `create table ${table} (id bigint, x bigint, v string, wide string) stored as orc tblproperties ('transactional'='true', 'orc.bloom.filter.columns'='v')`,
  );
  const each = shape.rows / shape.deltas;
  for (let i = 0; i < shape.deltas; i++) {
    await run(
      `insert into ${table} select ${i * each} + n, (n * 7919 + ${i} * 104729) % 1000003, concat('row ', (${i * each} + n) * 31 % ${shape.rows}),
         concat(md5(cast(${i * each} + n as string)), md5(cast(-n as string)))
       from (select posexplode(split(space(${each - 1}), ' ')) as (n, s)) numbers`,
    );
  }
  // A permutation of the ids (the multiplier of the square is divisible by 2 and 5, the other by neither): no order to compress by.
  const { rows } = shape;
  const scattered = `((id * id % ${rows}) * 7654320 + id * 7368787) % ${rows}`;
  const share = shape.deletedRows / shape.deletes;
  for (let i = 0; i < shape.deletes; i++) {
    await run(`delete from ${table} where ${scattered} between ${i * share} and ${(i + 1) * share - 1}`);
  }
  if (table === 'compacted') {
    await run(`alter table ${table} compact 'major' and wait`);
  }
  await session.close();
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  process.stderr.write(
    `made ${table}: ${shape.rows} rows in ${shape.deltas} deltas, ${shape.deletedRows} deleted, in ${seconds} s\n`,
  );
}
