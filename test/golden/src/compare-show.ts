import type { Difference } from './compare-rows.js';

/** Statements whose rows hold times, ids and figures: how each is brought into comparable lines. */
export type ShowRule = (rows: readonly string[], context: { database: string; warehouse: string }) => string[];

const RULES: readonly (readonly [RegExp, ShowRule])[] = [
  [/^show\s+transactions\b/i, (rows) => rows.slice(0, 1)],
  [/^show\s+locks\b/i, (rows, { database }) => ofDatabase(rows, database, [1, 2, 3, 4, 6])],
  [/^show\s+compactions\b/i, (rows, { database }) => ofDatabase(rows, database, [1, 2, 3, 4, 5])],
  [
    /^show\s+(databases|schemas)\b/i,
    (rows, { database }) => rows.filter((row) => row.startsWith(database) || row === 'default'),
  ],
  [/^show\s+tblproperties\b/i, (rows) => rows.map(maskProperty).sort()],
  [/^show\s+create\s+table\b/i, (rows, { warehouse }) => rows.map((row) => maskCreate(row, warehouse))],
  [/^show\s+table\s+extended\b/i, (rows) => rows.map((row) => row.split(':')[0])],
  [/^desc(ribe)?\s+(extended\b|database\b|schema\b)/i, (rows) => rows.map((row) => row.split('\t')[0].trim())],
  [/^desc(ribe)?\s+formatted\b/i, (rows, { warehouse }) => rows.map((row) => maskFormatted(row, warehouse))],
  [/^explain\s+locks\b/i, strongestLocks],
  [/^explain\b/i, (rows) => sections(rows)],
];

export const showRule = (statement: string): ShowRule | undefined =>
  RULES.find(([pattern]) => pattern.test(statement.trim()))?.[1];

/** EXPLAIN shows more than Hive's plan: what counts is that Hive's sections are there. */
export const mayHaveMore = (statement: string): boolean =>
  /^\s*explain\b/i.test(statement) && !/^\s*explain\s+locks\b/i.test(statement);

const LOCK_TYPES = ['SHARED_READ', 'SHARED_WRITE', 'EXCL_WRITE', 'EXCLUSIVE'];

/**
 * EXPLAIN LOCKS: of each resource the strongest lock. Hive asks for weaker ones of the same resource beside it, which keep out
 * nobody else. (And, of a partition that is updated, for one of the whole table, where the new rows go who knows where.)
 */
function strongestLocks(rows: readonly string[]): string[] {
  const [header = '', ...locks] = rows;
  const strongest = new Map<string, number>();
  for (const lock of locks) {
    const [resource, type] = lock.split(' -> ');
    strongest.set(resource, Math.max(strongest.get(resource) ?? -1, LOCK_TYPES.indexOf(type)));
  }
  const ofPartitions = [...strongest].filter(([, type]) => type >= LOCK_TYPES.indexOf('SHARED_WRITE'));
  const isOfNewRows = (resource: string, type: number): boolean =>
    type <= LOCK_TYPES.indexOf('SHARED_WRITE') &&
    ofPartitions.some(([other]) => other.startsWith(`${resource}.`) && other.includes('='));
  const kept = [...strongest].filter(([resource, type]) => !isOfNewRows(resource, type));
  return [header, ...kept.map(([resource, type]) => `${resource} -> ${LOCK_TYPES[type]}`).sort()];
}

/** The header, and of the database's rows (and those of DATABASE_N) the columns that do not change from run to run, sorted. */
function ofDatabase(rows: readonly string[], database: string, cells: readonly number[]): string[] {
  const [header = '', ...rest] = rows;
  const isOwn = (name: string) => name === database || name?.startsWith(`${database}_`);
  const own = rest.map((row) => row.split('\t')).filter((row) => isOwn(row[1]));
  return [header, ...own.map((row) => cells.map((i) => row[i]).join('\t')).sort()];
}

/** Table and partition parameters that are figures, times or names of people. */
const FIGURES =
  /^(COLUMN_STATS_ACCURATE|numFiles|numFilesErasureCoded|numRows|rawDataSize|totalSize|numPartitions|transient_lastDdlTime|last_modified_by|last_modified_time|discover\.partitions)$/;

function maskProperty(row: string): string {
  const [name, ...value] = row.split('\t');
  return FIGURES.test(name) ? `${name}\t*` : [name, ...value].join('\t');
}

export const maskLocation = (text: string, warehouse: string): string =>
  text
    .replace(/\.v\d{7,}(?='|$|\/|\t)/g, '.vN')
    .replaceAll(`file://${warehouse}`, 'file:/warehouse')
    .replaceAll(`file:${warehouse}`, 'file:/warehouse')
    .replaceAll(warehouse, '/warehouse');

function maskCreate(row: string, warehouse: string): string {
  return maskLocation(row, warehouse)
    .replace(/^( {2}'([^']+)'=)'[^']*'/, (whole, head, name) => (FIGURES.test(name) ? `${head}'*'` : whole))
    .replace(/`(\w+?)_\d+_\d+_\d+`/g, '`$1_N`');
}

function maskFormatted(row: string, warehouse: string): string {
  const cells = maskLocation(row, warehouse).split('\t');
  if (cells[0] === '' && FIGURES.test(cells[1]?.trim() ?? '')) return `\t${cells[1].trim()}\t*`;
  if (/^(CreateTime|LastAccessTime|Owner|OwnerType|Retention|Original Query):/.test(cells[0]))
    return `${cells[0].trim()}\t*`;
  // Names that nobody gave hold a hash and a time.
  if (/^Constraint Name:/.test(cells[0])) cells[1] = cells[1].replace(/_\d+_\d+_\d+/, '_N');
  return cells.map((cell) => cell.trim()).join('\t');
}

/** The headings of a plan: lines that begin at the margin and end in a colon. */
const sections = (rows: readonly string[]): string[] => rows.filter((row) => /^[A-Z][A-Z ]*:$/.test(row));

/** Compares lines of a SHOW, DESCRIBE or EXPLAIN after its rule. */
export function compareLines(expected: readonly string[], got: readonly string[], more: boolean): Difference {
  const missing = expected.filter((line) => !got.includes(line));
  if (more) return missing.length === 0 ? undefined : `missing: ${missing.join(' | ')}`;
  if (expected.length === got.length && expected.every((line, i) => line === got[i])) return undefined;
  const extra = got.filter((line) => !expected.includes(line));
  if (missing.length + extra.length === 0) return 'the same lines in another order or number';
  return `missing: [${missing.join(' | ')}], not in Hive's: [${extra.join(' | ')}]`;
}
