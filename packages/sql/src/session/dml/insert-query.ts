import { type Constraint, Constraint_Kind, type FieldSchema, type Table } from '@skep/rpc';
import type { Expression, InsertTable, OrderItem, Position, Query, Values } from '../../parse/ast.js';
import { parseExpression, parseTypeText } from '../../parse/index.js';
import { parseTypeName, sameType } from '../../query.js';
import { castTo, columnRef, item, selectQuery, subquery } from '../ast-builders.js';
import { SemanticError } from '../errors.js';
import { partitionValues, specText } from '../partition/partitions.js';

/** Where an INSERT's rows go: the columns that the source must fill, and the partition. */
export interface InsertShape {
  readonly table: Table;
  /** Columns in the order in which the source gives them: those listed, or all data columns and then the dynamic partition columns. */
  readonly given: readonly FieldSchema[];
  /** All columns to be written, in the table's order, then the dynamic partition columns. */
  readonly written: readonly FieldSchema[];
  /** The partition's values in the table's order; undefined where they come from the rows. */
  readonly partition: readonly (string | undefined)[];
  readonly dynamicKeys: readonly FieldSchema[];
}

/** What INSERT INTO t [PARTITION (…)] [(columns)] asks for (SemanticAnalyzer.genFileSinkPlan). */
export function insertShape(table: Table, target: InsertTable, nonstrict: boolean): InsertShape {
  const data = table.sd?.columns ?? [];
  const keys = table.partitionKeys;
  const spec =
    target.partition === undefined ? new Map<string, string | undefined>() : partitionValues(table, target.partition);
  if (target.partition !== undefined && keys.length === 0) {
    throw new SemanticError(10098, `Table ${table.name} is not partitioned`, { position: target.partition.position });
  }
  const missing = target.partition === undefined ? undefined : keys.find((key) => !spec.has(key.name));
  if (missing !== undefined) {
    throw new SemanticError(10006, `Partition not found ${specText(spec)}: it says nothing of ${missing.name}`, {
      position: target.partition?.position ?? target.position,
    });
  }
  const partition = keys.map((key) => spec.get(key.name));
  const firstDynamic = partition.indexOf(undefined);
  if (firstDynamic >= 0 && partition.slice(firstDynamic).some((value) => value !== undefined)) {
    throw new SemanticError(10094, 'Dynamic partition cannot be the parent of a static partition', {
      position: target.position,
    });
  }
  if (firstDynamic === 0 && !nonstrict) {
    throw new SemanticError(
      10096,
      'Dynamic partition strict mode requires at least one static partition column. To turn this off set hive.exec.dynamic.partition.mode=nonstrict',
      { position: target.position },
    );
  }
  const dynamicKeys = keys.filter((_, i) => partition[i] === undefined);
  const listed = target.columns?.map((column) => {
    const name = column.name.toLowerCase();
    const found = [...data, ...dynamicKeys].find((c) => c.name === name);
    if (found === undefined) {
      throw new SemanticError(
        10002,
        `Invalid column reference '${name}' in the column list of ${table.database}.${table.name}`,
        {
          position: column.position,
        },
      );
    }
    return found;
  });
  const repeated = target.columns?.find((_, i) => listed?.indexOf(listed[i]) !== i);
  if (repeated !== undefined) {
    throw new SemanticError(
      10036,
      `Duplicate column name detected in ${table.database}.${table.name} table schema specification: ${repeated.name}`,
      { position: repeated.position },
    );
  }
  return {
    table,
    given: listed ?? [...data, ...dynamicKeys],
    written: [...data, ...dynamicKeys],
    partition,
    dynamicKeys,
  };
}

/** Hive's 10044, raised once the source's columns are counted. */
export function checkColumnCount(shape: InsertShape, target: InsertTable, count: number): void {
  if (count === shape.given.length) return;
  const lastValue = target.partition?.columns.at(-1)?.value;
  const near =
    lastValue === undefined
      ? shape.table.name
      : 'text' in lastValue
        ? lastValue.text
        : 'value' in lastValue
          ? String(lastValue.value)
          : shape.table.name;
  throw new SemanticError(
    10044,
    `Line ${target.table.position.line}:${target.table.position.column} Cannot insert into target table because column number/types are different '${near}': Table insclause-0 has ${shape.given.length} columns, but query has ${count} columns.`,
    { position: target.table.position },
  );
}

/** Arrays, maps and structs are not converted: not even a NULL without a type is one (10044). */
export function refuseOtherNested(
  shape: InsertShape,
  target: InsertTable,
  columns: readonly { readonly type: string }[],
): void {
  const at = shape.given.findIndex(
    ({ type }, i) =>
      /^(array|map|struct)</.test(type) && !sameType(parseTypeName(columns[i].type), parseTypeName(type)),
  );
  if (at < 0) return;
  throw new SemanticError(
    10044,
    `Line ${target.table.position.line}:${target.table.position.column} Cannot insert into target table because column number/types are different '${shape.table.name}': Cannot convert column ${at} from ${columns[at].type} to ${shape.given[at].type}.`,
    { position: target.table.position },
  );
}

/** VALUES with each DEFAULT replaced by its column's default; other sources come back as they are. */
export function resolveDefaults(shape: InsertShape, query: Query): Query {
  if (query.body.kind !== 'values' || !query.body.rows.some((row) => row.some((value) => value.kind === 'default')))
    return query;
  const body: Values = {
    ...query.body,
    rows: query.body.rows.map((row) =>
      row.map((value, i) =>
        value.kind === 'default' ? defaultOf(shape.table, shape.given[i]?.name ?? '', value.position) : value,
      ),
    ),
  };
  return { ...query, body };
}

/** A column's DEFAULT as an expression, NULL without one. */
export function defaultOf(table: Table, column: string, position: Position): Expression {
  const constraint = table.constraints.find(
    (c) => c.kind === Constraint_Kind.KIND_DEFAULT && c.enable && c.columns[0] === column,
  );
  return constraint === undefined ? { kind: 'null', position } : parseExpression(constraint.expression);
}

/**
 * The query that yields the written columns with their types: a cast of each source column, the default of each column
 * the source does not give.
 */
export function insertQuery(shape: InsertShape, source: Query): Query {
  const { position } = source;
  const names = shape.given.map((_, i) => `_s${i}`);
  const items = shape.written.map((column) => {
    const at = shape.given.findIndex((given) => given.name === column.name);
    // A dynamic partition column that is not listed is NULL: the default partition, as in Hive.
    const value = at >= 0 ? columnRef(['_source', names[at]], position) : defaultOf(shape.table, column.name, position);
    return item(castTo(value, parseTypeText(column.type)), column.name);
  });
  return selectQuery(items, subquery(source, '_source', names), undefined, position);
}

/**
 * Rows come to a bucket's writer in the order of the bucket columns, NULLs first (recorded of Hive 4.0.1, whose reducers sort
 * by their key): so ROW__IDs of bucketed tables are Hive's.
 */
export function bucketOrder(table: Table, position: Position): OrderItem[] {
  if (table.sd === undefined || table.sd.numBuckets <= 0) return [];
  return table.sd.bucketColumns.map((name) => ({
    expression: columnRef([name], position),
    direction: 'asc',
    nulls: 'first',
    position,
  }));
}

/** Constraints that Hive enforces on a write: ENABLE'd NOT NULL and CHECK. */
export const enforcedConstraints = (table: Table): Constraint[] =>
  table.constraints.filter(
    (c) => c.enable && (c.kind === Constraint_Kind.KIND_NOT_NULL || c.kind === Constraint_Kind.KIND_CHECK),
  );

/**
 * The written rows with one boolean more for each enforced constraint: false where it is broken (a CHECK that is NULL
 * holds, as in SQL).
 */
export function withConstraintColumns(
  table: Table,
  rows: Query,
  columns: readonly string[],
): { query: Query; checks: readonly Constraint[] } {
  const checks = enforcedConstraints(table);
  if (checks.length === 0) return { query: rows, checks };
  const { position } = rows;
  const passed = columns.map((name) => item(columnRef(['_rows', name], position), name));
  const tests = checks.map((constraint, i) => item(constraintTest(constraint), `_check${i}`));
  return {
    query: selectQuery([...passed, ...tests], subquery(rows, '_rows', [...columns]), undefined, position),
    checks,
  };
}

function constraintTest(constraint: Constraint): Expression {
  if (constraint.kind === Constraint_Kind.KIND_CHECK)
    return parseExpression(`coalesce(${constraint.expression}, true)`);
  return parseExpression(
    constraint.columns.map((name) => `\`${name.replaceAll('`', '``')}\` is not null`).join(' and '),
  );
}
