/** Recorded cases of the real Hive and others. Only for tests. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createStruct, parseType, type TypeDescription } from '@skep/orc';

const root = join(import.meta.dirname, '../../../..');
const shared = process.env.SKEP_SHARED ?? join(root, '../shared');

/** The folder of the recordings: the repository's copy, or the shared one. */
export const goldenRoot = [join(root, 'test/golden/recorded'), join(shared, 'golden')].find((dir) => existsSync(dir));

/** What Hive said of one table at a `!snapshot`. */
export interface RecordedTable {
  readonly columns: readonly string[];
  readonly partitionColumns: readonly string[];
  readonly bucketColumns: readonly string[];
  readonly buckets: number;
  readonly inputFormat: string;
  readonly insertOnly: boolean;
  readonly transactional: boolean;
  readonly validWriteIds: string;
  readonly rows?: readonly string[];
  readonly rowCount?: number;
}

export interface RecordedStep {
  readonly statement: string;
  readonly tables?: Readonly<Record<string, RecordedTable>>;
  readonly files?: readonly string[];
}

export interface Snapshot {
  readonly name: string;
  readonly dir: string;
  readonly table: RecordedTable;
}

/** All snapshots of Hive 4.0.1. */
export function hiveSnapshots(): Snapshot[] {
  if (goldenRoot === undefined) return [];
  const cases = join(goldenRoot, 'hive-4.0.1/cases');
  const snapshots: Snapshot[] = [];
  for (const file of readdirSync(cases).filter((name) => name.endsWith('.json'))) {
    const name = file.slice(0, -'.json'.length);
    for (const step of stepsOf(JSON.parse(readFileSync(join(cases, file), 'utf8')))) {
      const snapshot = /^!snapshot (\S+)/.exec(step.statement)?.[1];
      if (snapshot === undefined) continue;
      for (const [table, recorded] of Object.entries(step.tables ?? {})) {
        const dir = folderOf(join(cases, name, snapshot), table);
        snapshots.push({ name: `${name} ${snapshot} ${table}`, dir, table: recorded });
      }
    }
  }
  return snapshots;
}

/** A table that may be dropped softly has its creating transaction's number behind its folder's name. */
function folderOf(snapshot: string, table: string): string {
  const soft = existsSync(snapshot)
    ? readdirSync(snapshot).find((name) => /^(.*)\.v\d+$/.exec(name)?.[1] === table)
    : undefined;
  return join(snapshot, soft ?? table);
}

function stepsOf(recorded: RecordedStep[] | { steps: RecordedStep[] }): RecordedStep[] {
  return Array.isArray(recorded) ? recorded : recorded.steps;
}

/** `name:type` of the recordings as a schema. */
export function schemaOf(columns: readonly string[]): TypeDescription {
  return createStruct(
    columns.map((column) => {
      const at = column.indexOf(':');
      return [column.slice(0, at), parseType(column.slice(at + 1))] as const;
    }),
  );
}
