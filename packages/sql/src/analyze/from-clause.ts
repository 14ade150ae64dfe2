import { unreachable } from '@skep/core';
import { scanCall } from '../emit/scan-call.js';
import { compare } from '../expressions/comparison.js';
import { ambiguousColumn, ambiguousTable, invalidFunction, semantic, tableNotFound } from '../expressions/errors.js';
import { asBoolean } from '../expressions/logic.js';
import type { Condition } from '../expressions/sarg.js';
import type { TableUseBuilder } from '../expressions/table-use.js';
import { checkArguments } from '../functions/checks.js';
import { findFunction } from '../functions/registry.js';
import type {
  Expression,
  Join,
  LateralView,
  SubquerySource,
  TableReference,
  TableSource,
  ValuesSource,
} from '../parse/ast.js';
import type { Analysis, QueryEnvironment } from './analysis.js';
import type { Block } from './block.js';
import { analyzeExpression } from './expression.js';
import { derivedColumns, Scope, type ScopeTable, tableColumn } from './scope.js';
import { valuesBlock } from './values.js';

/** A FROM clause: SQL, the names in it, and the table uses that a WHERE may prune. */
export interface Relation {
  readonly sql: string;
  readonly tables: readonly ScopeTable[];
  readonly prunable: ReadonlySet<TableUseBuilder>;
}

export interface FromContext {
  readonly analysis: Analysis;
  readonly environment: QueryEnvironment;
  readonly outer: Scope | undefined;
}

export function analyzeFrom(node: TableReference, context: FromContext): Relation {
  switch (node.kind) {
    case 'table':
      return tableRelation(node, context);
    case 'subquery':
      return subqueryRelation(node, context);
    case 'values':
      return valuesRelation(node, context);
    case 'join':
      return joinRelation(node, context);
    case 'lateral-view':
      return lateralView(node, context);
    default:
      return unreachable(node, 'table reference');
  }
}

function tableRelation(node: TableSource, context: FromContext): Relation {
  const { analysis, environment } = context;
  const name = node.table.name.name.toLowerCase();
  const alias = node.alias?.name.toLowerCase() ?? name;
  if (node.asOf !== undefined)
    throw semantic('FOR SYSTEM_TIME and SYSTEM_VERSION are only for Iceberg tables', node.position);
  const common = node.table.database === undefined ? environment.commonTables.get(name) : undefined;
  if (common !== undefined) {
    const inner = { currentDatabase: common.environment.currentDatabase, commonTables: common.outer };
    const block = analysis.analyzeSubquery(common.query, inner, undefined);
    return blockRelation(block, alias, undefined, context, common.columns);
  }
  const table = analysis.table(node.table, environment.currentDatabase);
  if (table === undefined) throw tableNotFound(node.table.name.name, node.table.position);
  if (table.kind === 'view') {
    const inner = { currentDatabase: table.currentDatabase, commonTables: new Map() };
    const block = analysis.analyzeSubquery(table.query, inner, undefined);
    return blockRelation(block, alias, table.database, context, table.columns);
  }
  const use = analysis.use(table, alias, node.position);
  const sqlAlias = analysis.alias('t');
  const columns = table.columns.map((column) =>
    tableColumn(sqlAlias, use, column.name, column.type, column.virtual === true),
  );
  const scope: ScopeTable = { alias, database: table.database, columns };
  const sampled = sample(node, scope, context, `${scanCall(use.index)} AS ${sqlAlias}`, sqlAlias);
  return { sql: sampled, tables: [scope], prunable: new Set([use]) };
}

/** TABLESAMPLE: buckets by Hive's hash of the columns, a percentage, a number of rows. */
function sample(node: TableSource, scope: ScopeTable, context: FromContext, sql: string, alias: string): string {
  const { sample: asked } = node;
  if (asked === undefined) return sql;
  switch (asked.kind) {
    case 'rows':
      return `(SELECT * FROM ${sql} LIMIT ${Number.parseInt(asked.value, 10)}) AS ${alias}`;
    case 'percent':
      return `(SELECT * FROM ${sql} WHERE random() * 100 < ${Number(asked.value)}) AS ${alias}`;
    case 'bytes':
      throw semantic('TABLESAMPLE of a size is not supported', node.position);
    case 'bucket': {
      if (asked.on.length === 0) throw semantic('TABLESAMPLE(BUCKET …) without ON is not supported', node.position);
      const env = { ...context, scope: new Scope([scope], context.outer) };
      const call: Expression = {
        kind: 'function',
        name: 'murmur_hash',
        arguments: asked.on,
        distinct: false,
        star: false,
        position: node.position,
      };
      const hash = analyzeExpression(call, env);
      const bucket = `(${hash.sql} & 2147483647) % ${asked.denominator}`;
      return `(SELECT * FROM ${sql} WHERE ${bucket} = ${asked.numerator - 1}) AS ${alias}`;
    }
  }
}

function blockRelation(
  block: Block,
  alias: string | undefined,
  database: string | undefined,
  context: FromContext,
  names?: readonly string[],
): Relation {
  const sqlAlias = context.analysis.alias('t');
  const columns = block.columns.map((column, i) => ({
    name: names?.[i] ?? column.name,
    type: column.type,
    origin: column.origin,
  }));
  const seen = new Set<string>();
  for (const { name } of columns) {
    if (seen.has(name)) throw ambiguousColumn(name, alias ?? '');
    seen.add(name);
  }
  return {
    sql: `(${block.sql}) AS ${sqlAlias}`,
    tables: [{ alias, database, columns: derivedColumns(sqlAlias, columns) }],
    prunable: block.prunable ?? new Set(),
  };
}

function subqueryRelation(node: SubquerySource, context: FromContext): Relation {
  const block = context.analysis.analyzeSubquery(node.query, context.environment, undefined);
  const names = node.columns?.map((column) => column.name);
  return blockRelation(block, node.alias?.name.toLowerCase(), undefined, context, names);
}

function valuesRelation(node: ValuesSource, context: FromContext): Relation {
  const scope = new Scope([], context.outer);
  const block = valuesBlock(node.rows, { ...context, scope }, node.position);
  return blockRelation(
    block,
    node.alias?.name.toLowerCase(),
    undefined,
    context,
    node.columns?.map((c) => c.name),
  );
}

const JOIN_WORDS: Readonly<Record<Join['type'], string>> = {
  inner: 'INNER JOIN',
  left: 'LEFT JOIN',
  right: 'RIGHT JOIN',
  full: 'FULL JOIN',
  cross: 'CROSS JOIN',
  'left-semi': 'SEMI JOIN',
  'left-anti': 'ANTI JOIN',
};

function joinRelation(node: Join, context: FromContext): Relation {
  const left = analyzeFrom(node.left, context);
  const right = analyzeFrom(node.right, { ...context, outer: lateralOuter(node.right, left, context) });
  refuseRepeatedAliases(left, node.right);
  const { analysis } = context;
  const bothSides = new Scope([...left.tables, ...right.tables], context.outer);
  const env = { analysis, environment: context.environment, scope: bothSides };
  const conditions: string[] = [];
  let visibleRight = right.tables;
  if (node.on !== undefined) {
    for (const conjunct of conjunctsOf(node.on)) {
      const value = analyzeExpression(conjunct, env);
      conditions.push(asBoolean(value, env).sql);
      pruneByOn(node.type, value.condition, left, right);
    }
  }
  if (node.using !== undefined) {
    const [leftScope, rightScope] = [new Scope(left.tables), new Scope(right.tables)];
    for (const column of node.using) {
      const pair = [leftScope, rightScope].map((scope) => scope.resolve([column], column.position));
      conditions.push(compare(analysis, '=', pair[0], pair[1]).sql);
    }
    const shared = new Set(node.using.map((column) => column.name.toLowerCase()));
    visibleRight = right.tables.map((table) => ({
      ...table,
      columns: table.columns.map((c) => (shared.has(c.name) ? { ...c, qualifiedOnly: true, virtual: true } : c)),
    }));
  }
  const onlyLeft = node.type === 'left-semi' || node.type === 'left-anti';
  const cross = conditions.length === 0 && (node.type === 'inner' || node.type === 'cross');
  const word = node.type === 'cross' && !cross ? 'INNER JOIN' : JOIN_WORDS[cross ? 'cross' : node.type];
  const on = cross ? '' : ` ON ${conditions.length === 0 ? 'true' : conditions.join(' AND ')}`;
  const rightSql = node.right.kind === 'join' ? `(${right.sql})` : right.sql;
  return {
    sql: `${left.sql} ${word} ${rightSql}${on}`,
    tables: onlyLeft ? left.tables : [...left.tables, ...visibleRight],
    prunable: prunableOf(node.type, left, right),
  };
}

/** A name stands for one table of a FROM clause: a table's own name without its database, where it has no alias. */
function refuseRepeatedAliases(left: Relation, node: TableReference): void {
  switch (node.kind) {
    case 'join':
      // Its own sides have been compared with each other.
      refuseRepeatedAliases(left, node.left);
      refuseRepeatedAliases(left, node.right);
      return;
    case 'lateral-view':
      refuseRepeatedAliases(left, node.input);
      return;
    case 'table':
    case 'subquery':
    case 'values': {
      const name = node.alias ?? (node.kind === 'table' ? node.table.name : undefined);
      if (name === undefined || !left.tables.some((table) => table.alias === name.name.toLowerCase())) return;
      throw ambiguousTable(name.name, name.position);
    }
  }
}

/** `LATERAL TABLE(VALUES …)` sees the tables to its left. */
const lateralOuter = (node: TableReference, left: Relation, context: FromContext): Scope | undefined =>
  node.kind === 'values' && node.lateral ? new Scope(left.tables, context.outer) : context.outer;

const conjunctsOf = (node: Expression): readonly Expression[] =>
  node.kind === 'logical' && node.operator === 'and' ? node.operands : [node];

/** Tables of which a row that fails WHERE cannot matter: not those that an outer join fills with NULLs. */
function prunableOf(type: Join['type'], left: Relation, right: Relation): ReadonlySet<TableUseBuilder> {
  switch (type) {
    case 'inner':
    case 'cross':
      return new Set([...left.prunable, ...right.prunable]);
    case 'left':
    case 'left-semi':
    case 'left-anti':
      return left.prunable;
    case 'right':
      return right.prunable;
    case 'full':
      return new Set();
  }
}

function pruneByOn(type: Join['type'], condition: Condition | undefined, left: Relation, right: Relation): void {
  if (condition === undefined) return;
  const leftToo = type === 'inner' || type === 'cross' || type === 'right' || type === 'left-semi';
  const rightToo = type !== 'right' && type !== 'full';
  if ((leftToo && left.prunable.has(condition.use)) || (rightToo && right.prunable.has(condition.use))) {
    condition.use.predicate.push(condition.sarg);
  }
}

function lateralView(node: LateralView, context: FromContext): Relation {
  const { analysis } = context;
  const input = analyzeFrom(node.input, context);
  const scope = new Scope(input.tables, context.outer);
  const env = { analysis, environment: context.environment, scope };
  const found = findFunction(node.function.name);
  if (found === undefined || found.kind !== 'table') throw invalidFunction(node.function.name, node.function.position);
  const args = node.function.arguments.map((argument) => analyzeExpression(argument, env));
  const call = { analysis, name: node.function.name, args, position: node.function.position };
  checkArguments(call);
  const result = found.build(call);
  if (node.columns.length > 0 && node.columns.length !== result.columns.length) {
    throw semantic(
      `The number of aliases supplied in the AS clause does not match the number of columns output by the UDTF expected ${result.columns.length} aliases but got ${node.columns.length}`,
      node.position,
      10083,
    );
  }
  const alias = analysis.alias('t');
  const columns = result.columns.map((column, i) => ({
    name: node.columns[i]?.name ?? column.name,
    type: column.type,
  }));
  return {
    sql: `${input.sql} ${node.outer ? 'LEFT JOIN' : 'INNER JOIN'} LATERAL (${result.select}) AS ${alias} ON true`,
    tables: [...input.tables, { alias: node.alias.name.toLowerCase(), columns: derivedColumns(alias, columns) }],
    prunable: input.prunable,
  };
}
