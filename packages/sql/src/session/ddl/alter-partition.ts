import { type Partition, Table } from '@skep/rpc';
import type { AlterTableAction } from '../../parse/ast.js';
import { type SessionContext, toRecord } from '../context.js';
import { MetaError, UnsupportedError } from '../errors.js';
import { resolveFormat } from '../file-format.js';
import { nameOf } from '../partition/partitions.js';
import { isFullAcid } from '../transaction/lock-plan.js';
import { changeColumn, columnsOf, refuseDroppedColumns, refuseRepeated, setColumns } from './alter-columns.js';
import { touched } from './alter-rename.js';
import { fieldOf } from './create-table.js';

/** CASCADE: the partitions get the table's columns too. */
export async function cascade(context: SessionContext, table: Table): Promise<void> {
  const { database, name, partitionKeys } = table;
  if (partitionKeys.length === 0) return;
  const { catalog } = context.services;
  const { partitions } = await catalog.getPartitions({ database, table: name, names: [] });
  await catalog.alterPartitions({
    database,
    table: name,
    names: partitions.map((partition) => nameOf(table, partition.values)),
    partitions: partitions.map((partition) => ({
      ...partition,
      sd: partition.sd && { ...partition.sd, columns: columnsOf(table) },
    })),
  });
}

export async function changePartition(
  context: SessionContext,
  table: Table,
  partition: Partition,
  action: AlterTableAction,
): Promise<void> {
  const after = { ...partition, sd: partition.sd && { ...partition.sd } };
  switch (action.kind) {
    case 'set-location':
      if (after.sd) after.sd.location = action.location;
      break;
    case 'add-columns':
    case 'replace-columns':
    case 'change-column': {
      // A partition's own list of columns: the table's as they were when it was made, unless it is changed.
      const view = Table.fromPartial({ ...table, sd: partition.sd, constraints: [] });
      if (action.kind === 'change-column') changeColumn(view, action);
      else {
        const columns = action.columns.map(fieldOf);
        if (action.kind === 'add-columns') refuseRepeated(view, columns);
        else if (isFullAcid(table)) refuseDroppedColumns(view, columns);
        setColumns(view, action.kind === 'add-columns' ? [...columnsOf(view), ...columns] : columns);
      }
      if (after.sd) after.sd.columns = columnsOf(view);
      const { last_modified_by, last_modified_time, transient_lastDdlTime } = touched(context, view).parameters;
      Object.assign(after.parameters, { last_modified_by, last_modified_time, transient_lastDdlTime });
      break;
    }
    case 'set-properties':
    case 'update-statistics':
      after.parameters = { ...after.parameters, ...toRecord(action.properties) };
      break;
    case 'set-file-format': {
      const format = resolveFormat(action.storage, undefined, 'TextFile');
      if (isFullAcid(table)) throw new MetaError('The format of a partition of a full ACID table cannot be changed');
      if (after.sd) {
        after.sd.inputFormat = format.inputFormat;
        after.sd.outputFormat = format.outputFormat;
      }
      break;
    }
    default:
      throw new UnsupportedError(`ALTER TABLE … PARTITION … ${action.kind}`);
  }
  await context.services.catalog.alterPartitions({
    database: table.database,
    table: table.name,
    names: [nameOf(table, partition.values)],
    partitions: [after],
  });
}
