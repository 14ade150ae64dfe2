import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openHome } from '../home.js';
import type { CliIo } from '../io.js';
import { main } from '../main.js';

/** Written by Hive 2.3.9: update events in ordinary deltas. */
const recorded = new URL('../../../../test/golden/recorded/hive-2.3.9/update_events', import.meta.url).pathname;

describe('skep upgrade-check', () => {
  let work: string;
  beforeEach(() => {
    work = mkdtempSync(join(tmpdir(), 'skep-upgrade-'));
  });
  afterEach(() => {
    rmSync(work, { recursive: true, force: true });
  });

  async function skep(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
    const texts = { out: '', err: '' };
    const stream = (name: 'out' | 'err') => new PassThrough().on('data', (chunk) => (texts[name] += String(chunk)));
    const io: CliIo = {
      stdin: Object.assign(new PassThrough(), { isTTY: true }),
      stdout: stream('out'),
      stderr: stream('err'),
      env: { SKEP_HOME: join(work, 'home') },
      openHome: async () => {
        throw new Error('not used');
      },
      onInterrupt: () => () => {},
    };
    const code = await main(argv, io);
    return { code, ...texts };
  }

  /** Tables of a home: one of Hive 2, one of our own, one that is partitioned with a partition of each. */
  async function makeHome(): Promise<void> {
    const home = await openHome({ path: join(work, 'home'), env: {} });
    const session = home.newSession();
    const run = async (statement: string) => {
      const { batches } = await session.execute(statement);
      if (batches !== undefined) for await (const _ of batches);
    };
    const acid = "stored as orc tblproperties ('transactional'='true')";
    await run(`create table old (a int, b string) clustered by (a) into 2 buckets ${acid}`);
    cpSync(recorded, join(home.warehouse, 'old'), { recursive: true });
    await run('msck repair table old');
    await run(`create table own (a int) ${acid}`);
    await run('insert into own values (1), (2)');
    await run('update own set a = 3 where a = 1');
    await run(`create table plain (a int) stored as orc`);
    await run(`create table parts (a int, b string) partitioned by (p string) clustered by (a) into 2 buckets ${acid}`);
    mkdirSync(join(home.warehouse, "parts/p=it's"), { recursive: true });
    cpSync(recorded, join(home.warehouse, "parts/p=it's"), { recursive: true });
    await run('msck repair table parts');
    await run("insert into parts partition (p='new') values (1, 'x')");
    await run('create database other');
    await home.close();
  }

  it('lists what must be compacted, why, and how', async () => {
    await makeHome();
    const { code, out, err } = await skep('upgrade-check');
    expect(err).toContain('2 of 4 tables and partitions must be major-compacted before Hive 3 or later reads them');
    expect(code).toBe(1);
    const lines = out.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(
      /^default\.old\t\t\d+ update events and \d+ delete events of ACID version 1 in delta_0000002_/,
    );
    expect(lines[0]).toMatch(/\tALTER TABLE `default`\.`old` COMPACT 'major';$/);
    expect(lines[1]).toContain("ALTER TABLE `default`.`parts` PARTITION (`p`='it\\'s') COMPACT 'major';");
  });

  it('narrows by table and database', async () => {
    await makeHome();
    expect(await skep('upgrade-check', '--table', 'own')).toMatchObject({ code: 0, out: '' });
    expect((await skep('upgrade-check', '--table', 'OLD')).out.trim().split('\n')).toHaveLength(1);
    expect(await skep('--database', 'other', 'upgrade-check')).toMatchObject({ code: 0, out: '' });
    const missing = await skep('--database', 'nosuch', 'upgrade-check');
    expect(missing).toMatchObject({ code: 1, out: '' });
    expect(missing.err).toContain('no such database: nosuch');
  });

  it('--compact compacts them, with the same rows after', async () => {
    await makeHome();
    const { code, err } = await skep('upgrade-check', '--compact');
    expect(err).toMatch(/Compaction enqueued with id \d+/);
    expect(code).toBe(0);
    expect(await skep('upgrade-check')).toMatchObject({ code: 0, out: '' });
    const rows = await skep('read', join(work, 'home/warehouse/old'));
    expect(rows.out.trimEnd().split('\n').sort()).toEqual(['1\tuno', '2\ttwo', '4\tFOUR', '5\tNULL', '6\tsix']);
  });

  it('skep read shows the deleted rows of such a table', async () => {
    cpSync(recorded, join(work, 't'), { recursive: true });
    const { out } = await skep('read', join(work, 't'), '--deleted');
    expect(out.trimEnd().split('\n').sort()).toEqual([
      '1\tuno\tfalse',
      '2\ttwo\tfalse',
      '3\tthree\ttrue',
      '4\tFOUR\tfalse',
      '5\tNULL\tfalse',
      '6\tsix\tfalse',
      '7\tseven\ttrue',
    ]);
  });

  it('reads a folder without a metastore', async () => {
    cpSync(recorded, join(work, 't/p=1'), { recursive: true });
    const { code, out } = await skep('--format', 'json', 'upgrade-check', join(work, 't'));
    expect(code).toBe(1);
    expect(JSON.parse(out.trim().split('\n')[0])).toMatchObject({
      table: 't',
      partition: 'p=1',
      statement: "ALTER TABLE `t` PARTITION (`p`='1') COMPACT 'major';",
    });
    expect((await skep('upgrade-check', join(work, 'nowhere'))).err).toContain('no such folder');
    expect((await skep('upgrade-check', join(work, 't'), '--compact')).err).toContain('has no metastore');
  });
});
