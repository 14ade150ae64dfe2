import type { TimestampForm } from '../arrow/options.js';
import { type FlightDescriptor, FlightDescriptor_DescriptorType } from '../gen/flight.js';
import type { Snapshot } from './data-source.js';
import { BadRequestError } from './errors.js';
import {
  asObject,
  type Json,
  type JsonObject,
  onlyFields,
  optionalChoice,
  optionalFlag,
  optionalId,
  optionalText,
  parseObject,
  requiredText,
} from './json.js';

interface TableDescriptor {
  readonly database: string;
  readonly table: string;
}

/** What GetFlightInfo and GetSchema are asked for. */
export interface ReadDescriptor extends TableDescriptor {
  /** In the order wanted; absent: all. */
  readonly columns: readonly string[] | undefined;
  readonly filter: Json | undefined;
  readonly snapshot: Snapshot;
  readonly timestamps: TimestampForm;
  readonly rowIds: boolean;
}

/** Where and how a DoPut's rows are written. */
export interface WriteDescriptor extends TableDescriptor {
  readonly mode: 'append' | 'overwrite' | 'mutate';
  readonly txnId: bigint | undefined;
  readonly partition: Readonly<Record<string, string | null>>;
  readonly operationColumn: string;
  readonly validTxns: string | undefined;
}

const WHAT = 'the command descriptor';
const READ_FIELDS = ['database', 'table', 'columns', 'filter', 'snapshot', 'timestamps', 'rowIds'];
const WRITE_FIELDS = ['database', 'table', 'mode', 'txnId', 'partition', 'operationColumn', 'snapshot'];

export function parseReadDescriptor(descriptor: FlightDescriptor): ReadDescriptor {
  const plain = { columns: undefined, filter: undefined, timestamps: 'ns', rowIds: false } as const;
  if (descriptor.type !== FlightDescriptor_DescriptorType.CMD) {
    return { ...tableOfPath(descriptor), ...plain, snapshot: { kind: 'latest' } };
  }
  const command = parseObject(descriptor.cmd, WHAT);
  onlyFields(command, READ_FIELDS, WHAT);
  return {
    ...tableOf(command),
    columns: columnsOf(command),
    filter: command.filter ?? undefined,
    snapshot: snapshotOf(command.snapshot ?? 'latest'),
    timestamps: optionalChoice(command, 'timestamps', ['ns', 'us', 'struct'], WHAT) ?? 'ns',
    rowIds: optionalFlag(command, 'rowIds', WHAT),
  };
}

export function parseWriteDescriptor(descriptor: FlightDescriptor): WriteDescriptor {
  const plain = { partition: {}, operationColumn: 'operation', validTxns: undefined, txnId: undefined } as const;
  if (descriptor.type !== FlightDescriptor_DescriptorType.CMD) {
    return { ...tableOfPath(descriptor), ...plain, mode: 'append' };
  }
  const command = parseObject(descriptor.cmd, WHAT);
  onlyFields(command, WRITE_FIELDS, WHAT);
  const mode = optionalChoice(command, 'mode', ['append', 'overwrite', 'mutate'], WHAT) ?? 'append';
  const snapshot = command.snapshot === undefined ? {} : asObject(command.snapshot, `${WHAT}: snapshot`);
  onlyFields(snapshot, ['validTxns'], `${WHAT}: snapshot`);
  return {
    ...tableOf(command),
    mode,
    txnId: optionalId(command, 'txnId', WHAT),
    partition: partitionOf(command),
    operationColumn: (optionalText(command, 'operationColumn', WHAT) ?? plain.operationColumn).toLowerCase(),
    validTxns: optionalText(snapshot, 'validTxns', `${WHAT}: snapshot`),
  };
}

function tableOfPath({ type, path }: FlightDescriptor): TableDescriptor {
  if (type !== FlightDescriptor_DescriptorType.PATH) {
    throw new BadRequestError('a descriptor is a path [database, table], or a command with JSON');
  }
  const [database, table] = path.length === 1 ? ['default', path[0]] : path;
  if (path.length < 1 || path.length > 2 || database === '' || table === '') {
    throw new BadRequestError(`the path [${path.join(', ')}] names no table: it is [database, table] or [table]`);
  }
  return { database: database.toLowerCase(), table: table.toLowerCase() };
}

export function tableOf(command: JsonObject, what = WHAT): TableDescriptor {
  return {
    database: (optionalText(command, 'database', what) ?? 'default').toLowerCase(),
    table: requiredText(command, 'table', what).toLowerCase(),
  };
}

function columnsOf({ columns }: JsonObject): string[] | undefined {
  if (columns === undefined || columns === null) return undefined;
  if (!Array.isArray(columns) || columns.some((name) => typeof name !== 'string')) {
    throw new BadRequestError(`${WHAT}: columns must be a list of names`);
  }
  return columns.map((name) => String(name).toLowerCase());
}

function snapshotOf(value: Json): Snapshot {
  if (value === 'latest') return { kind: 'latest' };
  const what = `${WHAT}: snapshot`;
  if (typeof value !== 'object') {
    throw new BadRequestError(`${what} is "latest", {"writeIds": "db.table:hwm:…"} or {"txnId": n}`);
  }
  const object = asObject(value, what);
  onlyFields(object, ['writeIds', 'txnId'], what);
  const writeIds = optionalText(object, 'writeIds', what);
  const txnId = optionalId(object, 'txnId', what);
  if ((writeIds === undefined) === (txnId === undefined)) {
    throw new BadRequestError(`${what} has either writeIds or txnId`);
  }
  if (writeIds !== undefined) return { kind: 'writeIds', writeIds };
  return { kind: 'transaction', txnId: txnId as bigint };
}

export function partitionOf(command: JsonObject): Record<string, string | null> {
  const partition = command.partition === undefined ? {} : asObject(command.partition, `${WHAT}: partition`);
  return Object.fromEntries(
    Object.entries(partition).map(([name, value]) => {
      if (value !== null && typeof value === 'object') {
        throw new BadRequestError(`${WHAT}: partition.${name} must be text, a number, a boolean or null`);
      }
      return [name.toLowerCase(), value === null ? null : String(value)];
    }),
  );
}
