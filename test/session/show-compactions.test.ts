import type { Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

/** What Hive 4.0.1 answered to these statements; shared/oracle, recorded for this test. */
let home: Home;
let session: Session;
const acid = "stored as orc tblproperties ('transactional'='true')";

beforeEach(async () => {
  home = await freshHome();
  session = home.newSession();
  await run(
    session,
    `create table t (id int) ${acid}`,
    `create table p (id int) partitioned by (d string) ${acid}`,
    "alter table p add partition (d='x')",
    "alter table t compact 'major' pool 'default'",
    "alter table p partition (d='x') compact 'minor' pool 'big'",
  );
});
afterEach(() => home.close());

const shown = async (what: string): Promise<string[]> => {
  const [header, ...found] = await rows(session, `show compactions ${what}`);
  expect(header).toMatch(/^CompactionId\tDatabase\tTable\t/);
  return found.map((row) => row.split('\t').slice(0, 6).join(' '));
};
const one = '1 default t  ---  MAJOR initiated';
const two = '2 default p d=x MINOR initiated';

describe('SHOW COMPACTIONS', () => {
  it.each([
    ["pool 'default'", [one]],
    ["pool 'big'", [two]],
    ["pool 'BIG'", []],
    ['database nosuch', []],
    ['database default', [one, two]],
    ['nosuch', []],
    ['p', [two]],
    ["p partition (d='x')", [two]],
    ["p partition (d='zz')", []],
    ["type 'MINOR' status 'INITIATED'", [two]],
    ["type 'rebalance'", []],
    ["status 'ready for cleaning'", []],
    ['compactionid = 2', [two]],
    ['order by state limit 0', [one, two]],
    ['order by tabname desc, state asc limit 5', [one, two]],
    ['order by tabname limit 1', [two]],
    ['order by `compactionid` desc', [two, one]],
    ['limit 1', [one]],
  ])('%s', async (what, expected) => {
    expect(await shown(what)).toEqual(expected);
  });

  it.each([
    ["type 'bogus'", { code: 'META_ERROR', sqlState: '08S01', message: 'Unexpected compaction type bogus' }],
    ["status 'bogus'", { code: 'META_ERROR', message: 'Unexpected compaction state bogus' }],
    ["status 'unknown'", { code: 'META_ERROR', message: 'Unexpected compaction state unknown' }],
    ['order by nosuch', { hiveCode: 10004 }],
    ["t partition (d='x')", { kind: 'invalid', message: expect.stringContaining('d') }],
  ])('%s is refused', async (what, error) => {
    await expect(rows(session, `show compactions ${what}`)).rejects.toMatchObject(error);
  });
});

it('ABORT COMPACTIONS answers for each id', async () => {
  expect(await rows(session, 'abort compactions 1 7')).toEqual([
    'CompactionId\tStatus\tMessage',
    '1\tSuccess\tSuccessfully aborted compaction',
    '7\tError\tNo Such Compaction Id Available',
  ]);
  expect(await shown("status 'aborted'")).toEqual(['1 default t  ---  MAJOR aborted']);
});

describe('SHOW LOCKS', () => {
  it.each([['database nosuch'], ["p partition (d='zz') extended"], ['nosuch'], ['t extended'], ['']])(
    '%s has none',
    async (what) => {
      expect(await rows(session, `show locks ${what}`)).toEqual([expect.stringMatching(/^Lock ID\tDatabase\t/)]);
    },
  );

  it('of a partition that a statement is about to make are those on it', async () => {
    await run(session, 'start transaction', "insert into p partition (d='new') values (1)");
    const other = home.newSession();
    const found = (await rows(other, "show locks p partition (d='new')")).slice(1).map((row) => row.split('\t'));
    expect(found.map(([, database, table, partition, state]) => [database, table, partition, state])).toEqual([
      ['default', 'p', 'd=new', 'ACQUIRED'],
    ]);
    expect(await rows(other, "show locks p partition (d='x')")).toHaveLength(1);
    await run(session, 'rollback');
  });

  it.each(['lock table t shared', 'unlock table t', 'lock database default exclusive', 'unlock database default'])(
    '%s is refused: the transaction manager locks by itself',
    async (statement) => {
      await expect(run(session, statement)).rejects.toMatchObject({ hiveCode: 10271, sqlState: '42000' });
    },
  );
});
