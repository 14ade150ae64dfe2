import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { GoldenError } from './golden-error.js';

/** What Hive recorded of one table at a `!snapshot` step (HiveOracle.describe). */
export interface RecordedTable {
  readonly columns: readonly string[];
  readonly partitionColumns: readonly string[];
  readonly bucketColumns: readonly string[];
  readonly buckets: number;
  readonly inputFormat: string;
  readonly transactional: boolean;
  readonly insertOnly: boolean;
  readonly validWriteIds?: string;
  /** Absent where there were more than 2,000 rows (`rowCount` then), or where Hive could not read it (`error` then). */
  readonly rows?: readonly string[];
  readonly rowCount?: number;
  readonly error?: RecordedError;
}

export interface RecordedError {
  readonly code: number;
  readonly sqlState: string | null;
  readonly message: string;
}

/** One step of a case, as HiveOracle wrote it down. */
export interface RecordedStep {
  readonly statement: string;
  /** `name:type`. */
  readonly columns?: readonly string[];
  /** Text of a row; of `!sql-metastore` an object. */
  readonly rows?: readonly (string | Readonly<Record<string, string | null>>)[];
  readonly error?: RecordedError;
  readonly files?: readonly string[];
  readonly tables?: Readonly<Record<string, RecordedTable>>;
  readonly harnessError?: string;
}

/** A table of files and what it reads as under some lists of write ids (hive-2.3.9). */
export interface RecordedReadings {
  readonly table: string;
  readonly columns: readonly string[];
  readonly buckets?: number;
  readonly readings: readonly { readonly validWriteIds: string; readonly rows: readonly string[] }[];
}

/** A table that Trino wrote and read (trino-476). */
export interface RecordedTrinoTable {
  readonly table: string;
  readonly statements: readonly string[];
  readonly columns: readonly string[];
  readonly rowCount?: number;
  readonly rows: readonly (readonly (string | null)[])[];
}

export type GoldenCase = { readonly name: string; readonly path: string; readonly folder: string } & (
  | { readonly kind: 'hive'; readonly steps: readonly RecordedStep[] }
  | { readonly kind: 'readings'; readonly recorded: RecordedReadings }
  | { readonly kind: 'trino'; readonly recorded: RecordedTrinoTable }
);

/** Paths of the cases that an argument names: a case's .sql or .json, or a folder of them (folders below included). */
export function findCases(argument: string): string[] {
  const path = resolve(argument);
  if (!existsSync(path)) throw new GoldenError(`no such case or folder: ${argument}`);
  // A recording or a snapshot folder (from a shell's pattern, say) stands for its case.
  const script = `${path.replace(/\.json$/, '')}.sql`;
  if (!path.endsWith('.sql') && existsSync(script)) return [script];
  if (!statSync(path).isDirectory()) return [path];
  if (existsSync(`${path}.json`)) return [`${path}.json`];
  const entries = readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  const files = entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  const scripts = files.filter((name) => name.endsWith('.sql'));
  const readings = files.filter((name) => name.endsWith('.json') && !scripts.includes(`${name.slice(0, -5)}.sql`));
  const cases = [...scripts, ...readings.filter((name) => isCaseFile(join(path, name)))];
  // A folder named after a case holds its snapshots.
  const taken = new Set(cases.map((name) => name.replace(/\.(sql|json)$/, '')));
  const folders = entries.filter((entry) => entry.isDirectory() && !taken.has(entry.name));
  return [
    ...cases.map((name) => join(path, name)),
    ...folders.flatMap((folder) => findCases(join(path, folder.name))),
  ].sort();
}

function isCaseFile(path: string): boolean {
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(content) || (typeof content === 'object' && content !== null && 'table' in content);
  } catch {
    // A JSON file that is none of ours is not a case.
    return false;
  }
}

/** Reads a case from its .sql or .json path. */
export function loadCase(path: string): GoldenCase {
  const name = basename(path, extname(path));
  const folder = join(dirname(path), name);
  const json = join(dirname(path), `${name}.json`);
  if (!existsSync(json)) throw new GoldenError(`${path}: no recording beside it (${name}.json)`);
  const content = JSON.parse(readFileSync(json, 'utf8'));
  if (Array.isArray(content)) {
    checkScript(path, content);
    return { kind: 'hive', name, path, folder, steps: content };
  }
  if ('readings' in content) return { kind: 'readings', name, path, folder, recorded: content };
  return { kind: 'trino', name, path, folder, recorded: content };
}

/** The recording must be of this very script. */
function checkScript(path: string, steps: readonly RecordedStep[]): void {
  if (!path.endsWith('.sql')) return;
  const statements = splitScript(readFileSync(path, 'utf8'));
  const recorded = steps.map((step) => step.statement);
  const different = statements.findIndex((statement, i) => statement !== recorded[i]);
  if (different >= 0 || statements.length !== recorded.length) {
    const at = different >= 0 ? different : statements.length;
    throw new GoldenError(
      `${path}: the recording is of another script (step ${at + 1}: '${statements[at] ?? ''}' against '${recorded[at] ?? ''}')`,
    );
  }
}

/** HiveOracle.runCase: a statement ends with ';' at a line's end; lines with '--' or '!' in front are not of a statement. */
export function splitScript(text: string): string[] {
  const steps: string[] = [];
  let statement = '';
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('--') || line.trim() === '') continue;
    if (line.startsWith('!')) {
      steps.push(line);
      continue;
    }
    statement += `${line}\n`;
    if (line.trimEnd().endsWith(';')) {
      steps.push(statement.trim().slice(0, -1));
      statement = '';
    }
  }
  return steps;
}
