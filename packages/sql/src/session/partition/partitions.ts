import { DEFAULT_PARTITION_NAME, formatPartitionName } from '@skep/core';
import { type FieldSchema, Partition, type Table } from '@skep/rpc';
import type { Expression, PartitionFilter, PartitionSpec } from '../../parse/ast.js';
import { emptyPartitionStatistics, type SessionContext } from '../context.js';
import { SemanticError } from '../errors.js';
import { canonicalPartitionText } from './partition-value.js';

/** The values a PARTITION clause names: text, or undefined where the partition is dynamic. Keys in the table's own order. */
export function partitionValues(table: Table, spec: PartitionSpec): Map<string, string | undefined> {
  const known = new Map(table.partitionKeys.map((key) => [key.name, key]));
  const given = new Map<string, string | undefined>();
  for (const { column, value, position } of spec.columns) {
    const name = column.name.toLowerCase();
    const key = known.get(name);
    if (key === undefined) {
      throw new SemanticError(10098, `Non-Partition column appears in the partition specification: ${column.name}`, {
        position,
      });
    }
    given.set(name, value === undefined ? undefined : specifiedValue(value, key));
  }
  return new Map(
    table.partitionKeys.filter((key) => given.has(key.name)).map((key) => [key.name, given.get(key.name)]),
  );
}

/** The text of a constant in a partition clause; null for NULL. */
export function constantText(value: Expression): string | null {
  switch (value.kind) {
    case 'string':
    case 'date':
    case 'timestamp':
      return value.value;
    case 'number':
      return value.text;
    case 'boolean':
      return String(value.value);
    case 'null':
      return null;
    case 'unary': {
      const text = constantText(value.operand);
      if (value.operator === '-' && text !== null) return `-${text}`;
      if (value.operator === '+') return text;
      break;
    }
    case 'cast':
      return constantText(value.operand);
    default:
  }
  throw new SemanticError(10026, 'A partition value must be a constant', { position: value.position });
}

/** A partition value in its type's own form; as it stands where it is no value of the type; the default partition for NULL and ''. */
export function normalizePartitionValue(text: string | null, type: string): string {
  if (text === null || text === '') return DEFAULT_PARTITION_NAME;
  return canonicalPartitionText(type, text) ?? text;
}

/** The value of a partition specification; Hive's 10248 for one that its type does not have. */
function specifiedValue(value: Expression, column: FieldSchema): string {
  const text = constantText(value);
  if (text === null || text === '') return DEFAULT_PARTITION_NAME;
  const canonical = canonicalPartitionText(column.type, text);
  if (canonical !== undefined) return canonical;
  throw new SemanticError(
    10248,
    `Cannot add partition column ${column.name} of type string as it cannot be converted to type ${column.type}`,
    { position: value.position },
  );
}

/**
 * The partition of these values where it is stored under another text, as folders that other engines made are: hr=06, or
 * de=1.10 (bug report B104). Undefined: there is none of these values at all.
 */
export function findByValue(
  table: Table,
  partitions: readonly Partition[],
  values: readonly string[],
): Partition | undefined {
  const wanted = new Map(table.partitionKeys.map((key, i) => [key.name, normalizePartitionValue(values[i], key.type)]));
  return partitions.find((partition) => matches(table, partition, wanted));
}

/** The partitions that may be stored under another text than ours: none where all keys are text. */
export async function listForValues(context: SessionContext, table: Table): Promise<readonly Partition[]> {
  if (table.partitionKeys.every((key) => key.type === 'string')) return [];
  const { database, name } = table;
  return (await context.services.catalog.getPartitions({ database, table: name, names: [] })).partitions;
}

/** A partition's values out of its name's order of keys. */
export const nameOf = (table: Table, values: readonly string[]): string =>
  formatPartitionName(
    table.partitionKeys.map((key, i) => ({
      column: key.name,
      value: values[i] === DEFAULT_PARTITION_NAME ? null : values[i],
    })),
  );

/** Hive's text of a specification in errors: {p=9}. */
export const specText = (values: ReadonlyMap<string, string | undefined>): string =>
  `{${[...values].map(([key, value]) => `${key}=${value ?? ''}`).join(', ')}}`;

/** All partitions that a (possibly partial) specification names. */
export async function matchingPartitions(
  context: SessionContext,
  table: Table,
  values: ReadonlyMap<string, string | undefined>,
): Promise<Partition[]> {
  const { database, name } = table;
  const { catalog } = context.services;
  if (table.partitionKeys.every((key) => values.get(key.name) !== undefined)) {
    const complete = table.partitionKeys.map((key) => values.get(key.name) ?? '');
    const named = await catalog.getPartitions({ database, table: name, names: [nameOf(table, complete)] });
    if (named.partitions.length > 0) return named.partitions;
    const other = findByValue(table, await listForValues(context, table), complete);
    return other === undefined ? [] : [other];
  }
  const { partitions } = await catalog.getPartitions({ database, table: name, names: [] });
  return partitions.filter((partition) => matches(table, partition, values));
}

/** The one partition of a complete specification, or Hive's 10006. */
export async function requirePartition(context: SessionContext, table: Table, spec: PartitionSpec): Promise<Partition> {
  const values = partitionValues(table, spec);
  const found = await matchingPartitions(context, table, values);
  if (found.length === 0)
    throw new SemanticError(10006, `Partition not found ${specText(values)}`, { position: spec.position });
  if (found.length > 1) {
    throw new SemanticError(10284, `Partition specification ${specText(values)} matches ${found.length} partitions`, {
      position: spec.position,
    });
  }
  return found[0];
}

/** All partitions of a specification that may leave keys out, or Hive's 10006. */
export async function requirePartitions(
  context: SessionContext,
  table: Table,
  spec: PartitionSpec,
): Promise<readonly Partition[]> {
  const values = partitionValues(table, spec);
  const found = await matchingPartitions(context, table, values);
  if (found.length > 0) return found;
  throw new SemanticError(10006, `Partition not found ${specText(values)}`, { position: spec.position });
}

/** Hive's 10299 for what is done to one partition only. `operation`: Hive's name of it. */
export function requireWholeSpec(table: Table, spec: PartitionSpec, operation: string): void {
  if (partitionValues(table, spec).size === table.partitionKeys.length) return;
  throw new SemanticError(10299, `Alter table partition type ${operation} does not allow partial partition spec`, {
    position: spec.position,
  });
}

function matches(table: Table, partition: Partition, values: ReadonlyMap<string, string | undefined>): boolean {
  return table.partitionKeys.every((key, i) => {
    const wanted = values.get(key.name);
    return wanted === undefined || normalizePartitionValue(partition.values[i], key.type) === wanted;
  });
}

const comparisons: Record<string, (order: number) => boolean> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

/** The partitions that a filter of DROP PARTITION (ds > '…', hr = 1) names. */
export function filterPartitions(table: Table, partitions: readonly Partition[], filter: PartitionFilter): Partition[] {
  const terms = filter.terms.map((term) => {
    const index = table.partitionKeys.findIndex((key) => key.name === term.column.name.toLowerCase());
    if (index < 0) {
      throw new SemanticError(
        10098,
        `Non-Partition column appears in the partition specification: ${term.column.name}`,
        {
          position: term.position,
        },
      );
    }
    const { type } = table.partitionKeys[index];
    const text = constantText(term.value);
    // No partition has the value '': that one is the default partition, whose rows are NULL (bug report B103).
    const value = text === '' ? undefined : normalizePartitionValue(text, type);
    return { index, type, value, operator: term.operator };
  });
  return partitions.filter((partition) =>
    terms.every(({ index, type, value, operator }) => {
      if (value === undefined) return false;
      const actual = normalizePartitionValue(partition.values[index], type);
      if (operator === 'like') return likePattern(value).test(actual);
      return comparisons[operator](compareAs(type, actual, value));
    }),
  );
}

function likePattern(pattern: string): RegExp {
  const source = [...pattern].map((c) =>
    c === '%' ? '.*' : c === '_' ? '.' : c.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
  );
  return new RegExp(`^${source.join('')}$`, 's');
}

function compareAs(type: string, a: string, b: string): number {
  if (/^(tinyint|smallint|int|bigint)$/.test(type) && /^-?\d+$/.test(a) && /^-?\d+$/.test(b)) {
    const [x, y] = [BigInt(a), BigInt(b)];
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (/^(float|double|decimal)/.test(type)) return Number(a) - Number(b);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The definition of a new partition: its table's storage, its own folder. */
export function newPartition(
  context: SessionContext,
  table: Table,
  values: readonly string[],
  location?: string,
): Partition {
  const { sd } = table;
  return Partition.fromPartial({
    database: table.database,
    table: table.name,
    values: [...values],
    createTime: Math.floor(context.services.clock.now() / 1000),
    sd: { ...sd, location: location ?? `${sd?.location}/${nameOf(table, values)}` },
    parameters: emptyPartitionStatistics(context),
  });
}
