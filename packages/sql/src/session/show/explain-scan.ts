import type { AcidSplit, ScanCounts } from '@skep/acid';
import type { Sarg } from '@skep/orc';
import type { Table } from '@skep/rpc';
import type { TableUse } from '../../query.js';
import { nameOf } from '../partition/partitions.js';
import type { PreparedScan } from '../scan/table-scan.js';

/** Names that a plan lists of partitions and files; EXPLAIN EXTENDED lists all. */
const MOST_PARTITIONS = 20;
const MOST_FILES = 50;

/** What a plan says of a table's reading, by the names under which it says it. */
export type ScanFacts = Record<string, string | readonly string[]>;

export interface ScanFactsOptions {
  /** EXTENDED: every partition and file. */
  readonly all: boolean;
  /** ANALYZE: what was read, instead of what will be. */
  readonly actual?: ScanCounts;
}

/** The facts of a scan: search argument, partitions, files, and rows that need not be read. */
export function scanFacts(use: TableUse, scan: PreparedScan, options: ScanFactsOptions): ScanFacts {
  const table = use.handle as Table;
  const splits = scan.folders.flatMap((folder) => folder.splits);
  const deletes = deleteFilesOf(splits);
  const read = scan.folders.flatMap(({ partition }) =>
    partition === undefined ? [] : [nameOf(table, partition.values)],
  );
  const files = splits.flatMap((split) =>
    split.kind === 'events' ? split.files.map(({ file }) => file.path) : [split.file.path],
  );
  const { predicate } = use;
  return {
    alias: use.alias,
    table: `${table.database}.${table.name}`,
    ...(predicate.length === 0 ? {} : { filterExpr: `${predicate.map(sargText).join(' and ')} (type: boolean)` }),
    ...(table.partitionKeys.length === 0
      ? {}
      : { partitions: `${read.length} of ${scan.partitionCount}${shortened(read, options.all)}` }),
    columns: use.columns.map((column) => column.name).join(', ') || '(none)',
    size: `${splits.reduce((sum, split) => sum + split.sizeBytes, 0)} bytes`,
    ...(options.actual === undefined ? estimateFact(scan, predicate) : actualFacts(options.actual)),
    files: `${splits.length}, delete files: ${deletes.length}`,
    paths: options.all ? files : files.slice(0, MOST_FILES),
    ...(options.all && deletes.length > 0 ? { 'delete paths': deletes } : {}),
  };
}

function deleteFilesOf(splits: readonly AcidSplit[]): string[] {
  return [
    ...new Set(splits.flatMap((split) => ('deletes' in split ? split.deletes.map((file) => file.path) : []))),
  ].sort();
}

function shortened(names: readonly string[], all: boolean): string {
  if (names.length === 0) return '';
  const shown = all ? names : names.slice(0, MOST_PARTITIONS);
  return ` (${shown.join(', ')}${shown.length < names.length ? ', …' : ''})`;
}

/** By statistics and indexes, before deletes and the rest of the condition. */
function estimateFact(scan: PreparedScan, predicate: readonly Sarg[]): ScanFacts {
  const estimate = scan.estimate(predicate);
  if (estimate === undefined) return {};
  const { rows, skippedRows } = estimate;
  return { rows: `${rows} of ${rows + skippedRows} to read, ${skippedRows} skipped by search argument` };
}

function actualFacts(counts: ScanCounts): ScanFacts {
  const { rows, skippedRows } = counts;
  return {
    rows: `${rows} of ${rows + skippedRows} read, ${skippedRows} skipped, ${counts.hiddenRows} deleted or not visible`,
    read: `${counts.files} files, ${counts.bytes} bytes, ${counts.deleteFiles} delete files with ${counts.deleteEvents} delete events`,
  };
}

/** As lines of a text plan. */
export function factLines(facts: ScanFacts): string[] {
  return Object.entries(facts).flatMap(([name, value]) => {
    if (typeof value === 'string') return [`          ${name}: ${value}`];
    const title = name === 'paths' ? [] : [`          ${name}:`];
    return [...title, ...value.map((line) => `            ${line}`)];
  });
}

export function sargText(sarg: Sarg): string {
  const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value));
  switch (sarg.op) {
    case 'and':
    case 'or':
      return `(${sarg.children.map(sargText).join(` ${sarg.op} `)})`;
    case 'not':
      return `(not ${sargText(sarg.child)})`;
    case 'isNull':
      return `${sarg.column} is null`;
    case 'in':
      return `${sarg.column} in (${sarg.literals.map(literal).join(', ')})`;
    case 'between':
      return `${sarg.column} between ${literal(sarg.low)} and ${literal(sarg.high)}`;
    default: {
      const operators = { equals: '=', nullSafeEquals: '<=>', lessThan: '<', lessThanEquals: '<=' } as const;
      return `(${sarg.column} ${operators[sarg.op]} ${literal(sarg.literal)})`;
    }
  }
}
