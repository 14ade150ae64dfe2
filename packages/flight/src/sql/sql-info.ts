import {
  Bool,
  type Data,
  type DataType,
  DenseUnion,
  Field,
  Int32,
  Int64,
  List,
  Map_,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Type,
  Uint32,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';

/** SqlInfo's numbers (FlightSql.proto) with what is true here. */
const FACTS: ReadonlyMap<number, string | boolean | number> = new Map<number, string | boolean | number>([
  // FLIGHT_SQL_SERVER_NAME, _VERSION, _ARROW_VERSION
  [0, 'skep'],
  [1, '0.1.0'],
  [2, '21.2.0'],
  // _READ_ONLY, _SQL, _SUBSTRAIT
  [3, false],
  [4, true],
  [5, false],
  // _TRANSACTION: SQL_SUPPORTED_TRANSACTION_NONE
  [8, 0],
  // _CANCEL, _BULK_INGESTION, _INGEST_TRANSACTIONS_SUPPORTED
  [9, false],
  [10, true],
  [11, false],
  // SQL_DDL_CATALOG, _SCHEMA, _TABLE
  [500, false],
  [501, true],
  [502, true],
  // SQL_IDENTIFIER_CASE: case insensitive; SQL_IDENTIFIER_QUOTE_CHAR
  [503, 1],
  [504, '`'],
  // SQL_QUOTED_IDENTIFIER_CASE, SQL_ALL_TABLES_ARE_SELECTABLE
  [505, 1],
  [506, true],
]);

const map = new Map_<Int32, List<Int32>>(
  new Field(
    'entries',
    new Struct([
      new Field('key', new Int32()),
      new Field('value', new List(new Field('item', new Int32(), true)), true),
    ]),
  ) as never,
);
const VALUE_FIELDS = [
  new Field('string_value', new Utf8(), true),
  new Field('bool_value', new Bool(), true),
  new Field('bigint_value', new Int64(), true),
  new Field('int32_bitmask', new Int32(), true),
  new Field('string_list', new List(new Field('item', new Utf8(), true)), true),
  new Field('int32_to_int32_list_map', map, true),
];
const VALUE = new DenseUnion(Int32Array.from(VALUE_FIELDS.keys()) as never, VALUE_FIELDS as never);

/** As the specification of CommandGetSqlInfo has it. */
export const SQL_INFO_SCHEMA = new Schema([new Field('info_name', new Uint32()), new Field('value', VALUE)]);

/** Those of the facts that are asked for, all where none is. */
export function sqlInfo(wanted: readonly number[]): RecordBatch {
  const found = [...FACTS].filter(([number]) => wanted.length === 0 || wanted.includes(number));
  const texts: string[] = [];
  const flags: boolean[] = [];
  const longs: bigint[] = [];
  const typeIds = new Int8Array(found.length);
  const valueOffsets = new Int32Array(found.length);
  found.forEach(([, value], i) => {
    const [id, list] = typeof value === 'string' ? [0, texts] : typeof value === 'boolean' ? [1, flags] : [2, longs];
    typeIds[i] = id;
    valueOffsets[i] = list.length;
    (list as unknown[]).push(typeof value === 'number' ? BigInt(value) : value);
  });
  const data = (values: readonly unknown[], { type }: Field): Data =>
    values.length === 0 ? emptyData(type) : vectorFromArray(values as never, type as never).data[0];
  const children = [texts, flags, longs, [], [], []].map((values, i) => data(values, VALUE_FIELDS[i]));
  const value = makeData({ type: VALUE, length: found.length, nullCount: 0, typeIds, valueOffsets, children } as never);
  const names = makeData({
    type: new Uint32(),
    length: found.length,
    nullCount: 0,
    data: Uint32Array.from(found, ([number]) => number),
  });
  const root = makeData({
    type: new Struct(SQL_INFO_SCHEMA.fields),
    length: found.length,
    nullCount: 0,
    children: [names, value as never],
  });
  return new RecordBatch(SQL_INFO_SCHEMA, root as never);
}

/** makeData makes no lists of nothing by itself. */
function emptyData(type: DataType): Data {
  const [child] = (type.children ?? []).map((field: Field) => emptyData(field.type));
  const isList = type.typeId === Type.List || type.typeId === Type.Map;
  const parts = isList ? { valueOffsets: new Int32Array(1), child } : {};
  const children = type.typeId === Type.Struct ? { children: type.children.map((field) => emptyData(field.type)) } : {};
  return makeData({ type, length: 0, nullCount: 0, ...parts, ...children } as never) as Data;
}
