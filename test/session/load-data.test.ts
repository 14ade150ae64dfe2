import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Services, Session } from '@skep/sql';
import { type FileSystem, StorageError } from '@skep/storage';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const otherDisk = '/dev/shm';
const hasOtherDisk = existsSync(otherDisk) && statSync(otherDisk).dev !== statSync(tmpdir()).dev;

describe('LOAD DATA', () => {
  let home: Home;
  let session: Session;
  let folder: string;
  beforeEach(async () => {
    home = await freshHome();
    session = home.newSession();
  });
  afterEach(async () => {
    await home.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const filesIn = (parent: string): string => {
    folder = mkdtempSync(join(parent, 'skep-load-'));
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'a.txt'), '1\n2\n');
    writeFileSync(join(folder, 'data', 'b.txt'), '3\n');
    return join(folder, 'data');
  };

  it.runIf(hasOtherDisk).each([
    ['plain', 'stored as textfile'],
    [
      'insert-only',
      "stored as textfile tblproperties ('transactional'='true','transactional_properties'='insert_only')",
    ],
  ])('B146 files of another disk are copied into a table that is %s, then removed', async (_, kind) => {
    const data = filesIn(otherDisk);
    await run(session, `create table t (a int) ${kind}`, 'insert into t values (0)');
    await run(session, `load data inpath '${data}' into table t`);
    expect(await rows(session, 'select a from t order by a')).toEqual(['0', '1', '2', '3']);
    expect(readdirSync(data)).toEqual([]);
    expect(readdirSync(join(home.warehouse, 't')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('moves files back where a later one fails', async () => {
    const data = filesIn(tmpdir());
    await run(
      session,
      "create table t (a int) stored as textfile tblproperties ('transactional'='true','transactional_properties'='insert_only')",
    );
    const fs: FileSystem = {
      ...home.services.fs,
      rename: async (from, to) => {
        if (from.endsWith('b.txt') && !from.includes('delta_'))
          throw new StorageError('STORAGE', 'unavailable', 'rename', from, 'the disk is gone');
        await home.services.fs.rename(from, to);
      },
    };
    const services: Services = { ...home.services, fs };
    const failing = new Session(services, home.conf.fork());
    await expect(run(failing, `load data inpath '${data}' into table t`)).rejects.toThrow('the disk is gone');
    expect(readdirSync(data).sort()).toEqual(['a.txt', 'b.txt']);
    expect(await rows(session, 'select * from t')).toEqual([]);
    await run(session, `load data inpath '${data}' into table t`);
    expect(await rows(session, 'select a from t order by a')).toEqual(['1', '2', '3']);
    await failing.close();
  });
});
