import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { TxnType } from '@skep/rpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openHome } from '../apps/cli/src/home.js';
import { type CliIo, main } from '../apps/cli/src/index.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const shared = process.env.SKEP_SHARED ?? join(root, '../shared');
const verbatim = join(shared, 'golden/verbatim');

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'skep-examples-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Runs the command line on the test's home, in this process. */
async function skep(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const texts = { out: '', err: '' };
  stdout.on('data', (chunk) => {
    texts.out += chunk;
  });
  stderr.on('data', (chunk) => {
    texts.err += chunk;
  });
  const io: CliIo = {
    stdin: new PassThrough(),
    stdout,
    stderr,
    env: { SKEP_HOME: home, SKEP_USER: 'demo' },
    openHome,
    onInterrupt: () => () => {},
  };
  const code = await main(args, io);
  return { code, ...texts };
}

const folders = (table: string): string[] => readdirSync(join(home, 'warehouse', table)).sort();

describe('emp', () => {
  it('tells of three inserts and a delete', async () => {
    const { code, out, err } = await skep('-f', join(root, 'examples/emp.sql'));
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(folders('emp')).toEqual([
      'delete_delta_0000004_0000004_0000',
      'delta_0000001_0000001_0000',
      'delta_0000002_0000002_0000',
      'delta_0000003_0000003_0000',
    ]);
    expect(out).toContain('1\tJerry\t5000\n2\tTom\t8000\n3\tKate\t6000\n');
    expect(out).toMatch(/\n-rw\S+ .*\/emp\/delete_delta_0000004_0000004_0000\/bucket_00000_0\n/);
    expect(out).toContain('{"writeid":3,"bucketid":536870912,"rowid":0}\t3\tKate\t6000\n');
    const dump = await skep('dump', '--data', join(home, 'warehouse/emp'));
    expect(dump.code).toBe(0);
    const events = dump.out.split('\n').filter((line) => line.startsWith('{'));
    expect(events).toHaveLength(4);
    expect(JSON.parse(events[0])).toEqual({
      operation: 2,
      originalTransaction: 2,
      bucket: 536870912,
      rowId: 0,
      currentTransaction: 4,
      row: null,
    });
    expect(JSON.parse(events[1])).toEqual({
      operation: 0,
      originalTransaction: 1,
      bucket: 536870912,
      rowId: 0,
      currentTransaction: 1,
      row: { id: 1, name: 'Jerry', salary: 5000 },
    });
    const read = await skep('read', '--row-ids', join(home, 'warehouse/emp'));
    expect(read.out.trim().split('\n').sort()).toEqual([
      '{"writeid":1,"bucketid":536870912,"rowid":0}\t1\tJerry\t5000',
      '{"writeid":3,"bucketid":536870912,"rowid":0}\t3\tKate\t6000',
    ]);
    const before = await skep(
      'read',
      '--write-ids',
      'default.emp:3:9223372036854775807::',
      join(home, 'warehouse/emp'),
    );
    expect(before.out.trim().split('\n').sort()).toEqual(['1\tJerry\t5000', '2\tTom\t8000', '3\tKate\t6000']);
  });
});

describe('trans_student', () => {
  it('tells of insert, update, delete and major compaction', async () => {
    const { code, out, err } = await skep('-f', join(root, 'examples/trans_student.sql'));
    expect(err).not.toContain('FAILED');
    expect(code).toBe(0);
    expect(out).toContain('1\tallen\t20\n2\tbeth\t19\n');
    expect(out).toMatch(/delta_0000002_0000002_0001\/bucket_/);
    expect(folders('trans_student')).toEqual([expect.stringMatching(/^base_0000003_v\d{7}$/)]);
    const dump = await skep('dump', '--data', join(home, 'warehouse/trans_student'));
    expect(dump.out.split('\n').filter((line) => line.startsWith('{'))).toHaveLength(1);
  });
});

describe('table_name', () => {
  it('tells of compactions with properties, and of an aborted transaction', async () => {
    const { code, out, err } = await skep('-f', join(root, 'examples/table_name.sql'));
    expect(err).not.toContain('FAILED');
    expect(code).toBe(0);
    expect(folders('table_name')).toEqual([expect.stringMatching(/^base_0000003_v\d{7}$/)]);
    expect(out).toMatch(/default\ttable_name\t --- \tMINOR\t(succeeded|ready for cleaning)/);
    expect(out).toMatch(/default\ttable_name\t --- \tMAJOR\t(succeeded|ready for cleaning)/);
    expect(out.endsWith('1\tone\n2\ttwo\n4\tfour\n')).toBe(true);

    const other = await openHome({ path: home });
    const { user, host, agentInfo } = other.services.identity;
    const { txnIds } = await other.services.txns.openTxns({
      count: 1,
      user,
      host,
      agentInfo,
      type: TxnType.TXN_TYPE_UNSPECIFIED,
    });
    const abort = await skep('-f', join(root, 'examples/table_name_abort.sql'), '--hivevar', `open_txn=${txnIds[0]}`);
    expect(abort.err).toBe('');
    expect(abort.out).toContain(`\n${txnIds[0]}\tOPEN\t`);
    const heartbeat = await other.services.txns.heartbeatTxns({ txnIds });
    expect(heartbeat.abortedTxnIds).toEqual(txnIds);
    await other.close();
  });
});

describe('transfer', () => {
  it('tells of a transaction over two tables, and of one that is rolled back', async () => {
    const { code, out, err } = await skep('-f', join(root, 'examples/transfer.sql'));
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(out).toContain('1\tAnn\t7500\n2\tBob\t3000\n1\t-2500\tto Bob, rent\n2\t2500\tfrom Ann\n');
    expect(out.endsWith('\n0\n10500\n')).toBe(true);
    expect(folders('movement')).toEqual([
      'delete_delta_0000001_0000001_0006',
      'delta_0000001_0000001_0002',
      'delta_0000001_0000001_0005',
      'delta_0000001_0000001_0007',
    ]);
  });
});

describe.skipIf(!existsSync(verbatim))('scripts as users publish them (../shared/golden/verbatim)', () => {
  it('emp.sql', async () => {
    const { code, out, err } = await skep('-f', join(verbatim, 'emp.sql'));
    expect({ code, failed: err.includes('FAILED') }).toEqual({ code: 0, failed: false });
    expect(out.endsWith('1\tJerry\t5000\n3\tKate\t6000\n')).toBe(true);
  });

  it('trans_student.sql', async () => {
    const { code, out } = await skep('-f', join(verbatim, 'trans_student.sql'));
    expect(code).toBe(0);
    expect(out).toContain('1\tallen\t20\n');
    expect(folders('trans_student')).toContain('delete_delta_0000003_0000003_0000');
  });

  it('table_name.sql', async () => {
    const { code, out, err } = await skep('-f', join(verbatim, 'table_name.sql'));
    expect({ code, failed: err.includes('FAILED') }).toEqual({ code: 0, failed: false });
    expect(out.trimEnd().split('\n').slice(-4).sort()).toEqual(['1\tone', '2\ttwo', '3\tthree', '4\tfour']);
  });
});
