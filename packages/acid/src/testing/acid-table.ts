/** A table in a folder, written and read through the package. Only for tests. */
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { type AppendableValue, parseType, type StructVector, type TypeDescription, vectorOf } from '@skep/orc';
import type { FileSystem } from '@skep/storage';
import { type PlanOptions, planSplits } from '../read/plan-splits.js';
import { scanSplit } from '../read/scan-split.js';
import type { AcidBatch, ScanOptions } from '../read/scan-types.js';
import { getAcidState } from '../state/get-acid-state.js';
import { DeleteWriter } from '../write/delete-writer.js';
import { InsertWriter } from '../write/insert-writer.js';
import type { Bucketing, InsertTarget, OrcFileOptions, WriteResult } from '../write/write-types.js';
import { hiveText } from './hive-text.js';

export type RowId = readonly [writeId: bigint, bucket: number, rowId: bigint];

export class AcidTable {
  readonly schema: TypeDescription;
  constructor(
    readonly fs: FileSystem,
    readonly location: string,
    type: string,
    private readonly options: { bucketing?: Bucketing; orc?: OrcFileOptions; insertOnly?: boolean } = {},
  ) {
    this.schema = parseType(type);
  }

  batch(rows: readonly AppendableValue[]): StructVector {
    return vectorOf(this.schema, rows) as StructVector;
  }

  async insert(
    writeId: bigint,
    statementId: number,
    rows: readonly AppendableValue[],
    more: Partial<InsertTarget> = {},
  ): Promise<WriteResult> {
    const { fs, location, schema, options } = this;
    const writer = new InsertWriter({ fs, location, schema, writeId, statementId, ...options, ...more });
    await writer.write(this.batch(rows));
    return writer.close();
  }

  async delete(writeId: bigint, statementId: number, ids: readonly RowId[]): Promise<WriteResult> {
    const { fs, location, schema, options } = this;
    const writer = new DeleteWriter({ fs, location, schema, writeId, statementId, ...options });
    const { length } = ids;
    await writer.write({
      writeId: { kind: 'long', length, values: BigInt64Array.from(ids, (id) => id[0]) },
      bucket: { kind: 'int', length, values: Int32Array.from(ids, (id) => id[1]) },
      rowId: { kind: 'long', length, values: BigInt64Array.from(ids, (id) => id[2]) },
    });
    return writer.close();
  }

  async state(writeIds = ValidWriteIdList.allValid()) {
    const { insertOnly } = this.options;
    return getAcidState(this.fs, this.location, writeIds, ValidTxnList.allValid(), { insertOnly });
  }

  async batches(scan: Partial<ScanOptions> = {}, plan: PlanOptions = {}): Promise<AcidBatch[]> {
    const writeIds = scan.writeIds ?? ValidWriteIdList.allValid();
    const { insertOnly } = this.options;
    const batches: AcidBatch[] = [];
    for (const split of await planSplits(this.fs, await this.state(writeIds), { insertOnly, ...plan })) {
      const options = { schema: this.schema, rowIds: !insertOnly, ...scan, writeIds };
      for await (const batch of scanSplit(this.fs, split, options)) batches.push(batch);
    }
    return batches;
  }

  /** Each row as `writeId,bucket,rowId|a|b` (or `a|b`), in the order read. */
  async rows(scan: Partial<ScanOptions> = {}, plan: PlanOptions = {}): Promise<string[]> {
    return (await this.batches(scan, plan)).flatMap((batch) =>
      Array.from({ length: batch.length }, (_, row) => {
        const ids = batch.rowIds;
        const id = ids ? [`${ids.writeId.values[row]},${ids.bucket.values[row]},${ids.rowId.values[row]}`] : [];
        return [...id, ...batch.root.children.map((column) => hiveText(column, row))].join('|');
      }),
    );
  }
}
