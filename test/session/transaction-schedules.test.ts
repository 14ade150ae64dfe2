import type { Session } from '@skep/sql';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

// Random schedules of three sessions over two tables against a model of snapshot isolation: what a transaction reads is the
// committed state of its first statement and its own writes; the first committer of two that changed the same table wins.

type Rows = ReadonlyMap<number, number>;
const tables = ['t', 'u'] as const;
type TableName = (typeof tables)[number];
type State = Record<TableName, Rows>;

interface Change {
  readonly table: TableName;
  readonly apply: (rows: Rows) => Rows;
  /** UPDATE or DELETE: two of them on one table are in conflict. */
  readonly changes: boolean;
}

interface ModelTxn {
  snapshotAt?: number;
  view?: State;
  readonly writes: Change[];
  isLost: boolean;
}

class Model {
  state: State = { t: new Map(), u: new Map() };
  private readonly commits: { readonly at: number; readonly changed: ReadonlySet<TableName> }[] = [];
  private now = 0;

  /** The first statement's time. */
  touch(txn: ModelTxn): void {
    if (txn.view !== undefined) return;
    txn.snapshotAt = ++this.now;
    txn.view = { ...this.state };
  }

  /** False: another has committed a change of the table since the snapshot. */
  write(txn: ModelTxn, change: Change): boolean {
    this.touch(txn);
    if (change.changes && this.hasConflict(txn, new Set([...this.changedBy(txn), change.table]))) return false;
    txn.writes.push(change);
    if (txn.view !== undefined) txn.view = { ...txn.view, [change.table]: change.apply(txn.view[change.table]) };
    return true;
  }

  commit(txn: ModelTxn): boolean {
    const changed = this.changedBy(txn);
    if (this.hasConflict(txn, changed)) return false;
    // Rows that others inserted meanwhile stay as they are: the snapshot's rows are replaced by the view's.
    for (const table of tables) {
      const before = this.base.get(txn)?.[table] ?? new Map();
      const after = txn.view?.[table] ?? before;
      const merged = new Map(this.state[table]);
      for (const id of before.keys()) if (!after.has(id)) merged.delete(id);
      for (const [id, value] of after) if (before.get(id) !== value) merged.set(id, value);
      this.state = { ...this.state, [table]: merged };
    }
    this.commits.push({ at: ++this.now, changed });
    return true;
  }

  private readonly base = new Map<ModelTxn, State>();

  begin(): ModelTxn {
    return { writes: [], isLost: false };
  }

  remember(txn: ModelTxn): void {
    if (!this.base.has(txn) && txn.view !== undefined) this.base.set(txn, txn.view);
  }

  private changedBy(txn: ModelTxn): Set<TableName> {
    return new Set(txn.writes.filter((write) => write.changes).map((write) => write.table));
  }

  private hasConflict(txn: ModelTxn, changed: ReadonlySet<TableName>): boolean {
    return this.commits.some(
      (commit) => commit.at > (txn.snapshotAt ?? this.now) && [...changed].some((table) => commit.changed.has(table)),
    );
  }
}

const step = fc.record({
  session: fc.integer({ min: 0, max: 2 }),
  table: fc.constantFrom(...tables),
  what: fc.constantFrom(
    'begin',
    'commit',
    'rollback',
    'fail',
    'select',
    'insert',
    'update',
    'update',
    'delete',
    'merge',
  ),
  modulus: fc.integer({ min: 1, max: 3 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

let home: Home;
beforeAll(async () => {
  home = await freshHome();
});
afterAll(async () => {
  await home.close();
});

const asRows = (state: Rows): string[] => [...state].sort(([a], [b]) => a - b).map(([id, value]) => `${id}\t${value}`);

it('random schedules are snapshot isolation', { timeout: 240_000 }, async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 45 }), async (steps) => {
      await runSchedule(`r${round++}`, steps);
    }),
    { numRuns: 8 },
  );
});

async function runSchedule(prefix: string, steps: readonly Step[]): Promise<void> {
  const sessions = [home.newSession(), home.newSession(), home.newSession()];
  await run(sessions[0], `create database ${prefix}`);
  for (const session of sessions) await run(session, `use ${prefix}`, 'set hive.txn.xlock.write=false');
  for (const table of tables) {
    await run(
      sessions[0],
      `create table ${table} (id int, v int) stored as orc tblproperties ('transactional'='true')`,
    );
  }
  const model = new Model();
  const open: (ModelTxn | undefined)[] = [undefined, undefined, undefined];
  let nextId = 1;

  const lose = async (session: Session, txn: ModelTxn, act: () => Promise<unknown>): Promise<void> => {
    await expect(act()).rejects.toMatchObject({ code: 'TXN_CONFLICT' });
    txn.isLost = session.openTransaction !== undefined;
  };

  for (const { session: who, table, what, modulus } of steps) {
    const session = sessions[who];
    const txn = open[who];
    if (txn?.isLost && what !== 'rollback') {
      await expect(run(session, `select * from ${table}`)).rejects.toMatchObject({ hiveCode: 10263 });
      continue;
    }
    switch (what) {
      case 'begin':
        if (txn !== undefined) continue;
        await run(session, 'start transaction');
        open[who] = model.begin();
        continue;
      case 'rollback':
        if (txn === undefined) continue;
        await run(session, 'rollback');
        open[who] = undefined;
        continue;
      case 'commit':
        if (txn === undefined) continue;
        if (model.commit(txn)) await run(session, 'commit');
        else await lose(session, txn, () => run(session, 'commit'));
        open[who] = undefined;
        continue;
      case 'fail':
        await expect(
          run(
            session,
            `insert into ${table} select id, v from ${table} where assert_true(id < 0) is null union all select 1, 1 where assert_true(false) is null`,
          ),
        ).rejects.toThrow();
        if (txn !== undefined) {
          model.touch(txn);
          model.remember(txn);
        }
        continue;
      case 'select':
        break;
      default: {
        const change = changeOf(what, table, modulus, nextId);
        nextId += 2;
        const acting = txn ?? model.begin();
        model.touch(acting);
        model.remember(acting);
        if (!model.write(acting, change)) {
          await lose(session, acting, () => run(session, change.statement));
          continue;
        }
        await run(session, change.statement);
        if (txn === undefined) expect(model.commit(acting)).toBe(true);
      }
    }
    if (txn !== undefined) {
      model.touch(txn);
      model.remember(txn);
    }
    const expected = txn?.view ?? model.state;
    expect(await rows(session, `select id, v from ${table} order by id`)).toEqual(asRows(expected[table]));
  }
  for (const session of sessions) await session.close();
  await checkFinal(prefix, model.state);
}

function changeOf(what: string, table: TableName, modulus: number, id: number): Change & { statement: string } {
  const common = { table, changes: what !== 'insert' };
  const hit = (row: number) => row % modulus === 0;
  switch (what) {
    case 'insert':
      return {
        ...common,
        statement: `insert into ${table} values (${id}, 0), (${id + 1}, 0)`,
        apply: (rows) => new Map([...rows, [id, 0], [id + 1, 0]]),
      };
    case 'update':
      return {
        ...common,
        statement: `update ${table} set v = v + ${id} where id % ${modulus} = 0`,
        apply: (rows) => new Map([...rows].map(([row, v]) => [row, hit(row) ? v + id : v])),
      };
    case 'delete':
      return {
        ...common,
        statement: `delete from ${table} where id % ${modulus} = 0`,
        apply: (rows) => new Map([...rows].filter(([row]) => !hit(row))),
      };
    default:
      return {
        ...common,
        statement: `merge into ${table} using (select id, v from ${table}) s on ${table}.id = s.id when matched and s.id % ${modulus} = 0 then delete when matched then update set v = s.v + 1`,
        apply: (rows) => new Map([...rows].filter(([row]) => !hit(row)).map(([row, v]) => [row, v + 1])),
      };
  }
}

/** What is left is the same after either compaction, and every row has a ROW__ID of its own. */
async function checkFinal(database: string, state: State): Promise<void> {
  const session = home.newSession();
  await run(session, `use ${database}`);
  for (const type of ['none', 'minor', 'major']) {
    for (const table of tables) {
      if (type !== 'none') await run(session, `alter table ${table} compact '${type}'`).catch(() => {});
    }
    while (type !== 'none' && (await home.compactor.runWorkerOnce()));
    for (const table of tables) {
      expect(await rows(session, `select id, v from ${table} order by id`), type).toEqual(asRows(state[table]));
      const count = state[table].size;
      expect(await rows(session, `select count(distinct row__id) from ${table}`)).toEqual([String(count)]);
    }
  }
  await session.close();
}
