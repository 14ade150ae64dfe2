import { LONG_MIN, ValidTxnList, ValidWriteIdList } from '@skep/core';
import { memoryFileSystem, writeFile } from '@skep/storage';
import { describe, expect, it } from 'vitest';
import { writeEmptyBase } from '../write/table-dir.js';
import { type AcidDecision, decideAcidState } from './decide-acid-state.js';
import { getAcidState } from './get-acid-state.js';

const children = (...names: string[]) => names.map((name) => ({ path: `/t/${name}`, name }));
const writeIds = (text: string) => ValidWriteIdList.parse(text);
const allTxns = ValidTxnList.allValid();
const short = (paths: readonly string[]) => paths.map((path) => path.slice('/t/'.length));
const summary = (state: AcidDecision) => ({
  base: state.base?.name,
  deltas: state.deltas.map((delta) => delta.name),
  obsolete: short(state.obsolete),
  aborted: short(state.aborted),
});

describe('decideAcidState', () => {
  it('takes the newest base and what comes after', () => {
    const listing = children(
      'base_0000002_v0000010',
      'base_0000004',
      'delta_0000003_0000003_0000',
      'delta_0000005_0000005_0000',
    );
    expect(summary(decideAcidState(listing, writeIds('t:9'), allTxns))).toEqual({
      base: 'base_0000004',
      deltas: ['delta_0000005_0000005_0000'],
      obsolete: ['base_0000002_v0000010', 'delta_0000003_0000003_0000'],
      aborted: [],
    });
  });

  it('prefers a compacted base of the same write id', () => {
    const listing = children('base_0000004', 'base_0000004_v0000010');
    expect(summary(decideAcidState(listing, writeIds('t:9'), allTxns))).toMatchObject({
      base: 'base_0000004_v0000010',
      obsolete: ['base_0000004'],
    });
  });

  it('never sees the result of a compaction that is open or aborted', () => {
    const listing = children('delta_0000001_0000001_0000', 'base_0000001_v0000007', 'delta_0000001_0000001_v0000008');
    const txns = ValidTxnList.parse('9:7:7:8');
    expect(summary(decideAcidState(listing, writeIds('t:1'), txns))).toEqual({
      base: undefined,
      deltas: ['delta_0000001_0000001_0000'],
      obsolete: [],
      aborted: ['delta_0000001_0000001_v0000008'],
    });
  });

  it('keeps wider deltas and both halves of a minor compaction', () => {
    const listing = children(
      'delta_0000001_0000001_0000',
      'delta_0000001_0000004_v0000020',
      'delete_delta_0000001_0000004_v0000020',
      'delete_delta_0000003_0000003_0000',
      'delta_0000005_0000005_0000',
    );
    expect(summary(decideAcidState(listing, writeIds('t:5'), allTxns))).toMatchObject({
      deltas: ['delete_delta_0000001_0000004_v0000020', 'delta_0000001_0000004_v0000020', 'delta_0000005_0000005_0000'],
      obsolete: ['delta_0000001_0000001_0000', 'delete_delta_0000003_0000003_0000'],
    });
  });

  it('keeps all statements of a write', () => {
    const listing = children(
      'delta_0000002_0000002_0001',
      'delete_delta_0000002_0000002_0000',
      'delta_0000002_0000002_0002',
    );
    expect(decideAcidState(listing, writeIds('t:2'), allTxns).deltas).toHaveLength(3);
  });

  it('tells aborted writes apart', () => {
    const listing = children(
      'delta_0000001_0000001_0000',
      'delta_0000002_0000002_0000',
      'delta_0000003_0000006',
      'base_0000007',
    );
    const state = decideAcidState(listing, writeIds('t:8:9223372036854775807::2,4,7'), allTxns);
    expect(summary(state)).toEqual({
      base: undefined,
      deltas: ['delta_0000001_0000001_0000', 'delta_0000003_0000006'],
      obsolete: [],
      aborted: ['delta_0000002_0000002_0000', 'base_0000007'],
    });
    expect(state.uncompactedAborts).toBe(true);
    expect(state.abortedWriteIds).toEqual([2n, 7n]);
  });

  // bug-reports B10, B11
  it('leaves a base that holds the future, or says that history is gone', () => {
    const deltas = ['delta_0000001_0000001_0000', 'delta_0000002_0000002_0000', 'delta_0000003_0000003_0000'];
    const list = writeIds('t:3');
    expect(
      summary(decideAcidState(children('base_0000005_v0000009', 'base_0000001', ...deltas), list, allTxns)),
    ).toMatchObject({
      base: 'base_0000001',
      deltas: deltas.slice(1),
    });
    expect(() => decideAcidState(children('base_0000005_v0000009'), list, allTxns)).toThrow(
      expect.objectContaining({ hiveCode: 10327, message: expect.stringContaining('(3,x)') }),
    );
    const aborted = writeIds('t:3:9223372036854775807::2');
    expect(decideAcidState(children('base_0000003_v0000009'), aborted, allTxns).base?.writeId).toBe(3n);
    expect(() => decideAcidState(children('base_0000003_v0000009'), writeIds('t:3:2:2:'), allTxns)).toThrow(
      /10327|history/,
    );
  });

  it('never shows an overwrite that is still open', () => {
    const listing = children('delta_0000001_0000001_0000', 'base_0000002');
    expect(summary(decideAcidState(listing, writeIds('t:3:2:2:'), allTxns))).toMatchObject({
      base: undefined,
      deltas: ['delta_0000001_0000001_0000'],
    });
  });

  it('takes the base of original files always', () => {
    const listing = children(`base_${LONG_MIN}_v0000004`, 'delta_10000001_10000001_0000');
    expect(summary(decideAcidState(listing, writeIds('t:10000001'), allTxns))).toMatchObject({
      base: `base_${LONG_MIN}_v0000004`,
      deltas: ['delta_10000001_10000001_0000'],
    });
  });
});

describe('getAcidState', () => {
  const empty = new Uint8Array(0);

  it('lists data files only', async () => {
    const fs = memoryFileSystem();
    for (const path of [
      '000000_0',
      'sub/000001_0',
      '_tmp_x/000000_0',
      '.hidden',
      'delta_0000001_0000001_0000/bucket_00000_0',
      'delta_0000001_0000001_0000/_orc_acid_version',
      // bug-reports B08, B13
      'delta_0000001_0000001_0000/delta_0000001_0000001_0000/bucket_00000_0',
      'delta_0000002_0000004/bucket_00000',
      'delta_0000002_0000004/bucket_00000_flush_length',
      'delta_0000005_0000005_0000/000000_0',
    ]) {
      await writeFile(fs, `/t/${path}`, empty);
    }
    const state = await getAcidState(fs, '/t', ValidWriteIdList.allValid(), allTxns);
    expect(short(state.originals.map((file) => file.path))).toEqual(['000000_0', 'sub/000001_0']);
    expect(
      state.deltas.map((delta) => [delta.isRaw, delta.hasVersionFile, short(delta.files.map((f) => f.path))]),
    ).toEqual([
      [false, true, ['delta_0000001_0000001_0000/bucket_00000_0']],
      [false, false, ['delta_0000002_0000004/bucket_00000']],
      [true, false, ['delta_0000005_0000005_0000/000000_0']],
    ]);
    expect(state.deltas[1].files[0].flushLengthPath).toBe('/t/delta_0000002_0000004/bucket_00000_flush_length');
  });

  it('makes originals obsolete below a base', async () => {
    const fs = memoryFileSystem();
    await writeFile(fs, '/t/000000_0', empty);
    await writeFile(fs, '/t/base_0000005_v0000001/bucket_00000', empty);
    const state = await getAcidState(fs, 'file:/t', ValidWriteIdList.allValid(), allTxns);
    expect(state.originals).toEqual([]);
    expect(state.obsolete).toEqual(['file:/t/000000_0']);
    expect(state.base?.path).toBe('file:/t/base_0000005_v0000001');
  });

  it('knows the bases of Hive 3.1 compactors', async () => {
    const fs = memoryFileSystem();
    const metadata = new TextEncoder().encode('{"thisFileVersion":"0","dataFormat":"compacted"}');
    await writeFile(fs, '/t/base_0000005/_metadata_acid', metadata);
    await writeFile(fs, '/t/base_0000005/bucket_00000', empty);
    const state = await getAcidState(fs, '/t', ValidWriteIdList.parse('t:9:9223372036854775807::5'), allTxns);
    expect(state.base?.isCompacted).toBe(true);
  });

  it('does without a base of an aborted write that is removed while it is looked at', async () => {
    const fs = memoryFileSystem();
    await writeEmptyBase(fs, '/t', 5n);
    await writeFile(fs, '/t/delta_0000004_0000004_0000/bucket_00000', empty);
    const removing = {
      ...fs,
      open: async (path: string) => {
        await fs.delete('/t/base_0000005', { recursive: true });
        return await fs.open(path);
      },
    };
    const state = await getAcidState(removing, '/t', writeIds('t:5:9223372036854775807::5'), allTxns);
    expect(state).toMatchObject({ base: undefined, deltas: [{ name: 'delta_0000004_0000004_0000' }] });
  });

  it('is empty where there is no folder', async () => {
    const state = await getAcidState(memoryFileSystem(), '/none', ValidWriteIdList.allValid(), allTxns);
    expect(state).toMatchObject({ base: undefined, deltas: [], originals: [] });
  });
});
