import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCases, loadCase, type RecordedTable } from '../../golden/src/case-file.js';
import { allRows, type Home, type Session } from '../../golden/src/home-port.js';

/** A recorded table of Hive in a home, and what Hive read from it. */
export interface GoldenTable {
  readonly database: string;
  readonly table: string;
  /** An empty table of the same columns. */
  readonly copy: string;
  /** `name:type`, partition columns last. */
  readonly columns: readonly string[];
  readonly partitionColumns: readonly string[];
  /** Rows begin with their ROW__ID. */
  readonly rowIds: boolean;
  /** The recorded list of write ids, under this table's name. */
  readonly writeIds: string;
  /** As Hive's text. */
  readonly rows: readonly string[];
}

const LAST_RECORDED_TXN = 100_000n;
const ORC = /OrcInputFormat$/;

/** Every transactional ORC table of the recorded snapshots below a folder, its files as Hive wrote them. */
export async function makeGoldenTables(home: Home, folder: string): Promise<GoldenTable[]> {
  // Names of compacted folders have the transactions of Hive's metastore in them.
  await home.services.txns.seedTxnId({ seedTxnId: LAST_RECORDED_TXN });
  const session = home.newSession();
  const made: GoldenTable[] = [];
  try {
    for (const path of findCases(folder)) {
      const golden = loadCase(path);
      if (golden.kind !== 'hive') continue;
      for (const { statement, tables } of golden.steps) {
        const snapshot = statement.slice('!snapshot '.length).trim();
        for (const [table, recorded] of Object.entries(tables ?? {})) {
          const dir = join(golden.folder, snapshot, table);
          if (!recorded.transactional || recorded.rows === undefined || !ORC.test(recorded.inputFormat)) continue;
          if (existsSync(dir)) made.push(await makeTable(session, `${golden.name}_${snapshot}`, table, recorded, dir));
        }
      }
    }
  } finally {
    await session.close();
  }
  return made;
}

async function makeTable(
  session: Session,
  database: string,
  table: string,
  recorded: RecordedTable,
  dir: string,
): Promise<GoldenTable> {
  const run = async (text: string) => await allRows(await session.execute(text));
  const { columns, partitionColumns, bucketColumns, buckets, insertOnly, rows = [], validWriteIds = '' } = recorded;
  await run(`CREATE DATABASE IF NOT EXISTS \`${database}\``);
  const partitioned =
    partitionColumns.length === 0 ? '' : ` PARTITIONED BY (${partitionColumns.map(declared).join(', ')})`;
  const clustered =
    bucketColumns.length === 0
      ? ''
      : ` CLUSTERED BY (${bucketColumns.map((name) => `\`${name}\``).join(', ')}) INTO ${buckets} BUCKETS`;
  const properties = `'transactional'='true'${insertOnly ? ", 'transactional_properties'='insert_only'" : ''}`;
  const create = (name: string) =>
    `CREATE TABLE \`${database}\`.\`${name}\` (${columns.map(declared).join(', ')})${partitioned}${clustered} STORED AS ORC TBLPROPERTIES (${properties})`;
  await run(create(table));
  const described = await run(`DESCRIBE FORMATTED \`${database}\`.\`${table}\``);
  const location = described
    .map((row) => /^Location:\s*\t\s*(\S+)/.exec(row)?.[1])
    .find((found) => found !== undefined);
  const into = fileURLToPath(String(location));
  mkdirSync(into, { recursive: true });
  cpSync(dir, into, { recursive: true });
  await run(`MSCK REPAIR TABLE \`${database}\`.\`${table}\``);
  await run(create(`${table}_copy`));
  return {
    database,
    table,
    copy: `${table}_copy`,
    columns: [...columns, ...partitionColumns],
    partitionColumns: partitionColumns.map((column) => column.slice(0, column.indexOf(':'))),
    rowIds: !insertOnly,
    writeIds: `${database}.${table}${validWriteIds.slice(validWriteIds.indexOf(':'))}`,
    rows,
  };
}

function declared(column: string): string {
  const colon = column.indexOf(':');
  return `\`${column.slice(0, colon)}\` ${column.slice(colon + 1)}`;
}
