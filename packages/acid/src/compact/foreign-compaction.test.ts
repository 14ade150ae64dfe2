import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { typeToString } from '@skep/orc';
import { localFileSystem } from '@skep/storage';
import { afterAll, describe, expect, it } from 'vitest';
import { type CompactionInput, type CompactionResult, compactMajor, compactMinor } from '../index.js';
import { readTableDir } from '../read/read-table-dir.js';
import { getAcidState } from '../state/get-acid-state.js';
import { AcidTable } from '../testing/acid-table.js';
import { goldenRoot } from '../testing/golden.js';

const fs = localFileSystem({ durable: false });
const scratch = mkdtempSync(join(tmpdir(), 'skep-foreign-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const tables = [
  ['trino-476/bucketed/b', 'trino'],
  ['trino-476/ctas/ct', 'trino'],
  ['trino-476/dml/t', 'trino'],
  ['trino-476/partitioned/p/ds=x', 'trino'],
  ['trino-476/types/ty', 'trino'],
  ['hive-2.3.9/update_events', 'hive2'],
] as const;

/** Compacts a copy, drops what the compaction replaces, and compares the rows and their ROW__IDs. */
async function compactCopy(
  source: string,
  compact: (input: CompactionInput) => Promise<CompactionResult>,
): Promise<{ before: string[]; after: string[] }> {
  const dir = mkdtempSync(join(scratch, 'table-'));
  cpSync(join(String(goldenRoot), source), dir, { recursive: true });
  const { schema } = await readTableDir(fs, dir);
  const table = new AcidTable(fs, dir, typeToString(schema));
  const before = (await table.rows()).sort();
  const writeIds = ValidWriteIdList.forCompactor(ValidWriteIdList.allValid());
  const state = await getAcidState(fs, dir, writeIds, ValidTxnList.allValid());
  await compact({ fs, state, writeIds, schema, visibilityTxnId: 7n });
  const { obsolete } = await table.state();
  for (const path of obsolete) await fs.delete(path, { recursive: true });
  return { before, after: (await table.rows()).sort() };
}

describe.skipIf(goldenRoot === undefined)('compacting what others wrote keeps every row', () => {
  it.each(tables)('%s, major', async (source) => {
    const { before, after } = await compactCopy(source, compactMajor);
    expect(before.length).toBeGreaterThan(0);
    expect(after).toEqual(before);
  });

  it.each(tables.filter(([, writer]) => writer === 'trino'))('%s, minor', async (source) => {
    const { before, after } = await compactCopy(source, compactMinor);
    expect(after).toEqual(before);
  });

  it('refuses a minor compaction of update events', async () => {
    await expect(compactCopy('hive-2.3.9/update_events', compactMinor)).rejects.toMatchObject({
      code: 'MINOR_COMPACTION_UNSUPPORTED',
    });
  });
});
