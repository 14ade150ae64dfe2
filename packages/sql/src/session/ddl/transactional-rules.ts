import type { Configuration } from '@skep/config';
import type { Table } from '@skep/rpc';
import { MetaError, SemanticError } from '../errors.js';
import { fileFormats } from '../file-format.js';
import { isFullAcid, isInsertOnly, isTransactional } from '../transaction/lock-plan.js';

/**
 * What the metastore's TransactionalValidationListener demands of a table's definition, at creation and when it is
 * changed (reference §6). Answers the parameters with the transactional ones in their canonical form.
 */
export function validateTransactional(table: Table, before?: Table): Record<string, string> {
  const parameters = { ...table.parameters };
  const name = `${table.database}.${table.name}`;
  const key = Object.keys(parameters).find((parameter) => parameter.toLowerCase() === 'transactional');
  const value = key === undefined ? undefined : parameters[key];
  if (key !== undefined && key !== 'transactional') delete parameters[key];
  if (value !== undefined && !/^(true|false)$/i.test(value)) {
    throw new MetaError(`'transactional' property of TBLPROPERTIES may only have value 'true': ${name}`);
  }
  const properties = parameters.transactional_properties;
  if (value === undefined || value.toLowerCase() === 'false') {
    if (properties !== undefined && before === undefined && value === undefined) {
      throw new SemanticError(10000, `transactional_properties is set without 'transactional': ${name}`);
    }
    if (before !== undefined && isTransactional(before)) refuseToLeave(before, name);
    if (value !== undefined) parameters.transactional = value.toLowerCase();
    return parameters;
  }
  if (before?.tableType === 'MANAGED_TABLE' && table.tableType === 'EXTERNAL_TABLE') {
    throw new MetaError(`${name} cannot be converted to external table as it is transactional table.`);
  }
  if (table.tableType === 'EXTERNAL_TABLE') {
    throw new MetaError(`${name} cannot be declared transactional because it's an external table`);
  }
  const becomesExternal = Object.entries(parameters).some(
    ([k, v]) => k.toUpperCase() === 'EXTERNAL' && /^true$/i.test(v),
  );
  if (becomesExternal)
    throw new MetaError(`${name} cannot be converted to external table as it is transactional table.`);
  const wanted = (properties ?? 'default').toLowerCase();
  if (wanted !== 'default' && wanted !== 'insert_only') {
    throw new MetaError(
      `Invalid transactional properties specified for ${name} with the error unknown value ${properties} for transactional_properties`,
    );
  }
  if (before !== undefined && isFullAcid(before) && wanted === 'insert_only') {
    throw new MetaError(
      `TBLPROPERTIES with 'transactional_properties' cannot be altered after the table is created: ${name}`,
    );
  }
  if (wanted === 'default') requireAcidFormat(table, name);
  parameters.transactional = 'true';
  parameters.transactional_properties = wanted;
  return parameters;
}

function refuseToLeave(before: Table, name: string): never {
  if (isInsertOnly(before)) throw new MetaError('Cannot convert an ACID table to non-ACID');
  throw new MetaError(`TBLPROPERTIES with 'transactional'='true' cannot be unset: ${name}`);
}

function requireAcidFormat(table: Table, name: string): void {
  if (table.sd?.inputFormat !== fileFormats.orc.inputFormat || table.sd.outputFormat !== fileFormats.orc.outputFormat) {
    throw new MetaError(`The table must be stored using an ACID compliant format (such as ORC): ${name}`);
  }
  if (table.sd.sortColumns.length > 0) {
    throw new MetaError(`Table ${name} cannot support full ACID functionality since it is sorted.`);
  }
}

/** hive.strict.managed.tables: of new tables, and of those that are altered in whatever way (HiveStrictManagedUtils). */
export function validateManaged(conf: Configuration, table: Table): void {
  if (!conf.getBoolean('hive.strict.managed.tables')) return;
  const transactional = isTransactional(table);
  const reason =
    table.tableType === 'MANAGED_TABLE' && !transactional
      ? 'Table is marked as a managed table but is not transactional.'
      : table.tableType === 'EXTERNAL_TABLE' && transactional
        ? 'Table is marked as a external table but it is transactional.'
        : undefined;
  if (reason === undefined) return;
  throw new MetaError(
    `Table ${table.database}.${table.name} failed strict managed table checks due to the following reason: ${reason}`,
  );
}

/** SET or UNSET TBLPROPERTIES ('EXTERNAL'=…) makes a table external, or managed (AlterTableSetPropertiesOperation). */
export function tableTypeAfter(table: Table, external: string | undefined): string {
  const isExternal = external?.toLowerCase() === 'true';
  if (table.tableType === 'MANAGED_TABLE' && isExternal) return 'EXTERNAL_TABLE';
  if (table.tableType === 'EXTERNAL_TABLE' && !isExternal) return 'MANAGED_TABLE';
  return table.tableType;
}
