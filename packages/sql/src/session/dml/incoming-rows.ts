import { type ColumnVector, concatVectors, isNull, type StructVector } from '@skep/orc';
import { type Constraint, Constraint_Kind } from '@skep/rpc';
import type { Position, Query, TableReference } from '../../parse/ast.js';
import {
  type AnalyzedQuery,
  analyzeQuery,
  castColumns,
  type HiveType,
  parseTypeName,
  type ScanRequest,
  sameType,
  typeName,
} from '../../query.js';
import { columnRef, identifier, item, selectQuery, subquery } from '../ast-builders.js';
import type { SessionContext } from '../context.js';
import { SemanticError } from '../errors.js';
import { enforcedConstraints, type InsertShape, insertQuery, withConstraintColumns } from './insert-query.js';
import { enforce } from './write-rows.js';

/** A column of rows that come from outside: its name, and the Hive type of its vectors. */
export interface IncomingColumn {
  readonly name: string;
  readonly type: string;
}

const SOURCE = '_incoming';
const position: Position = { line: 1, column: 0, start: 0, end: 0 };

/** What the rows' columns go through: the query of those that are converted or tested, beside those that pass as they are. */
interface Conversion {
  readonly analyzed: AnalyzedQuery;
  /** Which of `written` its first columns are; tests of CHECK constraints follow. */
  readonly columns: readonly number[];
  readonly checks: readonly Constraint[];
}

/**
 * Rows from outside become rows of a table by the rules of INSERT: columns by name, casts of other types (char and varchar are
 * cut, decimals rounded), defaults of columns that are not given, NOT NULL and CHECK. Columns of the very type pass untouched.
 */
export class IncomingRows {
  private constructor(
    private readonly context: SessionContext,
    private readonly shape: InsertShape,
    private readonly names: readonly string[],
    /** Of each written column: the given one that passes as it is. */
    private readonly direct: readonly (number | undefined)[],
    private readonly notNull: readonly Constraint[],
    private readonly conversion: Conversion | undefined,
  ) {}

  static async open(
    context: SessionContext,
    shape: InsertShape,
    given: readonly IncomingColumn[],
  ): Promise<IncomingRows> {
    const direct = shape.written.map(({ name, type }) => {
      const at = given.findIndex((column) => column.name === name);
      const target = parseTypeName(type);
      const isCut = target.kind === 'char' || target.kind === 'varchar';
      return at >= 0 && !isCut && sameType(parseTypeName(given[at].type), target) ? at : undefined;
    });
    const constraints = enforcedConstraints(shape.table);
    const isNotNull = ({ kind }: Constraint) => kind === Constraint_Kind.KIND_NOT_NULL;
    const columns = shape.written.flatMap((_, i) => (direct[i] === undefined ? [i] : []));
    const checks = constraints.filter((constraint) => !isNotNull(constraint));
    const conversion =
      columns.length === 0 && checks.length === 0 ? undefined : await convert(context, shape, given, columns);
    const names = given.map(({ name }) => name);
    return new IncomingRows(context, shape, names, direct, constraints.filter(isNotNull), conversion);
  }

  /** The written columns of a batch of the given ones. */
  async convert(batch: StructVector, signal?: AbortSignal): Promise<StructVector> {
    const { shape, direct, conversion } = this;
    const children = direct.map((at) => (at === undefined ? undefined : batch.children[at]));
    if (conversion !== undefined && batch.length > 0) {
      const converted = await this.run(conversion.analyzed, batch, signal);
      conversion.columns.forEach((at, i) => {
        children[at] = converted[i];
      });
      enforce(shape.table, conversion.checks, converted.slice(conversion.columns.length));
    }
    const written = children.filter((child) => child !== undefined);
    this.refuseNulls(written);
    const fieldNames = shape.written.map(({ name }) => name);
    return { kind: 'struct', length: batch.length, fieldNames, children: written };
  }

  private async run(analyzed: AnalyzedQuery, batch: StructVector, signal?: AbortSignal): Promise<ColumnVector[]> {
    const scan = ({ columns }: ScanRequest) => {
      let isRead = false;
      return {
        next: () => {
          if (isRead) return undefined;
          isRead = true;
          return { length: batch.length, columns: columns.map((name) => batch.children[this.names.indexOf(name)]) };
        },
      };
    };
    const { batches } = await this.context.engine.run(analyzed, { openTable: () => ({ scan }), signal });
    const parts: StructVector[] = [];
    for await (const part of batches) parts.push(part);
    return analyzed.columns.map((_, i) => concatVectors(parts.map((part) => part.children[i])));
  }

  private refuseNulls(written: readonly ColumnVector[]): void {
    for (const constraint of this.notNull) {
      const at = this.shape.written.findIndex(({ name }) => name === constraint.columns[0]);
      const vector = written[at];
      if (vector?.validity === undefined) continue;
      const values = Uint8Array.from({ length: vector.length }, (_, row) => (isNull(vector, row) ? 0 : 1));
      enforce(this.shape.table, [constraint], [{ kind: 'boolean', length: vector.length, values }]);
    }
  }
}

async function convert(
  context: SessionContext,
  shape: InsertShape,
  given: readonly IncomingColumn[],
  columns: readonly number[],
): Promise<Conversion> {
  const from: TableReference = { kind: 'table', table: { name: identifier(SOURCE, position), position }, position };
  // CAST makes NULL of nested values, by Hive's rule; here their elements and fields are converted.
  const nested = new Map(
    shape.written.flatMap(({ name, type }) => {
      const from = given.find((column) => column.name === name);
      return from !== undefined && isNested(type) ? [[name, nestedPair(name, from.type, type)] as const] : [];
    }),
  );
  const written = shape.written.map((column) => ({ ...column, type: nested.get(column.name)?.from ?? column.type }));
  const items = given.map(({ name }) => item(columnRef([SOURCE, name], position), name));
  const source: Query = selectQuery(items, from, undefined, position);
  const names = shape.written.map(({ name }) => name);
  const { query, checks } = withConstraintColumns(shape.table, insertQuery({ ...shape, written }, source), names);
  const tests = checks.map((constraint, i) => ({ constraint, name: `_check${i}` }));
  const kept = tests.filter(({ constraint }) => constraint.kind !== Constraint_Kind.KIND_NOT_NULL);
  const wanted = [...columns.map((at) => names[at]), ...kept.map(({ name }) => name)];
  const all = [...names, ...tests.map(({ name }) => name)];
  const outer = selectQuery(
    wanted.map((name) => item(columnRef(['_all', name], position), name)),
    subquery(query, '_all', all),
    undefined,
    position,
  );
  const analyzed = await analyzeQuery(outer, {
    currentDatabase: 'default',
    resolveTable: async () => ({
      kind: 'table',
      database: 'default',
      name: SOURCE,
      columns: given.map(({ name, type }) => ({ name, type: parseTypeName(type) })),
    }),
    conf: (name) => context.conf.get(name),
    now: context.services.clock.now(),
    user: context.services.identity.user,
  });
  const types = wanted.map((name) => nested.get(name)?.to);
  return { analyzed: castColumns(analyzed, types), columns, checks: kept.map(({ constraint }) => constraint) };
}

const isNested = (type: string): boolean => /^(array|map|struct|uniontype)</i.test(type);

/** Both types of a column, where the second can take values of the first: nested alike, with fields of the same names. */
function nestedPair(name: string, from: string, to: string): { readonly from: string; readonly to: HiveType } {
  const [source, target] = [parseTypeName(from), parseTypeName(to)];
  if (isAlike(source, target)) return { from, to: target };
  throw new SemanticError(10044, `Cannot convert column ${name} from ${typeName(source)} to ${typeName(target)}.`);
}

function isAlike(from: HiveType, to: HiveType): boolean {
  switch (to.kind) {
    case 'array':
      return from.kind === 'array' && isAlike(from.element, to.element);
    case 'map':
      return from.kind === 'map' && isAlike(from.key, to.key) && isAlike(from.value, to.value);
    case 'struct':
      return (
        from.kind === 'struct' &&
        from.fields.length === to.fields.length &&
        from.fields.every(({ name, type }, i) => name === to.fields[i].name && isAlike(type, to.fields[i].type))
      );
    case 'uniontype':
      return sameType(from, to);
    default:
      return !['array', 'map', 'struct', 'uniontype'].includes(from.kind);
  }
}

/** The columns that rows give, as those of the table; refused are others, and ones given twice. */
export function givenFields(shape: Pick<InsertShape, 'table' | 'written'>, given: readonly IncomingColumn[]) {
  const { table, written } = shape;
  return given.map(({ name }, i) => {
    const field = written.find((column) => column.name === name);
    if (field === undefined) {
      const known = written.map((column) => column.name).join(', ');
      throw new SemanticError(
        10002,
        `Invalid column reference '${name}': the rows for ${table.database}.${table.name} may have the columns ${known}`,
      );
    }
    if (given.findIndex((other) => other.name === name) !== i) {
      throw new SemanticError(10036, `Duplicate column name: ${name} in the rows for ${table.database}.${table.name}`);
    }
    return field;
  });
}
