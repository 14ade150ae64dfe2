import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ByteSource } from '@skep/core';
import type { Session } from '@skep/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const ROWS = 180_000;
const LOADS = 3;

/**
 * Of a row group that a filter takes for one with the key, 1 % of them by default, only the key's column is read.
 * id ascends through each load; k does not, but it has a bloom filter; payload is what a lookup is not to read.
 */
const columns = 'id int, k string, day date, at timestamp, payload string';
const properties = `stored as orc tblproperties ('transactional'='true', 'orc.bloom.filter.columns'='k',
  'orc.stripe.size'='16777216', 'orc.row.index.stride'='1000', 'orc.compress.size'='16384')`;
const generated = (load: number) => {
  const each = ROWS / LOADS;
  const id = `${load * each} + n`;
  return `select ${id} as id, md5(cast(${id} as string)) as k,
    date_add('2000-01-01', ${id}) as day, cast(date_add('2000-01-01', ${id}) as timestamp) as at, concat(sha2(concat('a', ${id}), 512), sha2(concat('b', ${id}), 512)) as payload
    from (select posexplode(split(space(${each - 1}), ' ')) as (n, s)) numbers`;
};

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(dir, entry.name)) : [join(dir, entry.name)],
  );
}

describe('a point lookup reads less than 5 % of the bytes', () => {
  let home: Home;
  let session: Session;
  let read = 0;
  const sizeOf = (table: string) =>
    filesBelow(join(home.warehouse, table)).reduce((sum, file) => sum + statSync(file).size, 0);
  const lookup = async (statement: string): Promise<{ lines: string[]; bytes: number }> => {
    read = 0;
    const lines = await rows(session, statement);
    return { lines, bytes: read };
  };

  beforeAll(async () => {
    home = await freshHome();
    const { open } = home.fs;
    const counted = (source: ByteSource): ByteSource => ({
      path: source.path,
      size: source.size,
      slice: (start, end) => {
        read += end - start;
        return source.slice(start, end);
      },
      close: () => source.close?.(),
    });
    // What the session reads goes through here.
    Object.assign(home.fs, { open: (path: string) => counted(open.call(home.fs, path) as ByteSource) });
    session = home.newSession();
    await run(
      session,
      `create table deltas (${columns}) ${properties}`,
      `create table compacted (${columns}) ${properties}`,
    );
    for (let load = 0; load < LOADS; load++) {
      for (const table of ['deltas', 'compacted']) await run(session, `insert into ${table} ${generated(load)}`);
    }
    for (const table of ['deltas', 'compacted']) await run(session, `delete from ${table} where id % 10 = 3`);
    await run(session, "alter table compacted compact 'major'");
    await home.compactor.runWorkerOnce();
    await home.compactor.runCleanerOnce();
    await run(
      session,
      `create table parts (id int, payload string) partitioned by (p int) ${properties.replace("'orc.bloom.filter.columns'='k',", '')}`,
    );
    await run(session, `insert into parts partition (p) select id, payload, id % 40 from deltas where id < 40000`);
  }, 180_000);
  afterAll(async () => {
    await home.close();
  });

  const key = (id: number) => `'${createHash('md5').update(String(id)).digest('hex')}'`;
  it.each([
    ['id = 12345', 1],
    ['12345 = id', 1],
    ['id <=> 12345', 1],
    ['id in (12345, 12346, 12347)', 3],
    ['id between 12345 and 12347', 3],
    ['id >= 179990 and id < 179992', 2],
    ['id = 12343', 0],
    ['id = 12345 and payload is not null', 1],
    ['(id = 12345 or id = 12346)', 2],
    ['id = 99999999', 0],
    [`k = ${key(12345)}`, 1],
    [`k = ${key(101)}`, 1],
    [`k = ${key(12343)}`, 0],
    [`k in (${key(12345)}, ${key(777)})`, 2],
    [`k <=> ${key(12345)}`, 1],
    [`k = 'no such key'`, 0],
    ["id = '12345'", 1],
    ['id = 12345.0D', 1],
    ['id in (12000 + 345, cast("12346" as int))', 2],
    ['id between abs(-12345) and 12340 + 7', 3],
    ["k = md5('12345')", 1],
    ['k = md5(cast(12345 as string)) and payload is not null', 1],
    ["k in (md5('12345'), md5('777'))", 2],
    ["k = concat(md5('12345'), '')", 1],
    ["day = date '2000-01-01' + interval '12' day", 1],
    ["day = date_add('2000-01-01', 12)", 1],
    ["at = cast(date '2000-01-01' + interval '12' day as timestamp)", 1],
    ["at = date '2000-01-13'", 1],
  ] as const)('%s', async (condition, count) => {
    for (const table of ['deltas', 'compacted']) {
      const { lines, bytes } = await lookup(`select * from ${table} where ${condition}`);
      expect(lines.length).toBe(count);
      expect(bytes / sizeOf(table), `${table}: ${bytes} of ${sizeOf(table)} bytes`).toBeLessThan(0.05);
    }
  });

  it('by a partition column and another one', async () => {
    const { lines, bytes } = await lookup('select * from parts where p = 25 and id = 12345');
    expect(lines.length).toBe(1);
    expect(bytes / sizeOf('parts')).toBeLessThan(0.05);
    expect((await lookup('select count(*) from parts where p = 25')).bytes / sizeOf('parts')).toBeLessThan(0.05);
  });

  it('and the counting sees a scan of everything', async () => {
    const { bytes } = await lookup('select sum(length(payload)) from deltas');
    expect(bytes / sizeOf('deltas')).toBeGreaterThan(0.5);
  });
});
