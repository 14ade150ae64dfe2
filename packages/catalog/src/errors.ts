import { SkepError } from '@skep/core';

/** Hive's NoSuchObjectException. */
export class NoSuchObjectError extends SkepError {
  constructor(message: string) {
    super('NO_SUCH_OBJECT', 'invalid', message);
  }
}

/** Hive's AlreadyExistsException. */
export class AlreadyExistsError extends SkepError {
  constructor(message: string) {
    super('ALREADY_EXISTS', 'invalid', message);
  }
}

/** Hive's InvalidOperationException. */
export class InvalidOperationError extends SkepError {
  constructor(message: string) {
    super('INVALID_OPERATION', 'invalid', message);
  }
}

/** Hive's InvalidObjectException: what is to be stored is not whole. */
export class InvalidObjectError extends SkepError {
  constructor(message: string) {
    super('INVALID_OBJECT', 'invalid', message);
  }
}

/** In Hive's words (ObjectStore.getMDatabase, HMSHandler.get_table_core, get_partition_by_name). */
export const noSuchDatabase = (name: string) => new NoSuchObjectError(`There is no database hive.${name}`);
export const noSuchTable = (db: string, table: string) => new NoSuchObjectError(`hive.${db}.${table} table not found`);
export const noSuchPartition = (db: string, table: string, partition: string) =>
  new NoSuchObjectError(`partition values of hive.${db}.${table} not found: ${partition}`);
