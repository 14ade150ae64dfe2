import { SkepError } from '@skep/core';
import { type Constraint, Constraint_Kind, type FieldSchema } from '@skep/rpc';
import type {
  ColumnConstraint,
  CreateTableStatement,
  Expression,
  Identifier,
  TableConstraint,
} from '../../parse/ast.js';
import { parseTypeText, printType } from '../../parse/index.js';
import { castTo, item, selectQuery, subquery } from '../ast-builders.js';
import type { SessionContext } from '../context.js';
import { SemanticError } from '../errors.js';
import { analyzeInSession } from '../scan/select.js';

/** Constraints with Hive's generated names where none is given; keys that Hive does not enforce must say DISABLE. */
export function constraintsOf(
  statement: CreateTableStatement,
  database: string,
  table: string,
  text: string,
  nowMs: number,
): Constraint[] {
  const all: Constraint[] = [];
  const add = (constraint: ColumnConstraint | TableConstraint, columns: readonly string[]) => {
    all.push(constraintOf(constraint, columns, `${database}.${table}`, all.length, text, nowMs));
  };
  for (const column of statement.columns) {
    if (column.constraint !== undefined) add(column.constraint, [column.name.name.toLowerCase()]);
  }
  for (const constraint of statement.constraints) {
    add(constraint, 'columns' in constraint ? constraint.columns.map((c) => c.name.toLowerCase()) : []);
  }
  if (all.filter(({ kind }) => kind === Constraint_Kind.KIND_PRIMARY_KEY).length > 1) {
    throw new SemanticError(
      10332,
      'Invalid constraint definition Cannot exist more than one primary key definition for the same table',
    );
  }
  if (statement.external && all.some(({ enable, validate }) => enable || validate)) {
    throw new SemanticError(
      10326,
      'Invalid Constraint syntax Constraints are disallowed with External tables. Only RELY is allowed.',
    );
  }
  return all;
}

const constraintKinds = {
  'primary-key': [Constraint_Kind.KIND_PRIMARY_KEY, 'pk'],
  'foreign-key': [Constraint_Kind.KIND_FOREIGN_KEY, 'fk'],
  unique: [Constraint_Kind.KIND_UNIQUE, 'uk'],
  'not-null': [Constraint_Kind.KIND_NOT_NULL, 'nn'],
  default: [Constraint_Kind.KIND_DEFAULT, 'dc'],
  // Hive names CHECK like DEFAULT.
  check: [Constraint_Kind.KIND_CHECK, 'dc'],
} as const;

/** One constraint as the catalog keeps it; `serial` makes its generated name unique within the statement. */
export function constraintOf(
  constraint: ColumnConstraint | TableConstraint,
  columns: readonly string[],
  table: string,
  serial: number,
  text: string,
  nowMs: number,
): Constraint {
  const [kind, prefix] = constraintKinds[constraint.kind];
  const isKey = constraint.kind === 'primary-key' || constraint.kind === 'foreign-key' || constraint.kind === 'unique';
  const enable = constraint.enable ?? true;
  if (isKey && enable) {
    throw new SemanticError(
      10326,
      `Invalid Constraint syntax ENABLE/ENFORCED feature not supported yet. Please use DISABLE/NOT ENFORCED instead.`,
    );
  }
  if (constraint.validate === true) {
    throw new SemanticError(
      10326,
      `Invalid Constraint syntax VALIDATE feature not supported yet. Please use NOVALIDATE instead.`,
    );
  }
  let expression = '';
  if (constraint.kind === 'default') expression = sourceText(text, constraint.value);
  if (constraint.kind === 'check') expression = quotedColumns(text, constraint.expression);
  const parent =
    constraint.kind !== 'foreign-key'
      ? { parentTable: '', parentColumns: [] as string[] }
      : {
          parentTable: [constraint.table.database?.name, constraint.table.name.name]
            .filter(Boolean)
            .join('.')
            .toLowerCase(),
          parentColumns: ('referencedColumns' in constraint ? constraint.referencedColumns : constraint.columns).map(
            (c) => c.name.toLowerCase(),
          ),
        };
  return {
    kind,
    name: constraint.name?.name.toLowerCase() ?? `${prefix}_${hash(table)}_${nowMs}_${serial}`,
    columns: [...columns],
    expression,
    enable,
    validate: false,
    // DISABLE without RELY is nothing that anybody may believe.
    rely: constraint.rely ?? enable,
    ...parent,
  };
}

const sourceText = (text: string, node: { position: { start: number; end: number } }): string =>
  text.slice(node.position.start, node.position.end);

/** A CHECK as Hive keeps it: column names in backticks. */
function quotedColumns(text: string, check: Expression): string {
  const names: { start: number; end: number; name: string }[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) {
      for (const child of node) visit(child);
      return;
    }
    if ('kind' in node && node.kind === 'column' && 'path' in node) {
      for (const part of node.path as readonly Identifier[]) {
        names.push({ start: part.position.start, end: part.position.end, name: part.name });
      }
      return;
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(check);
  names.sort((a, b) => a.start - b.start);
  let quoted = '';
  let at = check.position.start;
  for (const { start, end, name } of names) {
    quoted += `${text.slice(at, start)}\`${name.replaceAll('`', '``')}\``;
    at = end;
  }
  quoted += text.slice(at, check.position.end);
  return quoted;
}

/** A number out of a name, as Hive puts one into generated constraint names; its value carries no meaning. */
function hash(text: string): number {
  let h = 0;
  for (const c of text) h = (Math.imul(h, 31) + (c.codePointAt(0) ?? 0)) & 0x3fffffff;
  return h;
}

/** A CHECK must be a condition on the table's columns. */
export async function checkChecks(
  context: SessionContext,
  statement: CreateTableStatement,
  columns: readonly FieldSchema[],
  text: string,
): Promise<void> {
  const constraints = [...statement.columns.map((column) => column.constraint), ...statement.constraints];
  for (const constraint of constraints) {
    if (constraint?.kind === 'check') await checkCondition(context, constraint.expression, columns, text);
  }
}

/** Hive's 10326 unless the expression is a boolean of these columns, without subqueries. */
export async function checkCondition(
  context: SessionContext,
  check: Expression,
  columns: readonly FieldSchema[],
  text: string,
): Promise<void> {
  const { position } = check;
  const refuse = (why: string, cause?: unknown): never => {
    throw new SemanticError(
      10326,
      `Invalid Constraint syntax Invalid CHECK constraint expression: ${quotedColumns(text, check)}. Invalid Constraint syntax ${why}: ${quotedColumns(text, check)}`,
      { position, cause },
    );
  };
  if (hasSubquery(check)) refuse('Subqueries are not allowed in Check Constraints');
  const nulls = columns.map(({ name, type }) => item(castTo({ kind: 'null', position }, parseTypeText(type)), name));
  const row = subquery(
    selectQuery(nulls, undefined, undefined, position),
    '_row',
    columns.map(({ name }) => name),
  );
  const query = selectQuery([item(check, '_check')], row, undefined, position);
  try {
    const [{ type }] = (await analyzeInSession(context, query, text)).columns;
    if (type === 'boolean') return;
    refuse(`Only boolean type is supported for CHECK constraint, found ${type}`);
  } catch (error) {
    if (!(error instanceof SkepError) || error.code !== 'SEMANTIC_ERROR' || error.hiveCode === 10326) throw error;
    refuse(`Invalid type for CHECK constraint (${error.message})`, error);
  }
}

function hasSubquery(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  if (Array.isArray(node)) return node.some(hasSubquery);
  return ('kind' in node && node.kind === 'query') || Object.values(node).some(hasSubquery);
}

/** A DEFAULT must have its column's very type, as Hive demands (text may default char and varchar). */
export async function checkDefaults(
  context: SessionContext,
  statement: CreateTableStatement,
  text: string,
): Promise<void> {
  for (const { type, constraint } of statement.columns) {
    if (constraint?.kind !== 'default') continue;
    const { position } = constraint.value;
    const query = selectQuery([item(constraint.value, '_default')], undefined, undefined, position);
    const [found] = (await analyzeInSession(context, query, text)).columns;
    const wanted = printType(type);
    const isText = found.type === 'string' && (type.kind === 'char' || type.kind === 'varchar');
    if (found.type === wanted || isText) continue;
    throw new SemanticError(
      10326,
      `Invalid Constraint syntax Invalid type: ${found.type} for default value: ${sourceText(text, constraint.value)}. Please make sure that the type is compatible with column type: ${wanted}`,
      { position },
    );
  }
}
