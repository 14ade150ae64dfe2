import { createStruct, type StructVector } from '@skep/orc';
import type { Schema } from 'apache-arrow';
import { toArrowSchema } from '../arrow/arrow-type.js';
import { batchMessage, encapsulatedSchema } from '../arrow/ipc.js';
import type { TimestampForm } from '../arrow/options.js';
import type { FlightData, FlightDescriptor, FlightInfo, PutResult } from '../gen/flight.js';
import {
  ActionCreatePreparedStatementRequest,
  ActionCreatePreparedStatementResult,
  CommandGetSqlInfo,
  CommandPreparedStatementQuery,
  CommandPreparedStatementUpdate,
  CommandStatementQuery,
  CommandStatementUpdate,
  DoPutUpdateResult,
} from '../gen/flight_sql.js';
import type { Caller, DataSource, TableShape } from '../streams/data-source.js';
import type { WriteDescriptor } from '../streams/descriptor.js';
import { BadRequestError, NotOfferedError } from '../streams/errors.js';
import { recordStream, schemaData } from '../streams/record-stream.js';
import type { ServedAction } from '../streams/served-action.js';
import type { StreamTotals } from '../streams/stream-totals.js';
import type { WorkPlaces } from '../streams/work-places.js';
import { packSql, type SqlMessage, unpackSql } from './any.js';
import { catalogRows } from './catalog-rows.js';
import { ingestTarget } from './ingest.js';
import { SQL_INFO_SCHEMA, sqlInfo } from './sql-info.js';
import type { SqlAnswer, SqlSource } from './sql-source.js';

/** TicketStatementQuery, under whose name the handle of an answer travels. */
const STATEMENT_TICKET = 'TicketStatementQuery';
/** The command whose rows DoPut writes. */
export const INGEST = 'CommandStatementIngest';
const EMPTY = Buffer.alloc(0);
const UTF8 = new TextDecoder();
/** A statement whose count of rows is not known. */
const UNKNOWN = -1n;

export interface FlightSqlOptions {
  readonly tables: DataSource;
  readonly sql: SqlSource;
  readonly places: WorkPlaces;
  readonly totals: StreamTotals;
}

/**
 * Flight SQL beside Flight's own descriptors, for ADBC and JDBC: statements of HiveQL, prepared or not, without parameters, and
 * lists of the catalog. Statements are run by GetFlightInfo or DoPut; each is a transaction of its own.
 */
export class FlightSql {
  constructor(private readonly options: FlightSqlOptions) {}

  async info(
    command: SqlMessage,
    descriptor: FlightDescriptor,
    timestamps: TimestampForm,
    caller: Caller,
  ): Promise<FlightInfo> {
    const statement = statementOf(command, 'query');
    if (statement === undefined) return infoOf(this.catalog(command, caller).schema, descriptor, descriptor.cmd);
    const answer = await this.options.sql.run(statement, caller);
    const ticket = answer.handle === undefined ? undefined : packSql(STATEMENT_TICKET, Buffer.from(answer.handle));
    return infoOf(schemaOf(answer.columns, timestamps), descriptor, ticket, answer.expiresMs);
  }

  /** Of what is known without running anything. */
  schema(command: SqlMessage, caller: Caller): Uint8Array {
    if (statementOf(command, 'query') !== undefined) {
      throw new NotOfferedError('the schema of a statement is known when it is run: GetFlightInfo');
    }
    return encapsulatedSchema(this.catalog(command, caller).schema);
  }

  async *get(ticket: SqlMessage, timestamps: TimestampForm, caller: Caller): AsyncGenerator<FlightData> {
    const { sql, places, totals } = this.options;
    if (ticket.name === STATEMENT_TICKET) {
      const { columns, rows } = await sql.rows(UTF8.decode(ticket.value), caller);
      const schema = schemaOf(columns, timestamps);
      try {
        yield schemaData(schema);
        yield* recordStream(schema, rows, undefined, places, totals, caller.signal);
      } finally {
        // A client may be gone before the first row was asked for.
        await rows.return?.();
      }
      return;
    }
    if (ticket.name === 'CommandGetSqlInfo') {
      yield schemaData(SQL_INFO_SCHEMA);
      const { header, body } = batchMessage(sqlInfo(CommandGetSqlInfo.decode(ticket.value).info));
      yield { dataHeader: Buffer.from(header), dataBody: Buffer.from(body), appMetadata: EMPTY };
      return;
    }
    const { schema, rows } = this.catalog(ticket, caller);
    yield schemaData(schema);
    yield* recordStream(schema, one(rows), undefined, places, totals, caller.signal);
  }

  /** Runs a statement whose rows are not wanted. */
  async put(command: SqlMessage, caller: Caller): Promise<PutResult> {
    const statement = statementOf(command, 'update');
    if (statement === undefined) {
      throw new NotOfferedError(
        `${command.name} of Flight SQL is not offered by DoPut: statements have no parameters, and rows are written by a descriptor of docs/flight.md`,
      );
    }
    const { handle, changed } = await this.options.sql.run(statement, caller);
    if (handle !== undefined) {
      // Its transaction ends with its rows.
      for await (const _ of (await this.options.sql.rows(handle, caller)).rows);
    }
    return { appMetadata: updateResult(changed ?? UNKNOWN) };
  }

  /** Where the rows of CommandStatementIngest go. */
  async ingestTarget(command: Uint8Array, schema: Schema, caller: Caller): Promise<WriteDescriptor> {
    const { tables, sql } = this.options;
    return await ingestTarget(command, schema, { source: tables, sql }, caller);
  }

  /** Prepared statements are kept by their clients: the handle is the statement. */
  readonly actions: readonly ServedAction[] = [
    {
      type: 'CreatePreparedStatement',
      description: 'Of Flight SQL: a statement of HiveQL without parameters, to be run later.',
      run: async function* create(body) {
        const { query, transactionId } = ActionCreatePreparedStatementRequest.decode(
          messageIn(body, 'ActionCreatePreparedStatementRequest'),
        );
        refuseTransaction(transactionId);
        const result = { preparedStatementHandle: Buffer.from(query), datasetSchema: EMPTY, parameterSchema: EMPTY };
        yield packSql(
          'ActionCreatePreparedStatementResult',
          ActionCreatePreparedStatementResult.encode(result).finish(),
        );
      },
    },
    {
      type: 'ClosePreparedStatement',
      description: 'Of Flight SQL: nothing is kept of a prepared statement.',
      run: async function* close() {},
    },
  ];

  private catalog(command: SqlMessage, caller: Caller): { schema: Schema; rows: () => Promise<StructVector> } {
    if (command.name === 'CommandGetSqlInfo') {
      return { schema: SQL_INFO_SCHEMA, rows: () => Promise.reject(new BadRequestError('read by its own ticket')) };
    }
    const { tables, sql } = this.options;
    const found = catalogRows(command, tables, sql, (shape: TableShape) => schemaOf(shape.columns, 'ns'), caller);
    if (found !== undefined) return found;
    throw new NotOfferedError(`${command.name} of Flight SQL is not offered`);
  }
}

export const updateResult = (recordCount: bigint): Buffer =>
  Buffer.from(DoPutUpdateResult.encode({ recordCount }).finish());

const schemaOf = (columns: SqlAnswer['columns'], timestamps: TimestampForm): Schema =>
  toArrowSchema(createStruct(columns.map(({ name, type }) => [name, type] as const)), { timestamps });

async function* one(rows: () => Promise<StructVector>): AsyncGenerator<StructVector> {
  yield await rows();
}

function infoOf(
  schema: Schema,
  descriptor: FlightDescriptor,
  ticket: Buffer | undefined,
  expiresMs?: number,
): FlightInfo {
  const endpoint = {
    ticket: { ticket: ticket ?? EMPTY },
    location: [],
    expirationTime: expiresMs === undefined ? undefined : new Date(expiresMs),
    appMetadata: EMPTY,
  };
  return {
    schema: Buffer.from(encapsulatedSchema(schema)),
    flightDescriptor: descriptor,
    endpoint: ticket === undefined ? [] : [endpoint],
    totalRecords: -1n,
    totalBytes: -1n,
    ordered: true,
    appMetadata: EMPTY,
  };
}

/** The text of a command that is one; undefined: it is another. */
function statementOf({ name, value }: SqlMessage, how: 'query' | 'update'): string | undefined {
  switch (`${how} ${name}`) {
    case 'query CommandStatementQuery': {
      const { query, transactionId } = CommandStatementQuery.decode(value);
      refuseTransaction(transactionId);
      return query;
    }
    case 'update CommandStatementUpdate': {
      const { query, transactionId } = CommandStatementUpdate.decode(value);
      refuseTransaction(transactionId);
      return query;
    }
    case 'query CommandPreparedStatementQuery':
      return UTF8.decode(CommandPreparedStatementQuery.decode(value).preparedStatementHandle);
    case 'update CommandPreparedStatementUpdate':
      return UTF8.decode(CommandPreparedStatementUpdate.decode(value).preparedStatementHandle);
    default:
      return undefined;
  }
}

function refuseTransaction(id: Uint8Array | undefined): void {
  if (id === undefined || id.length === 0) return;
  throw new NotOfferedError('each statement of Flight SQL is a transaction of its own (GetSqlInfo: no transactions)');
}

function messageIn(body: Uint8Array, name: string): Uint8Array {
  const message = unpackSql(body);
  if (message?.name === name) return message.value;
  throw new BadRequestError(`the body of the action is no ${name}`);
}
