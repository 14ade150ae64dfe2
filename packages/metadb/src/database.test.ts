import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BugError, ManualClock, systemClock } from '@skep/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chunked, createTables, type Database, DatabaseError, idList, type Migration, openDatabase } from './index.js';

const create: Migration = {
  id: 'test/001-create',
  async up(tx) {
    await createTables(tx, [{ name: 'T', columns: 'ID bigint NOT NULL PRIMARY KEY, NAME varchar(20)' }]);
  },
};

let folder: string;
let db: Database | undefined;

async function open(fields: Partial<Parameters<typeof openDatabase>[0]> = {}): Promise<Database> {
  db = await openDatabase({ url: `sqlite:${join(folder, 'm.db')}`, migrations: [create], ...fields });
  return db;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skep-metadb-'));
});
afterEach(async () => {
  await db?.close();
  db = undefined;
  rmSync(folder, { recursive: true });
});

const insert = (on: Database, id: bigint) => on.transaction((tx) => tx.run('INSERT INTO T (ID) VALUES (?)', [id]));
const ids = (on: Database) => on.read((tx) => tx.column<bigint>('SELECT ID FROM T ORDER BY ID'));

describe('values', () => {
  it('keep 64 bits, and whole numbers stay whole', async () => {
    const on = await open();
    await on.transaction(async (tx) => {
      await tx.run('INSERT INTO T (ID, NAME) VALUES (?, ?)', [9223372036854775807n, 'max']);
      await tx.run('INSERT INTO T (ID, NAME) VALUES (?, ?)', [1_700_000_000_000, undefined]);
    });
    const rows = await on.read((tx) => tx.all('SELECT ID, NAME, typeof(ID) AS TYPE FROM T ORDER BY ID'));
    expect(rows).toEqual([
      { ID: 1_700_000_000_000n, NAME: null, TYPE: 'integer' },
      { ID: 9223372036854775807n, NAME: 'max', TYPE: 'integer' },
    ]);
    expect(await on.read((tx) => tx.get('SELECT ? AS V, typeof(?) AS T', [2 ** 40, 2 ** 40]))).toEqual({
      V: 2n ** 40n,
      T: 'integer',
    });
  });

  it('come back from several statements at once', async () => {
    const on = await open();
    const [inserted, rows] = await on.transaction(async (tx) => {
      const results = await tx.runAll([
        ['INSERT INTO T (ID, NAME) VALUES (1, ?), (2, ?)', ['a', 'b']],
        ["UPDATE T SET NAME = 'c' WHERE ID = 2"],
        ['DELETE FROM T WHERE ID = 7'],
      ]);
      return [results, await tx.allOf([['SELECT ID FROM T WHERE NAME = ?', ['c']], ['SELECT ID FROM T WHERE ID = 9']])];
    });
    expect(inserted.map((result) => result.changes)).toEqual([2, 1, 0]);
    expect(rows).toEqual([[{ ID: 2n }], []]);
  });

  it('are read at the clock of the database', async () => {
    const clock = new ManualClock(5000);
    const on = await open({ clock });
    expect(await on.read((tx) => tx.now())).toBe(5000n);
    expect(on.dialect.timestamp(1_700_000_000_123n)).toBe('2023-11-14 22:13:20.123');
  });
});

describe('transactions', () => {
  it('are all or nothing', async () => {
    const on = await open();
    const failed = on.transaction(async (tx) => {
      await tx.run('INSERT INTO T (ID) VALUES (1)');
      throw new BugError('on purpose');
    });
    await expect(failed).rejects.toThrow('on purpose');
    expect(await ids(on)).toEqual([]);
  });

  it('that are committed together fail alone', async () => {
    const on = await open();
    const results = await Promise.allSettled([insert(on, 1n), insert(on, 1n), insert(on, 2n), ids(on), insert(on, 3n)]);
    expect(results.map((result) => result.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
    expect((results[1] as PromiseRejectedResult).reason).toMatchObject({ code: 'DATABASE_CONSTRAINT' });
    // Reads see what was asked for before them.
    expect((results[3] as PromiseFulfilledResult<bigint[]>).value).toEqual([1n, 2n]);
    expect(await ids(on)).toEqual([1n, 2n, 3n]);
  });

  it('inside another fail instead of waiting for themselves for ever', async () => {
    const on = await open({ maxHoldMs: 40 });
    const nested = on.transaction(async (tx) => {
      await tx.run('INSERT INTO T (ID) VALUES (1)');
      await insert(on, 3n);
    });
    await expect(nested).rejects.toMatchObject({ code: 'DATABASE_LOCKED', message: expect.stringContaining('inside') });
    await expect(on.read(() => ids(on))).rejects.toMatchObject({ code: 'DATABASE_LOCKED' });
    await insert(on, 2n);
    expect(await ids(on)).toEqual([2n]);
  });

  it('a read cannot leave anything behind', async () => {
    const on = await open();
    await on.read((tx) => tx.run('INSERT INTO T (ID) VALUES (1)'));
    expect(await ids(on)).toEqual([]);
  });

  it('wait for another connection that writes', async () => {
    const on = await open();
    const other = await openDatabase({ url: `sqlite:${on.path}`, migrations: [create] });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const first = on.transaction(async (tx) => {
      await tx.run('INSERT INTO T (ID) VALUES (1)');
      await held;
    });
    const second = insert(other, 2n);
    const early = await Promise.race([second.then(() => 'written'), systemClock.sleep(150).then(() => 'waits')]);
    expect(early).toBe('waits');
    release();
    await first;
    await second;
    expect(await ids(on)).toEqual([1n, 2n]);
    await other.close();
  });

  it('are refused when it is closed', async () => {
    const on = await open();
    await on.close();
    await expect(insert(on, 1n)).rejects.toMatchObject({ code: 'DATABASE_CLOSED' });
    db = undefined;
  });
});

describe('migrations', () => {
  const second: Migration = {
    id: 'test/002-more',
    async up(tx) {
      await tx.run('INSERT INTO T (ID) VALUES (42)');
    },
  };

  it('are applied once each', async () => {
    await (await open()).close();
    await (await open({ migrations: [create, second] })).close();
    expect(await ids(await open({ migrations: [create, second] }))).toEqual([42n]);
  });

  it('that fail leave nothing', async () => {
    const broken: Migration = {
      id: 'test/002-broken',
      up: async (tx) => void (await tx.run('INSERT INTO NOWHERE VALUES (1)')),
    };
    await expect(open({ migrations: [create, broken] })).rejects.toMatchObject({ code: 'DATABASE_STATEMENT' });
    expect(await ids(await open())).toEqual([]);
  });

  it('of a newer version are refused, of packages not loaded ignored', async () => {
    const foreign: Migration = { id: 'other/001', up: async () => undefined };
    await (await open({ migrations: [create, second, foreign] })).close();
    await expect(open({ migrations: [create] })).rejects.toMatchObject({ code: 'DATABASE_VERSION', kind: 'invalid' });
    expect(await ids(await open({ migrations: [create, second] }))).toEqual([42n]);
  });

  it('run once when many open at the same time', async () => {
    const url = `sqlite:${join(folder, 'same.db')}`;
    const opened = await Promise.all(
      Array.from({ length: 5 }, () => openDatabase({ url, migrations: [create, second] })),
    );
    expect(await ids(opened[4])).toEqual([42n]);
    for (const each of opened) await each.close();
  });
});

describe('what is wrong with the file', () => {
  const fails = async (url: string, code: string) => {
    const path = url.slice('sqlite:'.length);
    const failure = await openDatabase({ url, migrations: [create] }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(DatabaseError);
    expect(failure).toMatchObject({ code, path, message: expect.stringContaining(path) });
  };

  it('not a database', async () => {
    const path = join(folder, 'text.db');
    writeFileSync(
      path,
      'certainly not a database, but long enough to have a header of one hundred bytes, is it not? Yes, it is.',
    );
    await fails(`sqlite:${path}`, 'DATABASE_CORRUPT');
    expect(statSync(path).size).toBe(103);
  });

  it('a folder', () => fails(`sqlite:${folder}`, 'DATABASE_UNWRITABLE'));

  it('below a file', async () => {
    writeFileSync(join(folder, 'file'), '');
    await fails(`sqlite:${join(folder, 'file', 'm.db')}`, 'DATABASE_UNWRITABLE');
  });

  it('a damaged page', async () => {
    const on = await open();
    for (let i = 0n; i < 2000n; i += 100n) {
      await on.transaction(async (tx) => {
        for (let j = i; j < i + 100n; j++) await tx.run('INSERT INTO T (ID, NAME) VALUES (?, ?)', [j, 'x'.repeat(20)]);
      });
    }
    await on.close();
    const size = statSync(on.path).size;
    const bytes = Buffer.alloc(size - 8192, 0x5a);
    const { openSync, writeSync, closeSync } = await import('node:fs');
    const file = openSync(on.path, 'r+');
    writeSync(file, bytes, 0, bytes.length, 8192);
    closeSync(file);
    const damaged = open().then((again) => again.read((tx) => tx.all('SELECT * FROM T')));
    await expect(damaged).rejects.toMatchObject({ code: 'DATABASE_CORRUPT', kind: 'corrupt', path: on.path });
  });

  it('another kind of address, whose password is not shown', async () => {
    const failed = openDatabase({ url: 'postgres://user:secret@host/db' });
    await expect(failed).rejects.toMatchObject({ code: 'DATABASE_URL' });
    await expect(failed).rejects.not.toThrow('secret');
  });
});

describe('lists of ids', () => {
  it('are padded to few lengths', () => {
    expect(idList([1n, 2n, 3n])).toEqual({ sql: '(?,?,?,?)', params: [1n, 2n, 3n, 3n] });
    expect(idList([])).toEqual({ sql: '(?)', params: [-1n] });
    expect(chunked([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  });
});
