import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { allRows, type Home, type Session } from '../../golden/src/home-port.js';
import type { InteropTable, Stage } from './tables.js';

/** A table's folder as skep left it at a stage, and what skep reads from it. */
export interface BuiltStage {
  readonly table: InteropTable;
  readonly stage: Stage;
  readonly dir: string;
  /** ROW__ID first, as Hive prints it. */
  readonly rows: readonly string[];
  readonly highWatermark: bigint;
}

/** Makes every table stage by stage; the folder of each stage is copied to `out`. */
export async function buildTables(home: Home, tables: readonly InteropTable[], out: string): Promise<BuiltStage[]> {
  const session = await home.newSession();
  const built: BuiltStage[] = [];
  for (const table of tables) {
    await allRows(await session.execute(table.create));
    for (const stage of table.stages) built.push(await buildStage(home, session, table, stage, out));
  }
  await session.close();
  return built;
}

async function buildStage(
  home: Home,
  session: Session,
  table: InteropTable,
  stage: Stage,
  out: string,
): Promise<BuiltStage> {
  for (const statement of stage.statements) await allRows(await session.execute(statement));
  const dir = join(out, `${table.name}_${stage.name}`);
  cpSync(join(home.warehouse.replace(/^file:(\/\/)?/, ''), table.name), dir, { recursive: true });
  const rows = await allRows(await session.execute(`select ROW__ID, * from ${table.name}`));
  return { table, stage, dir, rows, highWatermark: highestWriteId(dir) };
}

/** The highest write id in the names of base and delta folders. */
function highestWriteId(dir: string): bigint {
  let highest = 0n;
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const ids = /^(?:base|(?:delete_)?delta_\d+)_(\d+)/.exec(entry.name);
    if (entry.isDirectory() && ids !== null && BigInt(ids[1]) > highest) highest = BigInt(ids[1]);
  }
  return highest;
}
