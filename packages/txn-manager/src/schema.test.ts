import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '@skep/metadb';
import { describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../test/services.js';

const shared = process.env.SKEP_SHARED ?? join(import.meta.dirname, '../../../../shared');
const expected = join(shared, 'oracle/txn-tables.txt');
/** The compactor keeps these. */
const OTHERS = /COMPACTION/;

/** `TABLE: COLUMN type …, COLUMN type …` → its columns with their types, without constraints. */
function parse(line: string): [string, string[]] {
  const [table, rest] = line.split(/: /);
  const columns = rest.split(/, (?![^(]*\))/).flatMap((part) => {
    const match = /^([A-Z0-9_]+) (bigint|integer|char\(\d+\)|varchar\(\d+\)|timestamp|clob)/.exec(part);
    return match === null ? [] : [`${match[1]} ${match[2]}`];
  });
  return [table, columns];
}

describe.skipIf(!existsSync(expected))('the transaction tables that Hive 4.0.1 expects', () => {
  const lines = existsSync(expected) ? readFileSync(expected, 'utf8').split('\n') : [];
  const tables = lines.filter((line) => /^[A-Z]/.test(line)).map(parse);

  it.each(tables.filter(([table]) => !OTHERS.test(table)))('%s', async (table, columns) => {
    const db = await openDatabase({ url: 'sqlite::memory:', migrations: MIGRATIONS });
    const rows = await db.read((tx) => tx.all<{ name: string; type: string }>(`PRAGMA table_info(${table})`));
    // TXN_ID must be INTEGER for SQLite to number it; it has no `clob` but `text`.
    const found = rows.map(({ name, type }) => `${name} ${type.toLowerCase()}`.replace(/ text$/, ' clob'));
    expect(found.sort()).toEqual(columns.map((c) => c.replace(/^TXN_ID bigint/, 'TXN_ID integer')).sort());
    await db.close();
  });

  it('with the rows they start with', async () => {
    const db = await openDatabase({ url: 'sqlite::memory:', migrations: MIGRATIONS });
    expect(await db.read((tx) => tx.all('SELECT * FROM TXNS'))).toEqual([
      {
        TXN_ID: 0n,
        TXN_STATE: 'c',
        TXN_STARTED: 0n,
        TXN_LAST_HEARTBEAT: 0n,
        TXN_USER: '',
        TXN_HOST: '',
        TXN_AGENT_INFO: null,
        TXN_META_INFO: null,
        TXN_HEARTBEAT_COUNT: null,
        TXN_TYPE: null,
      },
    ]);
    expect(await db.read((tx) => tx.column('SELECT TXN_LOCK FROM TXN_LOCK_TBL'))).toEqual([1n]);
    expect(await db.read((tx) => tx.column('SELECT NL_NEXT FROM NEXT_LOCK_ID'))).toEqual([1n]);
    await db.close();
  });
});
