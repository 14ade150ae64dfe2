import { type AcidState, getAcidState } from '@skep/acid';
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { openOrc } from '@skep/orc';
import type { Partition, Table } from '@skep/rpc';
import { countRows, type FileLayout } from '../../formats/index.js';
import type { SessionContext } from '../context.js';
import { isFullAcid, isTransactional } from '../transaction/lock-plan.js';
import { layoutOf, readableFormat } from './table-scan.js';

interface Figures {
  files: number;
  rows: bigint;
  bytes: number;
}

/**
 * A table's (or a partition's) basic statistics as its committed files have them now, in place of the figures of its last
 * definition: rows are inserts less delete events, from the files' footers (lines of text are counted).
 */
export async function withLiveStatistics(
  context: SessionContext,
  table: Table,
  partition?: Partition,
): Promise<{ table: Table; partition?: Partition }> {
  if (table.tableType === 'VIRTUAL_VIEW' || readableFormat(table.sd) === undefined) {
    return partition === undefined ? { table } : { table, partition };
  }
  if (partition !== undefined) {
    const figures = await figuresOf(context, table, [partition.sd?.location ?? '']);
    return {
      table,
      partition: { ...partition, parameters: { ...partition.parameters, ...exact, ...asParameters(table, figures) } },
    };
  }
  if (table.partitionKeys.length === 0) {
    const figures = await figuresOf(context, table, [table.sd?.location ?? '']);
    return { table: { ...table, parameters: { ...table.parameters, ...asParameters(table, figures) } } };
  }
  const { partitions } = await context.services.catalog.getPartitions({
    database: table.database,
    table: table.name,
    names: [],
  });
  const figures = await figuresOf(
    context,
    table,
    partitions.map((p) => p.sd?.location ?? ''),
  );
  const parameters = { ...table.parameters, ...asParameters(table, figures), numPartitions: String(partitions.length) };
  return { table: { ...table, parameters } };
}

/** The basic statistics are those of the files. */
const exact = { COLUMN_STATS_ACCURATE: '{"BASIC_STATS":"true"}' };

/** Column statistics are exact for an empty table only; the basic ones always are. */
function asParameters(table: Table, figures: Figures): Record<string, string> {
  return {
    ...(figures.files > 0 || (table.partitionKeys.length === 0 && table.parameters.COLUMN_STATS_ACCURATE === undefined)
      ? exact
      : {}),
    numFiles: String(figures.files),
    numRows: String(figures.rows),
    rawDataSize: '0',
    totalSize: String(figures.bytes),
  };
}

async function figuresOf(context: SessionContext, table: Table, locations: readonly string[]): Promise<Figures> {
  const { txns, fs } = context.services;
  const { validTxns } = await txns.getValidTxns({});
  const name = `${table.database}.${table.name}`;
  const writeIds = isTransactional(table)
    ? ValidWriteIdList.parse((await txns.getValidWriteIds({ tables: [name], validTxns })).validWriteIds[0])
    : ValidWriteIdList.allValid();
  const figures: Figures = { files: 0, rows: 0n, bytes: 0 };
  const layout = layoutOf(table);
  for (const location of locations) {
    const state = await getAcidState(fs, location, writeIds, ValidTxnList.parse(validTxns), {
      insertOnly: !isFullAcid(table),
    });
    await addFigures(context, layout, state, figures);
  }
  return figures;
}

async function addFigures(
  context: SessionContext,
  layout: FileLayout | undefined,
  state: AcidState,
  figures: Figures,
): Promise<void> {
  const files = [
    ...state.originals.map((file) => ({ file, sign: 1n })),
    ...(state.base?.files ?? []).map((file) => ({ file, sign: 1n })),
    ...state.deltas.flatMap((delta) =>
      delta.files.map((file) => ({ file, sign: delta.kind === 'deleteDelta' ? -1n : 1n })),
    ),
  ];
  for (const { file, sign } of files) {
    figures.files += 1;
    figures.bytes += file.sizeBytes;
    if (file.sizeBytes === 0) continue;
    if (layout !== undefined) {
      figures.rows += sign * BigInt(await countRows(context.services.fs, layout, file));
      continue;
    }
    const source = await context.services.fs.open(file.path);
    const reader = await openOrc(source);
    figures.rows += sign * BigInt(reader.numberOfRows);
    await source.close?.();
  }
}

/** How many rows a table or some of its folders hold now; 0 where skep cannot read the files. */
export async function liveRowCount(
  context: SessionContext,
  table: Table,
  locations: readonly string[],
): Promise<bigint> {
  if (readableFormat(table.sd) === undefined) return 0n;
  return (await figuresOf(context, table, locations)).rows;
}
