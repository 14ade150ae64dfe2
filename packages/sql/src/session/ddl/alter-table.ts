import { LockType, Table } from '@skep/rpc';
import type { AlterTableAction, AlterTableStatement } from '../../parse/ast.js';
import { columnType } from '../column-type.js';
import { compactStatement } from '../compaction/compact-statement.js';
import { lockSettings, resolveTable, type SessionContext, toRecord } from '../context.js';
import { alterRefused, MetaError, SemanticError, UnsupportedError } from '../errors.js';
import { resolveFormat } from '../file-format.js';
import { nameOf, requirePartitions, requireWholeSpec } from '../partition/partitions.js';
import type { StatementResult } from '../result.js';
import { done } from '../text-result.js';
import { databaseLock, isFullAcid, isInsertOnly, isTransactional, type WriteKind } from '../transaction/lock-plan.js';
import { runStatement } from '../transaction/run-statement.js';
import { changeColumn, columnsOf, refuseDroppedColumns, refuseRepeated, setColumns } from './alter-columns.js';
import { cascade, changePartition } from './alter-partition.js';
import { apply, renamed, touched } from './alter-rename.js';
import { convertToAcid, convertToInsertOnly } from './convert-table.js';
import { fieldOf } from './create-table.js';
import { exchangePartition } from './exchange-partition.js';
import { refuseMissing } from './missing-properties.js';
import { addPartitions, dropPartitions, renamePartition } from './partition-statements.js';
import { setSkewed } from './skewed.js';
import { checkCondition, constraintOf } from './table-constraints.js';
import { tableTypeAfter, validateManaged, validateTransactional } from './transactional-rules.js';
import { checkTypeChange } from './type-change.js';

/** ALTER TABLE. */
export async function alterTable(
  context: SessionContext,
  statement: AlterTableStatement,
  text: string,
  signal?: AbortSignal,
): Promise<StatementResult> {
  const { action } = statement;
  switch (action.kind) {
    case 'compact':
      return await compactStatement(context, statement, action, signal);
    case 'concatenate':
      return await compactStatement(
        context,
        statement,
        {
          type: 'major',
          wait: !context.conf.getBoolean('hive.transactional.concatenate.noblock'),
          properties: [],
          orderBy: [],
        },
        signal,
      );
    case 'add-partitions':
      return await addPartitions(context, statement.table, action, signal);
    case 'drop-partitions':
      return await dropPartitions(context, statement.table, action, signal);
    case 'rename-partition':
      if (statement.partition === undefined) throw new UnsupportedError('RENAME TO PARTITION without a partition');
      return await renamePartition(context, statement.table, statement.partition, action.to, signal);
    case 'exchange-partition':
      return await exchangePartition(context, statement.table, action, signal);
    case 'touch':
    case 'update-columns':
      await resolveTable(context, statement.table);
      return done;
    default:
      return await changeTable(context, statement, action, text, signal);
  }
}

/** The changes of a definition: locked, checked and written in one transaction. */
async function changeTable(
  context: SessionContext,
  statement: AlterTableStatement,
  action: AlterTableAction,
  text: string,
  signal?: AbortSignal,
): Promise<StatementResult> {
  return await runStatement(
    context,
    async () => {
      const before = await resolveTable(context, statement.table);
      if (before.tableType === 'VIRTUAL_VIEW')
        throw new SemanticError(10131, 'To alter a view you need to use the ALTER VIEW command.');
      refuseBesideReaders(context, before, action);
      const { partition: spec } = statement;
      if (spec !== undefined && action.kind === 'set-location') requireWholeSpec(before, spec, 'set location');
      const partitions = spec === undefined ? undefined : await requirePartitions(context, before, spec);
      if (action.kind === 'into-buckets' && (before.sd?.bucketColumns.length ?? 0) === 0) {
        throw new SemanticError(10145, 'Table is not bucketized.', { position: statement.table.position });
      }
      const names = partitions?.map(({ values }) => nameOf(before, values));
      return {
        reads: [],
        writes: [{ table: before, kind: lockKind(action, before), ...(names && { partitions: names }) }],
        otherLocks: action.kind === 'rename' ? [databaseLock(before.database, LockType.LOCK_TYPE_SHARED_READ)] : [],
        run: async (transaction) => {
          const takeWriteId = async () => {
            if (!needsWriteId(action) || !isTransactional(before)) return;
            await transaction.writeIdOf(before.database, before.name);
          };
          if (partitions !== undefined) {
            for (const partition of partitions) await changePartition(context, before, partition, action);
            await takeWriteId();
            return done;
          }
          const after = await changed(context, before, action, text);
          if (!context.temporary.has(before.database, before.name)) validateManaged(context.conf, after);
          await takeWriteId();
          if (isInsertOnly(after) && !isTransactional(before)) {
            await convertToInsertOnly(context, transaction, before);
            transaction.onCommit(() => apply(context, before, after));
            return done;
          }
          await apply(context, before, after, transaction);
          if ('cascade' in action && action.cascade) await cascade(context, after);
          return done;
        },
      };
    },
    { signal },
  );
}

/** Whether the change takes a write id of an ACID table, as recorded of Hive 4.0.1 (not SET and UNSET TBLPROPERTIES). */
const needsWriteId = (action: AlterTableAction): boolean =>
  action.kind !== 'set-properties' && action.kind !== 'unset-properties';

/** With lockless reads nobody waits for readers, whose files would be elsewhere (WriteEntity.determineAlterTableWriteType). */
function refuseBesideReaders({ conf }: SessionContext, table: Table, action: AlterTableAction): void {
  const words = LOCATION_CHANGES[action.kind];
  if (words === undefined || !isTransactional(table) || !lockSettings(conf).locklessReads) return;
  throw new UnsupportedError(
    `ALTER TABLE ${table.database}.${table.name} ${words} with hive.acid.lockless.reads.enabled (readers hold no locks and would lose their files)`,
  );
}

const LOCATION_CHANGES: Readonly<Record<string, string>> = {
  'set-location': 'SET LOCATION',
  'skewed-by': 'SKEWED BY',
  'not-skewed': 'NOT SKEWED',
  'not-stored-as-directories': 'NOT STORED AS DIRECTORIES',
};

function lockKind(action: AlterTableAction, before: Table): WriteKind {
  if (action.kind === 'set-serde-properties' || action.kind === 'update-statistics') return 'alter-properties';
  if (action.kind === 'drop-constraint') return 'drop-constraint';
  if (action.kind !== 'set-properties') return 'alter';
  const becomes = action.properties.some(
    (p) => p.key.toLowerCase() === 'transactional' && p.value.toLowerCase() === 'true',
  );
  return becomes && !isTransactional(before) ? 'make-transactional' : 'alter-properties';
}

async function changed(context: SessionContext, before: Table, action: AlterTableAction, text: string): Promise<Table> {
  const after = Table.fromPartial(before);
  switch (action.kind) {
    case 'rename':
      return await renamed(context, after, action);
    case 'add-columns': {
      const added = action.columns.map(fieldOf);
      refuseRepeated(after, added);
      setColumns(after, [...columnsOf(after), ...added]);
      return touched(context, after);
    }
    case 'replace-columns': {
      if (isFullAcid(before)) refuseDroppedColumns(before, action.columns.map(fieldOf));
      const columns = action.columns.map(fieldOf);
      columns.forEach((column, i) => {
        const old = columnsOf(before)[i];
        if (old !== undefined) checkTypeChange(old, column, before);
      });
      setColumns(after, columns);
      return touched(context, after);
    }
    case 'change-column':
      changeColumn(after, action);
      if (action.constraint !== undefined) {
        const column = action.newName.name.toLowerCase();
        const name = `${before.database}.${before.name}`;
        const { clock } = context.services;
        const added = constraintOf(action.constraint, [column], name, before.constraints.length, text, clock.now());
        const kept = after.constraints.filter((c) => c.kind !== added.kind || c.columns.join() !== column);
        after.constraints = [...kept, added];
      }
      return touched(context, after);
    case 'drop-column':
      throw new SemanticError(
        10409,
        `DROP COLUMN of '${action.column.name}' is not possible: old files match columns by position`,
        {
          position: action.column.position,
        },
      );
    case 'set-properties': {
      const properties = toRecord(action.properties);
      after.parameters = { ...after.parameters, ...properties };
      if (properties.EXTERNAL !== undefined) after.tableType = tableTypeAfter(before, properties.EXTERNAL);
      refuseUnset(before, properties);
      after.parameters = validateChange(after, before);
      if (isFullAcid(after) && !isTransactional(before)) await convertToAcid(context, before);
      return touched(context, after);
    }
    case 'unset-properties': {
      refuseMissing(before, action);
      for (const key of action.keys) {
        const isRequired = isFullAcid(before) ? /^transactional$/i : /^transactional/i;
        if (isRequired.test(key) && isTransactional(before)) {
          throw alterRefused(
            `TBLPROPERTIES with 'transactional'='true' cannot be unset: ${before.database}.${before.name}`,
          );
        }
        delete after.parameters[key];
        if (key === 'EXTERNAL') after.tableType = tableTypeAfter(before, undefined);
      }
      return touched(context, after);
    }
    case 'set-serde':
      if (isFullAcid(before) && action.serde !== before.sd?.serde?.serializationLib) {
        throw new MetaError(
          `Changing SerDe (from OrcSerde) is not supported for table ${before.database}.${before.name}. File format may be incompatible`,
        );
      }
      if (after.sd?.serde) after.sd.serde = { ...after.sd.serde, serializationLib: action.serde };
      return setSerdeProperties(context, after, toRecord(action.properties), []);
    case 'set-serde-properties':
      return setSerdeProperties(context, after, toRecord(action.properties), []);
    case 'unset-serde-properties':
      return setSerdeProperties(context, after, {}, action.keys);
    case 'set-file-format': {
      const format = resolveFormat(action.storage, undefined, 'TextFile');
      if (isFullAcid(before) && format.inputFormat !== before.sd?.inputFormat) {
        throw new SemanticError(
          10310,
          `Changing file format (from ORC) is not supported for table ${before.database}.${before.name}`,
        );
      }
      if (after.sd !== undefined) {
        after.sd.inputFormat = format.inputFormat;
        after.sd.outputFormat = format.outputFormat;
        after.sd.serde = { name: '', serializationLib: format.serde, parameters: after.sd.serde?.parameters ?? {} };
      }
      after.parameters = validateTransactional(after, before);
      return touched(context, after);
    }
    case 'set-location':
      if (after.sd !== undefined) after.sd.location = action.location;
      return touched(context, after);
    case 'skewed-by':
    case 'not-skewed':
    case 'not-stored-as-directories': {
      if (after.sd === undefined) return after;
      if (action.kind === 'not-stored-as-directories') after.sd.storedAsSubDirectories = false;
      else setSkewed(after.sd, action.kind === 'skewed-by' ? action.skewedBy : undefined);
      return touched(context, after);
    }
    case 'clustered-by':
    case 'into-buckets':
    case 'not-clustered':
    case 'not-sorted':
      return reclustered(context, after, action);
    case 'add-constraint': {
      const columns = 'columns' in action.constraint ? action.constraint.columns.map((c) => c.name.toLowerCase()) : [];
      const name = `${before.database}.${before.name}`;
      const now = context.services.clock.now();
      if (action.constraint.kind === 'check') {
        await checkCondition(
          context,
          action.constraint.expression,
          [...columnsOf(before), ...before.partitionKeys],
          text,
        );
      }
      const given = action.constraint.name?.name.toLowerCase();
      if (before.constraints.some((constraint) => constraint.name === given)) {
        throw new MetaError(`InvalidObjectException(message:Constraint name already exists: ${name}.${given})`);
      }
      after.constraints = [
        ...before.constraints,
        constraintOf(action.constraint, columns, name, before.constraints.length, text, now),
      ];
      return after;
    }
    case 'drop-constraint': {
      const name = action.name.name.toLowerCase();
      after.constraints = before.constraints.filter((constraint) => constraint.name !== name);
      if (after.constraints.length === before.constraints.length) {
        throw new MetaError(
          `InvalidObjectException(message:The constraint: ${name} does not exist for the associated table: ${before.database}.${before.name})`,
        );
      }
      return after;
    }
    case 'partition-column': {
      const name = action.column.name.toLowerCase();
      const key = after.partitionKeys.find((candidate) => candidate.name === name);
      if (key === undefined) {
        throw new SemanticError(10002, `Invalid column reference '${action.column.name}'`, {
          position: action.column.position,
        });
      }
      key.type = columnType(action.type);
      return touched(context, after);
    }
    case 'archive':
    case 'unarchive':
      throw new SemanticError(
        10107,
        'Archiving methods are currently disabled. Please see the Hive wiki for more information about enabling archiving',
      );
    case 'set-owner':
      after.owner = action.owner.name.name;
      after.ownerType = action.owner.type.toUpperCase();
      return touched(context, after);
    case 'update-statistics':
      Object.assign(after.parameters, toRecord(action.properties));
      return touched(context, after);
    default:
      throw new UnsupportedError(`ALTER TABLE … ${action.kind}`);
  }
}

function setSerdeProperties(
  context: SessionContext,
  table: Table,
  set: Record<string, string>,
  unset: readonly string[],
): Table {
  if (table.sd?.serde) {
    const parameters = { ...table.sd.serde.parameters, ...set };
    for (const key of unset) delete parameters[key];
    table.sd.serde = { ...table.sd.serde, parameters };
  }
  return touched(context, table);
}

function validateChange(after: Table, before: Table): Table['parameters'] {
  try {
    return validateTransactional(after, before);
  } catch (error) {
    if (error instanceof MetaError && error.hiveCode === undefined) throw alterRefused(error.message, error);
    throw error;
  }
}

/** Hive says so when 'transactional' is set to false without saying what it was. */
function refuseUnset(before: Table, properties: Record<string, string>): void {
  const key = Object.keys(properties).find((name) => name.toLowerCase() === 'transactional');
  if (key === undefined || !isTransactional(before) || properties[key].toLowerCase() !== 'false') return;
  if (!('transactional_properties' in properties)) {
    throw new MetaError("Cannot change 'transactional' without 'transactional_properties'");
  }
}

function reclustered(context: SessionContext, table: Table, action: AlterTableAction): Table {
  if (table.sd === undefined) return table;
  if (action.kind === 'clustered-by') {
    table.sd.numBuckets = action.clusteredBy.buckets;
    table.sd.bucketColumns = action.clusteredBy.columns.map((c) => c.name.toLowerCase());
    table.sd.sortColumns = action.clusteredBy.sortedBy.map((s) => ({
      column: s.column.name.toLowerCase(),
      order: s.direction === 'asc' ? 1 : 0,
    }));
  } else if (action.kind === 'into-buckets') table.sd.numBuckets = action.buckets;
  else if (action.kind === 'not-clustered') {
    table.sd.numBuckets = -1;
    table.sd.bucketColumns = [];
    table.sd.sortColumns = [];
  } else table.sd.sortColumns = [];
  table.parameters = validateTransactional(table, table);
  return touched(context, table);
}
