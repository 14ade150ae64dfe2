import { parseType, type StructVector, vectorOf } from '@skep/orc';
import { Binary, Field, Schema, Utf8 } from 'apache-arrow';
import { encapsulatedSchema } from '../arrow/ipc.js';
import { CommandGetDbSchemas, CommandGetTables } from '../gen/flight_sql.js';
import type { Caller, DataSource, TableShape } from '../streams/data-source.js';
import type { SqlMessage } from './any.js';
import type { SqlSource } from './sql-source.js';

/** Rows of an answer about the catalog. */
export interface CatalogRows {
  readonly schema: Schema;
  rows(): Promise<StructVector>;
}

/** Hive's one catalog. */
const CATALOG = 'hive';
const TABLE = 'TABLE';

const text = (name: string, nullable = false) => new Field(name, new Utf8(), nullable);
const structOf = (type: string, rows: readonly object[]) => vectorOf(parseType(type), rows as never) as StructVector;

/** What GetCatalogs, GetDbSchemas, GetTables and GetTableTypes answer; undefined: another command. */
export function catalogRows(
  { name, value }: SqlMessage,
  tables: DataSource,
  sql: SqlSource,
  schemaOf: (shape: TableShape) => Schema,
  caller: Caller,
): CatalogRows | undefined {
  switch (name) {
    case 'CommandGetCatalogs':
      return {
        schema: new Schema([text('catalog_name')]),
        rows: async () => structOf('struct<c:string>', [{ c: CATALOG }]),
      };
    case 'CommandGetTableTypes':
      return {
        schema: new Schema([text('table_type')]),
        rows: async () => structOf('struct<t:string>', [{ t: TABLE }]),
      };
    case 'CommandGetDbSchemas': {
      const { catalog, dbSchemaFilterPattern } = CommandGetDbSchemas.decode(value);
      return {
        schema: new Schema([text('catalog_name', true), text('db_schema_name')]),
        rows: async () => {
          const names = isOurs(catalog) ? await sql.databases(caller) : [];
          const found = names.filter((database) => like(dbSchemaFilterPattern, database));
          return structOf(
            'struct<c:string,d:string>',
            found.map((d) => ({ c: CATALOG, d })),
          );
        },
      };
    }
    case 'CommandGetTables': {
      const command = CommandGetTables.decode(value);
      const fields = [text('catalog_name', true), text('db_schema_name', true), text('table_name'), text('table_type')];
      const withSchema = command.includeSchema ? [new Field('table_schema', new Binary(), false)] : [];
      return {
        schema: new Schema([...fields, ...withSchema]),
        rows: async () => {
          const rows: object[] = [];
          const isAsked =
            isOurs(command.catalog) && (command.tableTypes.length === 0 || command.tableTypes.includes(TABLE));
          const matches = (database: string, table: string) =>
            isAsked && like(command.dbSchemaFilterPattern, database) && like(command.tableNameFilterPattern, table);
          for await (const shape of tables.tables(matches, caller)) {
            const row = { c: CATALOG, d: shape.database, t: shape.table, k: TABLE };
            rows.push(command.includeSchema ? { ...row, s: encapsulatedSchema(schemaOf(shape)) } : row);
          }
          return structOf(
            `struct<c:string,d:string,t:string,k:string${command.includeSchema ? ',s:binary' : ''}>`,
            rows,
          );
        },
      };
    }
    default:
      return undefined;
  }
}

const isOurs = (catalog: string | undefined): boolean =>
  catalog === undefined || catalog === '' || catalog.toLowerCase() === CATALOG;

/** LIKE without regard to case; no pattern: everything. */
function like(pattern: string | undefined, name: string): boolean {
  if (pattern === undefined) return true;
  const source = pattern
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('%', '.*')
    .replaceAll('_', '.');
  return new RegExp(`^${source}$`, 'i').test(name);
}
