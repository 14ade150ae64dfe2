import { SkepError } from '@skep/core';
import { typeToString } from '@skep/orc';
import type { Schema } from 'apache-arrow';
import { toTypeDescription } from '../arrow/arrow-type.js';
import {
  CommandStatementIngest,
  CommandStatementIngest_TableDefinitionOptions_TableExistsOption as Exists,
  CommandStatementIngest_TableDefinitionOptions_TableNotExistOption as NotExists,
} from '../gen/flight_sql.js';
import type { Caller, DataSource } from '../streams/data-source.js';
import type { WriteDescriptor } from '../streams/descriptor.js';
import { BadRequestError, NotOfferedError } from '../streams/errors.js';
import type { SqlSource } from './sql-source.js';

/** The table is there, and the client wanted a new one. */
class TableExistsError extends SkepError {
  constructor(name: string) {
    super('ALREADY_EXISTS', 'invalid', `the table ${name} is there already: append to it, or replace it`);
  }
}

/** Hive's ErrorMsg.INVALID_TABLE. */
const TABLE_NOT_FOUND = 10001;

/**
 * Where the rows of Flight SQL's ingestion go: a table that is there, or one that is made for them (full ACID, with Hive's types of
 * their columns). Making and replacing it is done before, by statements of its own.
 */
export async function ingestTarget(
  command: Uint8Array,
  schema: Schema,
  { source, sql }: { readonly source: DataSource; readonly sql: SqlSource },
  caller: Caller,
): Promise<WriteDescriptor> {
  const asked = CommandStatementIngest.decode(command);
  const { table, schema: database = 'default', temporary, transactionId, tableDefinitionOptions, options } = asked;
  if (temporary || (transactionId?.length ?? 0) > 0) {
    throw new NotOfferedError('rows are ingested into tables that stay, each time in a transaction of its own');
  }
  const unknown = Object.keys(options)[0];
  if (unknown !== undefined) throw new BadRequestError(`ingestion has no option '${unknown}'`);
  if (table === '') throw new BadRequestError('ingestion needs the name of a table');
  const {
    ifExists = Exists.TABLE_EXISTS_OPTION_UNSPECIFIED,
    ifNotExist = NotExists.TABLE_NOT_EXIST_OPTION_UNSPECIFIED,
  } = tableDefinitionOptions ?? {};
  const name = `${quoted(database)}.${quoted(table)}`;
  const create = async () => void (await sql.run(createStatement(name, schema), caller));
  const isThere = await exists(source, database, table, caller);
  if (!isThere) {
    if (ifNotExist !== NotExists.TABLE_NOT_EXIST_OPTION_CREATE) await source.table(database, table, caller);
    await create();
  } else if (ifExists === Exists.TABLE_EXISTS_OPTION_FAIL) throw new TableExistsError(`${database}.${table}`);
  else if (ifExists === Exists.TABLE_EXISTS_OPTION_REPLACE) {
    await sql.run(`DROP TABLE ${name}`, caller);
    await create();
  }
  return {
    database: database.toLowerCase(),
    table: table.toLowerCase(),
    mode: 'append',
    txnId: undefined,
    partition: {},
    operationColumn: '',
    validTxns: undefined,
  };
}

async function exists(source: DataSource, database: string, table: string, caller: Caller): Promise<boolean> {
  try {
    await source.table(database.toLowerCase(), table.toLowerCase(), caller);
    return true;
  } catch (error) {
    if (error instanceof SkepError && error.hiveCode === TABLE_NOT_FOUND) return false;
    throw error;
  }
}

function createStatement(name: string, schema: Schema): string {
  const { children, fieldNames } = toTypeDescription(schema);
  const columns = children.map((type, i) => `${quoted(fieldNames[i])} ${typeToString(type)}`);
  return `CREATE TABLE ${name} (${columns.join(', ')}) STORED AS ORC TBLPROPERTIES ('transactional'='true')`;
}

const quoted = (name: string): string => `\`${name.replaceAll('`', '``')}\``;
