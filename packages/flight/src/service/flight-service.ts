import { createStruct, parseType, type StructVector, type TypeDescription, typeToString } from '@skep/orc';
import {
  AccessDeniedError,
  bindService,
  type CallContext,
  currentCall,
  type ImplementationOf,
  type ServiceBinding,
  type TokenTable,
} from '@skep/rpc';
import type { Schema } from 'apache-arrow';
import { toArrowSchema } from '../arrow/arrow-type.js';
import { encapsulatedSchema } from '../arrow/ipc.js';
import type { TimestampForm } from '../arrow/options.js';
import {
  type FlightData,
  type FlightDescriptor,
  FlightDescriptor_DescriptorType,
  type FlightInfo,
  FlightServiceService,
} from '../gen/flight.js';
import { unpackSql } from '../sql/any.js';
import { FlightSql } from '../sql/flight-sql.js';
import type { SqlSource } from '../sql/sql-source.js';
import { READ_BY, ROW_ID, ROW_ID_TYPE } from '../streams/changes.js';
import type { Caller, DataSource, PlannedSplit, ReadPlan, TableShape } from '../streams/data-source.js';
import { parseReadDescriptor, type ReadDescriptor } from '../streams/descriptor.js';
import { BadRequestError, NotOfferedError, TicketExpiredError } from '../streams/errors.js';
import { parseFilter } from '../streams/filter/filter.js';
import { encodeFlightData } from '../streams/flight-data.js';
import { jsonBytes, onlyFields, optionalText, parseObject } from '../streams/json.js';
import { recordStream, schemaData } from '../streams/record-stream.js';
import type { ServedAction } from '../streams/served-action.js';
import { StreamMemory } from '../streams/stream-memory.js';
import { type FlightTotals, flightTotals } from '../streams/stream-totals.js';
import { type SplitTicket, TicketSigner } from '../streams/ticket.js';
import { WorkPlaces } from '../streams/work-places.js';
import { actionTypes, doAction } from './actions.js';
import { doPut } from './do-put.js';
import { handshakeToken } from './handshake.js';

export interface FlightOptions {
  readonly source: DataSource;
  /** Serves Flight SQL too. */
  readonly sql?: SqlSource;
  /** What is offered beside the actions of tables. */
  readonly actions?: readonly ServedAction[];
  /** Of tickets; services with the same key redeem each other's. */
  readonly ticketKey: Uint8Array;
  /** Where the endpoints can be read, as `grpc://HOST:PORT`; none: where they came from. */
  readonly locations?: readonly string[];
  readonly tokens?: TokenTable | undefined;
  /** Batches that are read and decoded at once, over all streams. Default 4. */
  readonly workPlaces?: number;
  /** What streams of DoGet may hold together; beyond it they wait for one another. Default 1 GiB. */
  readonly streamBytes?: number;
  /** Is told what is streamed. */
  readonly totals?: FlightTotals;
  readonly now: () => number;
}

type Methods = ImplementationOf<typeof FlightServiceService>;

const EMPTY = Buffer.alloc(0);

/** Arrow Flight over a source of tables, ready to be served. */
export function flightBinding(options: FlightOptions): ServiceBinding {
  const { doGet } = FlightServiceService;
  const definition = { ...FlightServiceService, doGet: { ...doGet, responseSerialize: encodeFlightData } };
  return bindService(definition, new FlightService(options).methods, {
    anonymous: ['handshake'],
    descriptors: async () => Buffer.from((await import('../gen/descriptor-set.js')).DESCRIPTOR_SET, 'base64'),
  });
}

class FlightService {
  private readonly signer: TicketSigner;
  private readonly places: WorkPlaces;
  private readonly totals: FlightTotals;
  private readonly memory: StreamMemory;
  private readonly sql: FlightSql | undefined;
  private readonly actions: readonly ServedAction[];

  constructor(private readonly options: FlightOptions) {
    this.signer = new TicketSigner(options.ticketKey);
    this.places = new WorkPlaces(options.workPlaces ?? 4);
    this.totals = options.totals ?? flightTotals();
    this.memory = new StreamMemory(options.streamBytes ?? 1 << 30);
    const { source, sql } = options;
    this.sql = sql && new FlightSql({ tables: source, sql, places: this.places, totals: this.totals.sent });
    this.actions = [...(options.actions ?? []), ...(this.sql?.actions ?? [])];
  }

  readonly methods: Methods = {
    handshake: (requests) => this.handshake(requests),
    listFlights: ({ expression }) => this.listFlights(expression),
    getFlightInfo: (descriptor) => this.getFlightInfo(descriptor),
    pollFlightInfo: async (descriptor) => ({ info: await this.getFlightInfo(descriptor), progress: 1 }),
    getSchema: async (descriptor) => {
      const command = unpackSql(descriptor.cmd);
      if (command !== undefined) return { schema: asBuffer(this.sqlOf().schema(command, callerOf(currentCall()))) };
      const request = parseReadDescriptor(descriptor);
      const shape = await this.options.source.table(request.database, request.table, callerOf(currentCall()));
      return { schema: asBuffer(encapsulatedSchema(readOf(request, shape).schema)) };
    },
    doGet: ({ ticket }) => this.totals.sent.during(this.doGet(ticket)),
    doPut: (requests) => {
      const { received } = this.totals;
      const caller = callerOf(currentCall());
      const options = { source: this.options.source, sql: () => this.sqlOf(), totals: received };
      return received.during(doPut(options, requests, caller));
    },
    // biome-ignore lint/correctness/useYield: the contract wants a stream, this one only fails
    doExchange: async function* refuse() {
      throw new NotOfferedError('DoExchange is not offered: rows are read with DoGet and written with DoPut');
    },
    doAction: async function* act(this: FlightService, action: Parameters<Methods['doAction']>[0]) {
      yield* doAction(this.options.source, this.actions, action, callerOf(currentCall()));
    }.bind(this),
    listActions: async function* list(this: FlightService) {
      yield* actionTypes(this.actions);
    }.bind(this),
  };

  private async *handshake(requests: Parameters<Methods['handshake']>[0]) {
    const call = currentCall();
    const token = await handshakeToken(call?.header('authorization'), requests, this.options.tokens);
    call?.answerHeader('authorization', `Bearer ${token}`);
    yield { protocolVersion: 0n, payload: Buffer.from(token) };
  }

  private async *listFlights(expression: Buffer): AsyncGenerator<FlightInfo> {
    const caller = callerOf(currentCall());
    const what = 'the criteria';
    const criteria = parseObject(expression, what);
    onlyFields(criteria, ['database', 'table'], what);
    const databases = pattern(optionalText(criteria, 'database', what));
    const tables = pattern(optionalText(criteria, 'table', what));
    const matches = (database: string, table: string) => databases.test(database) && tables.test(table);
    for await (const shape of this.options.source.tables(matches, caller)) {
      const { database, table } = shape;
      yield {
        schema: asBuffer(encapsulatedSchema(schemaOf(shape.columns, 'ns'))),
        flightDescriptor: { type: FlightDescriptor_DescriptorType.PATH, cmd: EMPTY, path: [database, table] },
        endpoint: [],
        totalRecords: -1n,
        totalBytes: -1n,
        ordered: false,
        appMetadata: EMPTY,
      };
    }
  }

  private async getFlightInfo(descriptor: FlightDescriptor): Promise<FlightInfo> {
    const caller = callerOf(currentCall());
    const command = unpackSql(descriptor.cmd);
    if (command !== undefined) {
      return await this.sqlOf().info(command, descriptor, timestampsOf(currentCall()), caller);
    }
    const request = parseReadDescriptor(descriptor);
    const { source } = this.options;
    const { database, table, snapshot } = request;
    const shape = await source.table(database, table, caller);
    const read = readOf(request, shape);
    const plan = await source.plan({ database, table, predicate: read.filter?.predicate ?? [], snapshot }, caller);
    const { filter, timestamps, rowIds } = request;
    const { columns, type } = read;
    const { txnId, expiresMs } = plan;
    const common = { database, table, user: caller.user, txnId, expiresMs, columns, type, filter, timestamps, rowIds };
    const readBy = rowIds ? { validTxns: plan.validTxns } : {};
    return {
      schema: asBuffer(encapsulatedSchema(read.schema)),
      flightDescriptor: descriptor,
      endpoint: plan.splits.map((split) => ({
        ticket: { ticket: this.signer.sign({ ...common, ...readBy, bytes: split.sizeBytes, handle: split.handle }) },
        location: (this.options.locations ?? []).map((uri) => ({ uri })),
        expirationTime: new Date(expiresMs),
        appMetadata: jsonBytes({ partition: split.partition, bytes: split.sizeBytes }),
      })),
      totalRecords: filter === undefined ? totalRows(plan.splits) : -1n,
      totalBytes: BigInt(plan.splits.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)),
      ordered: false,
      appMetadata: snapshotMetadata(plan),
    };
  }

  private async *doGet(bytes: Buffer): AsyncGenerator<FlightData> {
    const caller = callerOf(currentCall());
    const command = unpackSql(bytes);
    if (command !== undefined) {
      yield* this.sqlOf().get(command, timestampsOf(currentCall()), caller);
      return;
    }
    const ticket = this.signer.open(bytes);
    this.mayRedeem(ticket, caller);
    const { columns, rowIds, handle, txnId, timestamps, bytes: fileBytes } = ticket;
    const type = parseType(ticket.type);
    const all = type.fieldNames.map((name, i) => ({ name, type: type.children[i] }));
    const delivered = all.slice(0, columns.length);
    const own = rowIds ? [{ name: ROW_ID, type: ROW_ID_TYPE }] : [];
    const schema = schemaOf([...delivered, ...own], timestamps, ticket.validTxns);
    const filter = ticket.filter === undefined ? undefined : parseFilter(ticket.filter, all);
    const extra = (filter?.columns ?? []).filter((name) => !columns.includes(name));
    const { sent } = this.totals;
    // Before the stream's turn: a client that opens many goes on.
    yield schemaData(schema);
    const { batchBytes, segmentBytes, leave } = await this.memory.enter(sent.open, fileBytes, caller.signal);
    try {
      const wanted = { columns: [...columns, ...extra], predicate: filter?.predicate ?? [], rowIds };
      const batches = this.options.source.read({ handle, txnId, ...wanted, batchBytes, segmentBytes }, caller);
      const ordered = rowIds && extra.length > 0 ? rowIdsBefore(batches, columns.length) : batches;
      yield* recordStream(schema, ordered, filter, this.places, sent, caller.signal);
    } finally {
      leave();
    }
  }

  private sqlOf(): FlightSql {
    if (this.sql !== undefined) return this.sql;
    throw new NotOfferedError('Flight SQL is not offered here: descriptors are those of docs/flight.md');
  }

  private mayRedeem({ user, expiresMs, database, table }: SplitTicket, caller: Caller): void {
    if (user !== caller.user) {
      throw new AccessDeniedError(caller.user, user, `the ticket was given to '${user}', not to '${caller.user}'`);
    }
    if (this.options.now() < expiresMs) return;
    throw new TicketExpiredError(`the ticket for ${database}.${table} expired at ${new Date(expiresMs).toISOString()}`);
  }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Of the call being served; asked before anything is awaited. */
function callerOf(call: CallContext | undefined): Caller {
  return { user: call?.user ?? '', signal: call?.signal ?? new AbortController().signal };
}

/** Commands of Flight SQL have no place for it. */
function timestampsOf(call: CallContext | undefined): TimestampForm {
  const wanted = call?.header('skep-timestamps') ?? 'ns';
  if (wanted === 'ns' || wanted === 'us' || wanted === 'struct') return wanted;
  throw new BadRequestError(`the header skep-timestamps is ns, us or struct, not '${wanted}'`);
}

type Columns = readonly { readonly name: string; readonly type: TypeDescription }[];

const schemaOf = (columns: Columns, timestamps: TimestampForm, readBy?: string): Schema =>
  toArrowSchema(
    createStruct(columns.map(({ name, type }) => [name, type] as const)),
    { timestamps },
    readBy === undefined ? undefined : new Map([[READ_BY, readBy]]),
  );

/** What a read delivers: its columns and schema. */
function readOf({ columns, filter, timestamps, rowIds, database, table }: ReadDescriptor, shape: TableShape) {
  if (rowIds && !shape.hasRowIds) {
    throw new BadRequestError(`${database}.${table} is no full ACID table: its rows have no ROW__IDs`);
  }
  const chosen = (columns ?? shape.columns.map(({ name }) => name)).map((name) => {
    const column = shape.columns.find((candidate) => candidate.name === name);
    if (column !== undefined) return column;
    const known = shape.columns.map((candidate) => candidate.name).join(', ');
    throw new BadRequestError(`${database}.${table} has no column ${name}, but ${known}`);
  });
  const parsed = filter === undefined ? undefined : parseFilter(filter, shape.columns);
  const names = chosen.map(({ name }) => name);
  const needed = (parsed?.columns ?? [])
    .filter((name) => !names.includes(name))
    .flatMap((name) => shape.columns.filter((column) => column.name === name));
  const typed = [...chosen, ...needed].map(({ name, type }) => [name, type] as const);
  return {
    columns: names,
    filter: parsed,
    type: typeToString(createStruct(typed)),
    schema: schemaOf([...chosen, ...(rowIds ? [{ name: ROW_ID, type: ROW_ID_TYPE }] : [])], timestamps),
  };
}

/** The columns of the filter go behind what is delivered. */
async function* rowIdsBefore(batches: AsyncIterable<StructVector>, at: number): AsyncGenerator<StructVector> {
  const move = <T>(list: readonly T[]): T[] => [...list.slice(0, at), list[list.length - 1], ...list.slice(at, -1)];
  for await (const batch of batches) {
    yield { ...batch, fieldNames: move(batch.fieldNames), children: move(batch.children) };
  }
}

function totalRows(splits: readonly PlannedSplit[]): bigint {
  let sum = 0n;
  for (const { rows } of splits) {
    if (rows === undefined) return -1n;
    sum += BigInt(rows);
  }
  return sum;
}

const snapshotMetadata = ({ txnId, validTxns, writeIds, expiresMs }: ReadPlan): Buffer =>
  jsonBytes({ txnId, validTxns, writeIds, expires: new Date(expiresMs).toISOString() });

/** Hive's patterns of SHOW TABLES: `*` is any text, `|` separates alternatives. */
function pattern(text: string | undefined): RegExp {
  const source = (text ?? '*').replace(/[.*+?^${}()|[\]\\]/g, (c) => (c === '*' ? '.*' : c === '|' ? '|' : `\\${c}`));
  return new RegExp(`^(?:${source})$`, 'i');
}
