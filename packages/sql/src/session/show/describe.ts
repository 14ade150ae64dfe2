import {
  type Constraint,
  Constraint_Kind,
  type FieldSchema,
  type Partition,
  type StorageDescriptor,
  type Table,
} from '@skep/rpc';
import { skewedOf } from '../ddl/skewed.js';

/** A row of DESCRIBE: three columns of text, padded as Hive pads them. */
export type DescribeRow = readonly [string, string, string];

const width = 20;
const pad = (text: string): string => text.padEnd(width);
const blank: DescribeRow = ['', ' ', ' '];
const heading = (text: string): DescribeRow => [text, ' ', ' '];
const field = (name: string, value: string): DescribeRow => [pad(name), pad(value), ' '];
const columnHeader: DescribeRow = [`# ${pad('col_name')}`, pad('data_type'), pad('comment')];
const columnRow = (column: FieldSchema): DescribeRow => [pad(column.name), pad(column.type), pad(column.comment ?? '')];

/** DESCRIBE t: all columns, the partition columns once more below (org.apache.hadoop.hive.ql.ddl.table.info.desc). */
export function describeTable(table: Table, partition?: Partition): DescribeRow[] {
  const rows = [...((partition?.sd ?? table.sd)?.columns ?? []), ...table.partitionKeys].map(columnRow);
  return table.partitionKeys.length === 0 ? rows : [...rows, ...partitionInformation(table)];
}

/** DESCRIBE FORMATTED t [PARTITION (…)]. */
export function describeFormatted(table: Table, partition?: Partition): DescribeRow[] {
  const sd = partition?.sd ?? table.sd;
  if (sd === undefined) return [];
  return [
    columnHeader,
    ...sd.columns.map(columnRow),
    ...partitionInformation(table),
    blank,
    ...(partition === undefined ? tableDetails(table, sd) : partitionDetails(table, partition, sd)),
    ...storageDetails(sd),
    ...viewDetails(table),
    ...(partition === undefined ? constraintDetails(table) : []),
  ];
}

/** DESCRIBE EXTENDED ends with the definition in one line. */
export function describeExtended(table: Table, partition?: Partition): DescribeRow[] {
  const what = partition === undefined ? 'Table' : 'Partition';
  const sd = partition?.sd ?? table.sd;
  const columns = (sd?.columns ?? []).map(
    (c) => `FieldSchema(name:${c.name}, type:${c.type}, comment:${c.comment ?? null})`,
  );
  const text =
    `${what}(${partition === undefined ? `tableName:${table.name}` : `values:[${partition.values.join(', ')}]`}, dbName:${table.database}, ` +
    `owner:${table.owner}, createTime:${table.createTime}, lastAccessTime:${table.lastAccessTime}, retention:${table.retention}, ` +
    `sd:StorageDescriptor(cols:[${columns.join(', ')}], location:${sd?.location}, inputFormat:${sd?.inputFormat}, ` +
    `outputFormat:${sd?.outputFormat}, numBuckets:${sd?.numBuckets}, bucketCols:[${(sd?.bucketColumns ?? []).join(', ')}]), ` +
    `partitionKeys:[${table.partitionKeys.map((k) => `FieldSchema(name:${k.name}, type:${k.type}, comment:${k.comment ?? null})`).join(', ')}], ` +
    `parameters:{${sortedEntries(partition?.parameters ?? table.parameters)
      .map(([k, v]) => `${k}=${v}`)
      .join(', ')}}, tableType:${table.tableType})`;
  return [...describeTable(table), blank, [`Detailed ${what} Information`, text, '']];
}

function partitionInformation(table: Table): DescribeRow[] {
  if (table.partitionKeys.length === 0) return [];
  return [blank, heading('# Partition Information'), columnHeader, ...table.partitionKeys.map(columnRow)];
}

function tableDetails(table: Table, sd: StorageDescriptor): DescribeRow[] {
  return [
    heading('# Detailed Table Information'),
    field('Database:', table.database),
    field('OwnerType:', table.ownerType),
    field('Owner:', table.owner),
    field('CreateTime:', javaDate(table.createTime)),
    field('LastAccessTime:', table.lastAccessTime === 0 ? 'UNKNOWN' : javaDate(table.lastAccessTime)),
    field('Retention:', String(table.retention)),
    ...(table.tableType === 'VIRTUAL_VIEW' ? [] : [field('Location:', sd.location)]),
    field('Table Type:', table.tableType),
    ...parameterRows('Table Parameters:', table.parameters),
  ];
}

function partitionDetails(table: Table, partition: Partition, sd: StorageDescriptor): DescribeRow[] {
  return [
    heading('# Detailed Partition Information'),
    field('Partition Value:', `[${partition.values.join(', ')}]`),
    field('Database:', table.database),
    field('Table:', table.name),
    field('CreateTime:', javaDate(partition.createTime)),
    field('LastAccessTime:', partition.lastAccessTime === 0 ? 'UNKNOWN' : javaDate(partition.lastAccessTime)),
    field('Location:', sd.location),
    ...parameterRows('Partition Parameters:', partition.parameters),
  ];
}

function parameterRows(title: string, parameters: Readonly<Record<string, string>>): DescribeRow[] {
  const shown = shownParameters(parameters).filter(([name]) => name !== 'numFilesErasureCoded');
  if (shown.length === 0) return [];
  return [heading(title), ...shown.map(([name, value]): DescribeRow => ['', pad(name), pad(escapeJava(value))])];
}

function storageDetails(sd: StorageDescriptor): DescribeRow[] {
  const serdeParameters = sortedEntries(sd.serde?.parameters ?? {});
  return [
    blank,
    heading('# Storage Information'),
    field('SerDe Library:', sd.serde?.serializationLib || 'null'),
    field('InputFormat:', sd.inputFormat || 'null'),
    field('OutputFormat:', sd.outputFormat || 'null'),
    field('Compressed:', sd.compressed ? 'Yes' : 'No'),
    field('Num Buckets:', String(sd.numBuckets)),
    field('Bucket Columns:', `[${sd.bucketColumns.join(', ')}]`),
    field('Sort Columns:', `[${sd.sortColumns.map((s) => `Order(col:${s.column}, order:${s.order})`).join(', ')}]`),
    ...skewedDetails(sd),
    ...(serdeParameters.length === 0
      ? []
      : [
          heading('Storage Desc Params:'),
          ...serdeParameters.map(([name, value]): DescribeRow => ['', pad(name), pad(escapeJava(value))]),
        ]),
  ];
}

function skewedDetails(sd: StorageDescriptor): DescribeRow[] {
  const skewed = skewedOf(sd);
  if (skewed === undefined) return [];
  return [
    ...(sd.storedAsSubDirectories ? [field('Stored As SubDirectories:', 'Yes')] : []),
    field('Skewed Columns:', `[${skewed.columns.join(', ')}]`),
    field('Skewed Values:', `[${skewed.values.map((value) => `[${value.join(', ')}]`).join(', ')}]`),
  ];
}

function viewDetails(table: Table): DescribeRow[] {
  if (table.viewOriginalText === undefined) return [];
  return [
    blank,
    heading('# View Information'),
    field('Original Query:', table.viewOriginalText),
    field('Expanded Query:', table.viewExpandedText ?? table.viewOriginalText),
  ];
}

const constraintTitles: readonly (readonly [Constraint_Kind, string])[] = [
  [Constraint_Kind.KIND_PRIMARY_KEY, '# Primary Key'],
  [Constraint_Kind.KIND_FOREIGN_KEY, '# Foreign Keys'],
  [Constraint_Kind.KIND_UNIQUE, '# Unique Constraints'],
  [Constraint_Kind.KIND_NOT_NULL, '# Not Null Constraints'],
  [Constraint_Kind.KIND_DEFAULT, '# Default Constraints'],
  [Constraint_Kind.KIND_CHECK, '# Check Constraints'],
];

/** Hive shows the constraints that somebody heeds: those that are enforced, or may be relied on. */
export const isShown = ({ enable, rely }: Constraint): boolean => enable || rely;

function constraintDetails(table: Table): DescribeRow[] {
  const shown = table.constraints.filter(isShown);
  if (shown.length === 0) return [];
  const rows: DescribeRow[] = [blank, heading('# Constraints')];
  for (const [kind, title] of constraintTitles) {
    const ofKind = shown.filter((constraint) => constraint.kind === kind);
    if (ofKind.length === 0) continue;
    rows.push(blank, heading(title), field('Table:', `${table.database}.${table.name}`));
    for (const constraint of ofKind)
      rows.push(
        field('Constraint Name:', constraint.name),
        ...constraintColumns(constraint),
        ...(kind === Constraint_Kind.KIND_PRIMARY_KEY ? [] : [blank]),
      );
  }
  return rows;
}

function constraintColumns(constraint: Constraint): DescribeRow[] {
  switch (constraint.kind) {
    case Constraint_Kind.KIND_DEFAULT:
      return constraint.columns.map((c) => [
        pad(`Column Name:${c}`),
        pad(`Default Value:${constraint.expression}`),
        ' ',
      ]);
    case Constraint_Kind.KIND_CHECK:
      return [
        [
          pad(`Column Name:${constraint.columns.length === 0 ? 'null' : constraint.columns.join(',')}`),
          pad(`Check Value:${constraint.expression}`),
          ' ',
        ],
      ];
    case Constraint_Kind.KIND_FOREIGN_KEY:
      return constraint.columns.map((c, i) => [
        pad(`Parent Column Name:${constraint.parentTable}.${constraint.parentColumns[i]}`),
        pad(`Column Name:${c}`),
        pad(`Key Sequence:${i + 1}`),
      ]);
    case Constraint_Kind.KIND_UNIQUE:
      return constraint.columns.map((c, i) => [pad(`Column Name:${c}`), pad(`Key Sequence:${i + 1}`), ' ']);
    default:
      return constraint.columns.map((c) => field('Column Name:', c));
  }
}

/** Parameters without those that skep keeps for itself. */
export const shownParameters = (parameters: Readonly<Record<string, string>>): [string, string][] =>
  sortedEntries(parameters).filter(([name]) => !name.startsWith('skep.'));

/** Parameters by name, the order in which Hive prints them. */
export function sortedEntries(parameters: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

export const escapeJava = (text: string): string =>
  text.replace(/[\\"\n\r\t]/g, (c) => ({ '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' })[c] ?? c);

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** java.util.Date.toString in UTC. */
function javaDate(epochSeconds: number): string {
  const d = new Date(epochSeconds * 1000);
  const two = (n: number) => String(n).padStart(2, '0');
  return (
    `${days[d.getUTCDay()]} ${months[d.getUTCMonth()]} ${two(d.getUTCDate())} ` +
    `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())} UTC ${d.getUTCFullYear()}`
  );
}
