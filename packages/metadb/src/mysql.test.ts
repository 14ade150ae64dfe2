import { systemClock } from '@skep/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasMariadb, mariadbUrl, startMariadb, TestDatabase } from '../test/mariadb.js';
import { mysqlDialect } from './dialect.js';
import { createTables, type Database, insertNumbered, type Migration, openDatabase, type Statement } from './index.js';
import { parseMysqlUrl } from './mysql-url.js';

const create: Migration = {
  id: 'test/001-create',
  async up(tx) {
    const { text, autoIncrement } = tx.dialect;
    await createTables(tx, [
      { name: 'T', columns: `ID bigint NOT NULL PRIMARY KEY, NAME varchar(20)${text}, B varbinary(9), F bit(1)` },
      { name: 'N', columns: `ID ${autoIncrement}, V int` },
    ]);
  },
};

describe('the address', () => {
  it('has all parts', () => {
    expect(parseMysqlUrl('mysql://a%40b:p%3Aw@h/db?connections=3')).toMatchObject({
      host: 'h',
      port: 3306,
      user: 'a@b',
      password: 'p:w',
      database: 'db',
      connections: 3,
      ssl: undefined,
    });
  });

  it.each([
    ['mysql://u:secret@h/', 'not of the form'],
    ['mysql://u:secret@h/a`b', 'no name of a database'],
    ['mysql://u:secret@h/db?pool=3', 'unknown option pool'],
    ['mysql://u:secret@h/db?connections=0', 'from 1 to'],
    ['mysql://u:secret@h/db?sslCa=/nowhere', '/nowhere cannot be read'],
    ['mysql://u:secret@h/db?sslVerify=ca', 'sslVerify needs ssl=true or sslCa'],
    ['mysql://u:secret@h/db?ssl=true&sslVerify=no', 'sslVerify must be identity or ca'],
    ['mysql://u:secret@127.0.0.1/db?ssl=true', 'give a name instead of an IP address, or sslVerify=ca'],
  ])('%s is refused, without the password', async (url, message) => {
    const failure = await openDatabase({ url }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'DATABASE_URL', message: expect.stringContaining(message) });
    expect(String(failure)).not.toContain('secret');
  });
});

it.each([
  ['10.11.18-MariaDB-0+deb12u1', 'utf8mb4_nopad_bin'],
  ['5.5.5-10.6.1-MariaDB', 'utf8mb4_nopad_bin'],
  ['8.0.15', 'utf8mb4_bin'],
  ['8.0.17', 'utf8mb4_0900_bin'],
  ['8.4.3-commercial', 'utf8mb4_0900_bin'],
  ['9.1.0', 'utf8mb4_0900_bin'],
])('texts of a server %s are compared by %s', (version, collation) => {
  expect(mysqlDialect(version).text).toBe(` CHARACTER SET utf8mb4 COLLATE ${collation}`);
});

describe.skipIf(!hasMariadb)('MariaDB', () => {
  let test: TestDatabase;
  let db: Database | undefined;
  beforeAll(async () => {
    test = await TestDatabase.create([create]);
  });
  afterAll(() => test.drop());
  beforeEach(() => test.reset());
  afterEach(async () => {
    await db?.close();
    db = undefined;
  });
  const open = async (fields: Partial<Parameters<typeof openDatabase>[0]> = {}) => {
    db = await openDatabase({ url: test.url, migrations: [create], ...fields });
    return db;
  };

  it('keeps 64 bits, every script, bytes and bits', async () => {
    const on = await open();
    const name = "č'東\\京🐝 ?";
    await on.transaction((tx) =>
      tx.run('INSERT INTO T VALUES (?, ?, ?, ?)', [9223372036854775807n, name, Uint8Array.of(0, 39, 255), true]),
    );
    const rows = await on.read((tx) => tx.all('SELECT ID, NAME, B, F, 1 + 1 AS S, SUM(ID) OVER () AS U FROM T'));
    expect(rows).toEqual([
      {
        ID: 9223372036854775807n,
        NAME: name,
        B: Buffer.of(0, 39, 255),
        F: Buffer.of(1),
        S: 2n,
        U: 9223372036854775807n,
      },
    ]);
    // MySQL before 8.0.17 has no binary collation that tells them apart.
    const blind = on.dialect.text.endsWith('utf8mb4_bin') ? [9223372036854775807n] : [];
    expect(await on.read((tx) => tx.column('SELECT ID FROM T WHERE NAME = ?', [`${name} `]))).toEqual(blind);
  });

  it('numbers rows of one statement, and counts rows that match', async () => {
    const on = await open();
    const ids = await on.transaction((tx) =>
      insertNumbered(
        tx,
        'N',
        ['V'],
        Array.from({ length: 300 }, (_, i) => [i]),
      ),
    );
    expect(ids).toEqual(Array.from({ length: 300 }, (_, i) => BigInt(i + 1)));
    const [same] = await on.run([['UPDATE N SET V = V WHERE ID < 4']]);
    expect(same.changes).toBe(3);
  });

  it('undoes what fails, reads one snapshot, writes nothing in a read', async () => {
    const on = await open();
    const failed = on.transaction(async (tx) => {
      await tx.run('INSERT INTO T (ID) VALUES (1)');
      await tx.run('INSERT INTO T (ID) VALUES (1)');
    });
    await expect(failed).rejects.toMatchObject({ code: 'DATABASE_CONSTRAINT' });
    const counts = await on.read(async (tx) => {
      const before = await tx.column('SELECT COUNT(*) FROM T');
      await on.run([['INSERT INTO T (ID) VALUES (2)']]);
      return [...before, ...(await tx.column('SELECT COUNT(*) FROM T'))];
    });
    expect(counts).toEqual([0n, 0n]);
    await expect(on.read((tx) => tx.run('DELETE FROM T'))).rejects.toMatchObject({ code: 'DATABASE_STATEMENT' });
    expect(await on.read((tx) => tx.column('SELECT ID FROM T'))).toEqual([2n]);
  });

  it('ends with statements at once: answers queries, commits all or nothing', async () => {
    const on = await open();
    const name = "č'; COMMIT;\\京🐝 ? END";
    const found = await on.transaction((tx) =>
      tx.runLast([
        ['INSERT INTO T (ID, NAME, B) VALUES (?, ?, ?)', [1, name, Uint8Array.of(0, 39, 255)]],
        ['SELECT ID, NAME FROM T WHERE NAME = ?', [name]],
        ['UPDATE T SET F = ? WHERE ID = ?', [true, 9]],
        ['SELECT ID FROM T WHERE ID = 9'],
        ['SELECT B FROM T'],
      ]),
    );
    expect(found).toEqual([[], [{ ID: 1n, NAME: name }], [], [], [{ B: Buffer.of(0, 39, 255) }]]);
    const failing: readonly (readonly [Statement, string])[] = [
      [['INSERT INTO T (ID) VALUES (1)'], 'DATABASE_CONSTRAINT'],
      [['INSERT INTO T (ID, NAME) VALUES (4, ?)', ['x'.repeat(300)]], 'DATABASE_VALUE'],
      [['INSERT INTO NOWHERE VALUES (1)'], 'DATABASE_STATEMENT'],
    ];
    for (const [last, code] of failing) {
      const failed = on.transaction(async (tx) => {
        await tx.run('INSERT INTO T (ID) VALUES (2)');
        await tx.runLast([['INSERT INTO T (ID) VALUES (3)'], last]);
      });
      await expect(failed).rejects.toMatchObject({ code });
    }
    expect(await on.transaction((tx) => tx.runLast([]))).toEqual([]);
    expect(await on.read((tx) => tx.column('SELECT ID FROM T'))).toEqual([1n]);
  });

  it('runs again what a deadlock ended', async () => {
    const on = await open();
    await on.run([['INSERT INTO T (ID) VALUES (1), (2)']]);
    let runs = 0;
    const both = async (first: bigint, second: bigint) =>
      on.transaction(async (tx) => {
        runs++;
        await tx.all('SELECT ID FROM T WHERE ID = ? FOR UPDATE', [first]);
        await systemClock.sleep(100);
        const named = "UPDATE T SET NAME = CONCAT(COALESCE(NAME, ''), ?) WHERE ID = ?";
        await tx.runLast([[named, [String(first), second]], ['SELECT 1']]);
      });
    await Promise.all([both(1n, 2n), both(2n, 1n)]);
    expect(runs).toBeGreaterThan(2);
    expect(await on.read((tx) => tx.column('SELECT NAME FROM T ORDER BY ID'))).toEqual(['2', '1']);
  });

  it('runs again after a message that is said to pass, also of the transaction as a whole', async () => {
    const attempts = async (retryable?: readonly RegExp[]): Promise<number> => {
      await db?.close();
      const on = await open(retryable === undefined ? {} : { retryable });
      let runs = 0;
      return await on.transaction(async (tx) => {
        runs++;
        await tx.run('INSERT INTO T (ID) VALUES (1)');
        if (runs < 3) await tx.run("SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'node 7 is not ready'");
        await tx.run('DELETE FROM T');
        return runs;
      });
    };
    await expect(attempts()).rejects.toThrow(/node 7 is not ready/);
    await expect(attempts([/^node \d is not ready$/])).rejects.toThrow(/node 7 is not ready/);
    expect(await attempts([/^never$/, /^.*node \d is not ready \(SQLState=45000, ErrorCode=1644\)$/])).toBe(3);
  });

  it('a row that two add at once is there for the second', async () => {
    const on = await open();
    const add = () =>
      on.transaction(async (tx) => {
        const row = await tx.get('SELECT ID FROM T WHERE ID = 7 FOR UPDATE');
        await systemClock.sleep(30);
        if (row === undefined) await tx.run('INSERT INTO T (ID) VALUES (7)');
        return row === undefined ? 'added' : 'found';
      });
    expect((await Promise.all([add(), add()])).sort()).toEqual(['added', 'found']);
  });

  it('waits for a connection, not for ever, and gives up when told', async () => {
    const on = await open({ url: `${test.url}?connections=1`, maxHoldMs: 200 });
    const held = on.transaction(async (tx) => {
      await tx.all('SELECT 1 AS N');
      await systemClock.sleep(600);
    });
    const stop = new AbortController();
    const told = on.read((tx) => tx.all('SELECT 1 AS N'), { signal: stop.signal });
    const late = on.read((tx) => tx.all('SELECT 1 AS N'));
    stop.abort(new TypeError('told'));
    await expect(told).rejects.toThrow('told');
    await expect(late).rejects.toMatchObject({ code: 'DATABASE_LOCKED', kind: 'unavailable' });
    await held;
    await on.close();
    await expect(on.read((tx) => tx.all('SELECT 1 AS N'))).rejects.toMatchObject({ code: 'DATABASE_CLOSED' });
    db = undefined;
  });

  it('names what keeps it out', async () => {
    const fails = async (url: string, code: string, kind: string) => {
      const failure = await openDatabase({ url, migrations: [create] }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code, kind, path: expect.stringContaining('***') });
      expect(String(failure)).not.toContain('mine');
    };
    await fails(test.url.replace(':mine@', ':minenot@'), 'DATABASE_DENIED', 'invalid');
    await fails(test.url.replace(/:\d+\//, ':1/'), 'DATABASE_UNREACHABLE', 'unavailable');
    const on = await open();
    await expect(on.run([['INSERT INTO T (ID, NAME) VALUES (1, ?)', ['x'.repeat(21)]]])).rejects.toMatchObject({
      code: 'DATABASE_VALUE',
    });
    // May look, but neither make tables nor write.
    const looker = `l${process.pid}`;
    await test.query(`CREATE USER ${looker}@'%' IDENTIFIED BY 'mine'; GRANT SELECT ON ${test.name}.* TO ${looker}@'%'`);
    const more: Migration = { id: 'test/003', up: (tx) => createTables(tx, [{ name: 'M', columns: 'ID int' }]) };
    const looking = openDatabase({ url: test.url.replace('APP', looker), migrations: [create, more] });
    await expect(looking).rejects.toMatchObject({
      code: 'DATABASE_DENIED',
      kind: 'invalid',
      message: expect.stringMatching(/the user lacks a privilege \(.*CREATE/),
    });
    await test.query(`DROP USER ${looker}@'%'`);
    // Nobody but an administrator writes now.
    const user = `r${process.pid}`;
    await test.query(`CREATE USER ${user}@'%' IDENTIFIED BY 'mine'; GRANT ALL ON ${test.name}.* TO ${user}@'%';
      SET GLOBAL read_only = 1`);
    try {
      const reader = await openDatabase({ url: test.url.replace('APP', user), migrations: [create] });
      const write = reader.run([['INSERT INTO T (ID) VALUES (1)']]);
      await expect(write).rejects.toMatchObject({ code: 'DATABASE_UNWRITABLE', kind: 'invalid' });
      await reader.close();
      const missing = test.url.replace('APP', user).replace(test.name, 'not_there');
      await fails(missing, 'DATABASE_DENIED', 'invalid');
    } finally {
      await test.query(`SET GLOBAL read_only = 0; DROP USER ${user}@'%'`);
    }
  });

  it('is made by many at once, each change once', async () => {
    const url = `${await mariadbUrl()}/${test.name}_new`;
    const second: Migration = { id: 'test/002', up: async (tx) => void (await tx.run('INSERT INTO N (V) VALUES (1)')) };
    const opened = await Promise.all(
      Array.from({ length: 5 }, () => openDatabase({ url, migrations: [create, second] })),
    );
    expect(await opened[3].read((tx) => tx.column('SELECT V FROM N'))).toEqual([1n]);
    for (const each of opened) await each.close();
    await test.query(`DROP DATABASE ${test.name}_new`);
  });

  it('goes on where a process died between two changes', async () => {
    const other = await TestDatabase.create();
    await other.query('CREATE TABLE T (ID bigint NOT NULL PRIMARY KEY, NAME varchar(20))');
    const on = await openDatabase({ url: other.url, migrations: [create] });
    expect(await on.read((tx) => tx.column('SELECT COUNT(*) FROM N'))).toEqual([0n]);
    await on.close();
    await other.drop();
  });

  it("takes Hive 4.0's schema, refuses others by name", async () => {
    const other = await TestDatabase.create();
    await other.query(`CREATE TABLE VERSION (VER_ID bigint PRIMARY KEY, SCHEMA_VERSION varchar(127), VERSION_COMMENT varchar(255));
      INSERT INTO VERSION VALUES (1, '3.1.0', '')`);
    await expect(openDatabase({ url: other.url, migrations: [create] })).rejects.toMatchObject({
      code: 'DATABASE_VERSION',
      kind: 'invalid',
      message: expect.stringContaining('Hive 3.1.0'),
    });
    await other.query('DELETE FROM VERSION; CREATE TABLE TBLS (TBL_ID bigint PRIMARY KEY)');
    const halfMade = expect.stringContaining(
      "table TBLS of a Hive metastore, but VERSION does not say which: Hive's schematool",
    );
    await expect(openDatabase({ url: other.url, migrations: [create] })).rejects.toMatchObject({ message: halfMade });
    await other.query("DROP TABLE TBLS; INSERT INTO VERSION VALUES (1, '4.0.0', '')");
    await (await openDatabase({ url: other.url, migrations: [create] })).close();
    await other.drop();
  });
});

describe.skipIf(!hasMariadb)('MariaDB that is restarted', () => {
  it('is found again, and what it had not committed is run again', async () => {
    const server = await startMariadb();
    try {
      const on = await openDatabase({ url: `${server.url}/r`, migrations: [create] });
      let runs = 0;
      await on.transaction(async (tx) => {
        await tx.run('INSERT INTO T (ID) VALUES (?)', [runs]);
        if (runs++ === 0) await server.restart();
        await tx.run('INSERT INTO T (ID) VALUES (?)', [runs + 10]);
      });
      expect(await on.read((tx) => tx.column('SELECT ID FROM T ORDER BY ID'))).toEqual([1n, 12n]);
      await on.close();
    } finally {
      await server.stop();
    }
  });
});
