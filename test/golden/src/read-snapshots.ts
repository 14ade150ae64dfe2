import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isNull } from '@skep/orc';
import type { GoldenCase, RecordedReadings, RecordedStep, RecordedTrinoTable } from './case-file.js';
import { SOFT_DELETE } from './compare-files.js';
import { compareRows } from './compare-rows.js';
import { applyDeviation, type Deviation, type DeviationList, deviationOf } from './deviations.js';
import { describeError } from './golden-error.js';
import { type FolderTable, readTable } from './read-table.js';
import type { StepOutcome } from './report.js';
import { pythonBytes, trinoColumn, trinoRow } from './trino-text.js';

const NONE: DeviationList = { steps: [], rules: [] };

type Verdict = Pick<StepOutcome, 'problem' | 'expected' | 'got' | 'deviation'>;

interface Reading {
  readonly step: number;
  readonly statement: string;
  readonly table: FolderTable;
  /** Either the rows, or only how many. */
  readonly rows?: readonly string[];
  readonly rowCount?: number;
  /** Brings our text of a row into the form of the recording. */
  readonly form?: (row: string) => string;
}

/** Reads the files of a case under the recorded lists of write ids, and compares rows and ROW__IDs exactly. */
export async function readCase(golden: GoldenCase, deviations: DeviationList = NONE): Promise<StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  for (const reading of readingsOf(golden)) {
    const { step, statement } = reading;
    const listed = deviationOf(deviations, 'read', golden.name, step, statement);
    const verdict = await compareReading(reading, listed).catch(
      (error: unknown): Verdict => ({ problem: describeError(error) }),
    );
    outcomes.push({ mode: 'read', step, statement, passed: verdict.problem === undefined, ...verdict });
  }
  return outcomes;
}

function readingsOf(golden: GoldenCase): Reading[] {
  switch (golden.kind) {
    case 'hive':
      return golden.steps.flatMap((step, index) => snapshotReadings(golden.folder, step, index));
    case 'readings':
      return recordedReadings(golden.folder, golden.recorded);
    case 'trino':
      return [trinoReading(golden.folder, golden.recorded)];
  }
}

function snapshotReadings(folder: string, step: RecordedStep, index: number): Reading[] {
  const snapshot = step.statement.slice('!snapshot '.length).trim();
  return Object.entries(step.tables ?? {}).flatMap(([name, recorded]) => {
    if (recorded.error !== undefined) return [];
    const table: FolderTable = { ...recorded, dir: folderOf(join(folder, snapshot), name) };
    // A view, or a table of somebody else's folder: there is nothing to read.
    if (!recorded.transactional && !existsSync(table.dir)) return [];
    const { rows, rowCount } = recorded;
    return [{ step: index, statement: `${step.statement} ${name}`, table, ...(rows ? { rows } : { rowCount }) }];
  });
}

/** A table's folder in a snapshot; NAME.vTXN with soft deletes, the newest where there are dropped ones too. */
function folderOf(snapshot: string, table: string): string {
  const plain = join(snapshot, table);
  if (existsSync(plain) || !existsSync(snapshot)) return plain;
  const own = readdirSync(snapshot).filter((name) => SOFT_DELETE.test(name) && name.replace(SOFT_DELETE, '') === table);
  return own.length === 0 ? plain : join(snapshot, own.sort().at(-1) ?? table);
}

function recordedReadings(folder: string, recorded: RecordedReadings): Reading[] {
  return recorded.readings.map(({ validWriteIds, rows }, step) => ({
    step,
    statement: `read ${recorded.table} as ${validWriteIds}`,
    table: {
      dir: folder,
      columns: recorded.columns,
      partitionColumns: [],
      transactional: true,
      insertOnly: false,
      validWriteIds,
    },
    rows,
  }));
}

function trinoReading(folder: string, recorded: RecordedTrinoTable): Reading {
  const columns = recorded.columns.map(trinoColumn);
  const create = recorded.statements[0] ?? '';
  const partitioned = /partitioned_by\s*=\s*array\s*\[([^\]]*)\]/i.exec(create)?.[1] ?? '';
  const names = [...partitioned.matchAll(/'(\w+)'/g)].map((match) => match[1]);
  const isPartition = (column: string) => names.includes(column.slice(0, column.indexOf(':')));
  const table: FolderTable = {
    dir: join(folder, recorded.table),
    columns: columns.filter((column) => !isPartition(column)),
    partitionColumns: columns.filter(isPartition),
    transactional: true,
    insertOnly: false,
    defaultPartition: 'NULL',
    cellText: (vector, row) =>
      vector.kind === 'binary' && !isNull(vector, row)
        ? pythonBytes(vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1]))
        : undefined,
  };
  return {
    step: 0,
    statement: `read ${recorded.table}`,
    table,
    rows: recorded.rows.map((row) => row.map((cell) => cell ?? 'NULL').join('\t')),
    form: (row) => trinoRow(row, columns),
  };
}

async function compareReading(reading: Reading, deviation?: Deviation): Promise<Verdict> {
  const rows = await readTable(reading.table);
  const got = (reading.form === undefined ? rows : rows.map(reading.form)).sort();
  if (reading.rows === undefined) {
    return got.length === reading.rowCount ? {} : { problem: `${got.length} rows instead of ${reading.rowCount}` };
  }
  const expected = (deviation === undefined ? [...reading.rows] : applyDeviation(deviation, reading.rows)).sort();
  const problem = compareRows(expected, got, { statement: '', columns: [], maskRowIds: false });
  if (problem !== undefined) return { problem, expected, got };
  return deviation === undefined ? {} : { deviation: deviation.reason };
}
