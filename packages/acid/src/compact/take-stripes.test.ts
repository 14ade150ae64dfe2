import { ValidWriteIdList } from '@skep/core';
import type { Sarg } from '@skep/orc';
import { memoryFileSystem } from '@skep/storage';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeBucketProperty } from '../layout/bucket-property.js';
import { AcidTable, type RowId } from '../testing/acid-table.js';
import type { OrcFileOptions } from '../write/write-types.js';
import { compactMajor, compactMinor } from './compaction.js';
import type { CompactionResult } from './compaction-input.js';

const b0 = encodeBucketProperty(0, 0);
const NO_OPEN = '9223372036854775807';
const SCHEMAS = ['struct<id:int,s:string>', 'struct<id:int,s:string,more:double>'] as const;
/** As many row groups as rows allow; stripes of any size. */
const SMALL: OrcFileOptions = { rowIndexStride: 4, bloomFilterColumns: ['s'], baseDeltaRatio: 1 };

const rows = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: from + i, s: `text ${(from + i) % 17}`, more: (from + i) / 2 }));

type Step =
  | { readonly kind: 'insert'; readonly statements: readonly number[]; readonly abort: boolean }
  | { readonly kind: 'delete' | 'update'; readonly every: number; readonly recent: boolean; readonly abort: boolean }
  | { readonly kind: 'minor' | 'major' | 'addColumn' | 'codec' };

const often = { maxLength: 14, minLength: 4 };
const aborts = fc.constantFrom(false, false, false, true);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('insert' as const),
        statements: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 3 }),
        abort: aborts,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('delete' as const, 'update' as const),
        every: fc.integer({ min: 1, max: 12 }),
        recent: fc.boolean(),
        abort: aborts,
      }),
    },
    { weight: 4, arbitrary: fc.constantFrom('minor' as const, 'major' as const).map((kind) => ({ kind })) },
    { weight: 1, arbitrary: fc.constantFrom('addColumn' as const, 'codec' as const).map((kind) => ({ kind })) },
  ),
  often,
);

/** Two tables with the same history, of which one takes stripes over and the other writes all rows anew. */
class Twins {
  readonly tables = [memoryFileSystem(), memoryFileSystem()].map(() => memoryFileSystem());
  private schema = 0;
  private orc: OrcFileOptions = SMALL;
  private next = 1n;
  private nextId = 0;
  private txn = 100n;
  private readonly aborted: bigint[] = [];
  taken = 0;

  private views(): AcidTable[] {
    const bucketing = { columns: [0], buckets: 2, version: 2 } as const;
    return this.tables.map((fs) => new AcidTable(fs, '/t', SCHEMAS[this.schema], { bucketing, orc: this.orc }));
  }

  private get writeIds(): ValidWriteIdList {
    return ValidWriteIdList.parse(`t:${this.next - 1n}:${NO_OPEN}::${this.aborted.join(',')}`);
  }

  async rowsOf(sarg?: Sarg): Promise<string[][]> {
    const scan = { writeIds: this.writeIds, ...(sarg === undefined ? {} : { sarg }) };
    return Promise.all(this.views().map(async (table) => (await table.rows(scan)).sort()));
  }

  async do(step: Step): Promise<void> {
    switch (step.kind) {
      case 'insert': {
        const writeId = this.begin(step.abort);
        for (const [statement, count] of step.statements.entries()) await this.insert(writeId, statement, count);
        return;
      }
      case 'delete':
      case 'update':
        return this.delete(step);
      case 'addColumn':
        this.schema = 1;
        return;
      case 'codec':
        this.orc = { ...SMALL, compress: this.orc.compress === undefined ? 'snappy' : 'zstd' };
        return;
      default:
        return this.compact(step.kind);
    }
  }

  private begin(abort: boolean): bigint {
    const writeId = this.next++;
    if (abort) this.aborted.push(writeId);
    return writeId;
  }

  private async insert(writeId: bigint, statement: number, count: number): Promise<void> {
    const values = rows(this.nextId, count).map(({ more, ...row }) => (this.schema === 1 ? { ...row, more } : row));
    this.nextId += count;
    for (const table of this.views()) await table.insert(writeId, statement, values);
  }

  private async delete(step: Extract<Step, { every: number }>): Promise<void> {
    const [all] = await this.rowsOf();
    const from = step.recent ? Math.floor(all.length * 0.9) : 0;
    const chosen = all.slice(from).filter((_, i) => i % step.every === 0);
    const ids = chosen
      .map((row) => row.split('|')[0].split(','))
      .map(([writeId, bucket, rowId]): RowId => [BigInt(writeId), Number(bucket), BigInt(rowId)]);
    const writeId = this.begin(step.abort);
    for (const table of this.views()) if (ids.length > 0) await table.delete(writeId, 0, ids);
    if (step.kind === 'update' && ids.length > 0) await this.insert(writeId, 1, ids.length);
  }

  private async compact(kind: 'minor' | 'major'): Promise<void> {
    const writeIds = ValidWriteIdList.forCompactor(this.writeIds);
    this.txn++;
    for (const [i, table] of this.views().entries()) {
      const state = await table.state(writeIds);
      // As the Worker: a delta and its deletes, once compacted, are what a minor compaction leaves.
      const due = state.deltas.length > (kind === 'minor' ? 1 : 0);
      if (!due || (kind === 'minor' && new Set(state.deltas.map(({ maxWriteId }) => maxWriteId)).size < 2)) continue;
      const leastStripeBytes = i === 0 ? 1 : Number.POSITIVE_INFINITY;
      const { fs, schema } = table;
      const input = { fs, state, writeIds, schema, visibilityTxnId: this.txn, orc: this.orc, leastStripeBytes };
      const { stripesTaken } = await (kind === 'minor' ? compactMinor : compactMajor)(input);
      if (i === 0) this.taken += stripesTaken;
      else expect(stripesTaken).toBe(0);
    }
  }
}

describe('taking stripes over', () => {
  it('gives the rows, ROW__IDs and answers of search arguments that writing all rows anew gives', async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const twins = new Twins();
        for (const step of history) {
          const compacts = step.kind === 'minor' || step.kind === 'major';
          const [before] = compacts ? await twins.rowsOf() : [[]];
          await twins.do(step);
          if (!compacts) continue;
          const [own, other] = await twins.rowsOf();
          expect(own).toEqual(before);
          expect(other).toEqual(before);
          for (const sarg of [
            { op: 'equals', column: 'id', literal: 7n },
            { op: 'equals', column: 's', literal: 'text 3' },
          ] as const) {
            const matches = (row: string) => row.split('|')[sarg.column === 'id' ? 1 : 2] === String(sarg.literal);
            const [found] = await twins.rowsOf(sarg);
            expect(found.filter(matches)).toEqual(before.filter(matches));
          }
        }
        taken += twins.taken;
      }),
      { numRuns: 40 },
    );
    expect(taken).toBeGreaterThan(80);
  });

  const table = () => new AcidTable(memoryFileSystem(), '/t', SCHEMAS[0], { orc: { baseDeltaRatio: 1 } });
  const values = (from: number, count: number) => rows(from, count).map(({ id, s }) => ({ id, s }));

  async function compacted(
    of: AcidTable,
    compact: typeof compactMajor,
    list = '',
    more: { orc?: OrcFileOptions; insertOnly?: boolean; leastStripeBytes?: number | undefined } = {},
  ): Promise<CompactionResult> {
    const writeIds = ValidWriteIdList.forCompactor(ValidWriteIdList.parse(list));
    const state = await of.state(writeIds);
    const common = { fs: of.fs, state, writeIds, schema: of.schema, visibilityTxnId: 9n, leastStripeBytes: 1 };
    return compact({ ...common, ...more });
  }

  it('leaves alone what a delete touches, and takes the rest', async () => {
    const t = table();
    for (const writeId of [1n, 2n, 3n, 4n]) await t.insert(writeId, 0, values(Number(writeId) * 10, 5));
    await t.delete(5n, 0, [[3n, b0, 2n]]);
    const before = await t.rows();
    expect(await compacted(t, compactMajor)).toMatchObject({ rows: 19, stripesTaken: 3 });
    expect(await t.rows()).toEqual(before);
  });

  it('takes rows and deletes in a minor compaction', async () => {
    const t = table();
    for (const writeId of [1n, 2n]) await t.insert(writeId, 0, values(Number(writeId) * 10, 5));
    for (const writeId of [3n, 4n]) await t.delete(writeId, 0, [[writeId - 2n, b0, 2n]]);
    const before = await t.rows();
    expect(await compacted(t, compactMinor)).toMatchObject({ rows: 10, deleteEvents: 2, stripesTaken: 4 });
    expect(await t.rows()).toEqual(before);
  });

  it('drops the rows of aborted writes', async () => {
    const t = table();
    for (const writeId of [1n, 2n, 3n]) await t.insert(writeId, 0, values(Number(writeId) * 10, 5));
    expect(await compacted(t, compactMinor, `t:3:${NO_OPEN}::`)).toMatchObject({ stripesTaken: 3 });
    const valid = `t:3:${NO_OPEN}::2`;
    expect(await compacted(t, compactMajor, valid)).toMatchObject({ rows: 10, stripesTaken: 2 });
  });

  it('merges what interleaves', async () => {
    const t = table();
    await t.insert(1n, 0, values(0, 5));
    await t.insert(3n, 0, values(5, 5));
    await compacted(t, compactMinor, `t:3:${NO_OPEN}::`, { leastStripeBytes: Number.POSITIVE_INFINITY });
    await t.insert(2n, 0, values(10, 5));
    const state = await t.state();
    expect(state.deltas.map(({ name }) => name)).toEqual(['delta_0000001_0000003_v0000009']);
  });

  it('does not leave crumbs between large stripes', async () => {
    const t = table();
    for (const [writeId, count] of [
      [1n, 2000],
      [2n, 3],
      [3n, 2000],
      [4n, 3],
      [5n, 2000],
    ] as const) {
      const wide = values(Number(writeId) * 10_000, count).map(({ id }) => ({ id, s: `${Math.sin(id)}` }));
      await t.insert(writeId, 0, wide);
    }
    const before = await t.rows();
    const { stripesTaken, files } = await compacted(t, compactMajor, '', { leastStripeBytes: 5000 });
    expect(stripesTaken).toBe(2);
    expect(files).toHaveLength(1);
    expect(await t.rows()).toEqual(before);
  });

  it.each<[string, OrcFileOptions]>([
    ['another codec', { compress: 'SNAPPY' }],
    ['smaller chunks', { tableProperties: { 'orc.compress.size': '1000' } }],
    ['bloom filters', { bloomFilterColumns: ['s'] }],
    ['no indexes', { tableProperties: { 'orc.create.index': 'false' } }],
    ['a strategy', { tableProperties: { 'orc.encoding.strategy': 'COMPRESSION' } }],
  ])('writes anew where the table asks for %s', async (_, orc) => {
    const t = table();
    for (const writeId of [1n, 2n]) await t.insert(writeId, 0, values(Number(writeId) * 10, 5));
    expect(await compacted(t, compactMajor, '', { orc })).toMatchObject({ rows: 10, stripesTaken: 0 });
  });

  it('takes stripes of insert-only tables', async () => {
    const t = new AcidTable(memoryFileSystem(), '/t', SCHEMAS[0], { insertOnly: true });
    for (const writeId of [1n, 2n, 3n]) await t.insert(writeId, 0, values(Number(writeId) * 10, 5));
    const before = await t.rows();
    expect(await compacted(t, compactMinor, `t:3:${NO_OPEN}::`, { insertOnly: true })).toMatchObject({
      rows: 15,
      stripesTaken: 3,
    });
    expect(await t.rows()).toEqual(before);
    await t.insert(4n, 0, values(90, 5));
    const more = { insertOnly: true, leastStripeBytes: undefined };
    expect(await compacted(t, compactMajor, `t:4:${NO_OPEN}::`, more)).toMatchObject({ rows: 20, stripesTaken: 0 });
  });
});
