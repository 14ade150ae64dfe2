import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { localFileSystem } from '@skep/storage';
import { afterAll, describe, expect, it } from 'vitest';
import { getAcidState } from '../state/get-acid-state.js';
import { goldenRoot, hiveSnapshots, schemaOf } from '../testing/golden.js';
import { dumpFolder } from '../testing/orc-dump.js';
import type { OrcFileOptions } from '../write/write-types.js';
import { compactMajor, compactMinor } from './compaction.js';

const fs = localFileSystem({ durable: false });
const scratch = mkdtempSync(join(tmpdir(), 'skep-compaction-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Case {
  readonly name: string;
  /** Snapshot before and after, both of the same table. */
  readonly from: string;
  readonly to: string;
  readonly table: string;
  readonly type: 'minor' | 'major';
  readonly txnId: bigint;
  readonly orc?: OrcFileOptions;
}

/** Compactions of the recordings whose input and output both are there. */
const cases: Case[] = [
  { name: 'seed_wiki_t', from: 'deltas', to: 'minor', table: 't', type: 'minor', txnId: 391n },
  {
    name: 'seed_wiki_t',
    from: 'minor',
    to: 'major',
    table: 't',
    type: 'major',
    txnId: 394n,
    orc: { tableProperties: { 'orc.compress.size': '8192' } },
  },
  { name: 'convert_original', from: 'converted', to: 'major', table: 'orig', type: 'minor', txnId: 105n },
  { name: 'compact_many', from: 'deltas', to: 'minor', table: 'cm', type: 'major', txnId: 57n },
  { name: 'aborted', from: 'aborted', to: 'major', table: 'ab', type: 'minor', txnId: 12n },
  { name: 'types_all', from: 'changed', to: 'major', table: 'ty', type: 'major', txnId: 415n },
  { name: 'large', from: 'deltas', to: 'major', table: 'big', type: 'major', txnId: 201n },
  { name: 'seed_emp', from: 'deleted', to: 'compacted', table: 'emp', type: 'major', txnId: 365n },
];

describe.skipIf(goldenRoot === undefined)('compactions give what Hive gave', () => {
  const snapshots = hiveSnapshots();

  it.each(cases)('$name: $type of $from', async (test) => {
    const before = snapshots.find(({ name }) => name === `${test.name} ${test.from} ${test.table}`);
    const after = snapshots.find(({ name }) => name === `${test.name} ${test.to} ${test.table}`);
    if (before === undefined || after === undefined) throw new TypeError('no such snapshot');
    const dir = join(scratch, `${test.name}-${test.to}`);
    cpSync(before.dir, dir, { recursive: true });
    const writeIds = ValidWriteIdList.forCompactor(ValidWriteIdList.parse(before.table.validWriteIds));
    const state = await getAcidState(fs, dir, writeIds, ValidTxnList.allValid());
    const input = {
      fs,
      state,
      writeIds,
      schema: schemaOf(before.table.columns),
      visibilityTxnId: test.txnId,
      orc: test.orc,
    };
    const result = test.type === 'major' ? await compactMajor(input) : await compactMinor(input);
    for (const written of result.directories) {
      const hives = join(after.dir, written.slice(dir.length + 1));
      expect(existsSync(hives), `${hives} is there`).toBe(true);
      expect(await dumpFolder(fs, written)).toEqual(await dumpFolder(fs, hives));
    }
    expect(result.directories.length).toBeGreaterThan(0);
  });
});
