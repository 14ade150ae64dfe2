import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatRow, parseTypeName, type Session } from '@skep/sql';
import { type Home, type HomeOptions, openHome } from '../../apps/cli/src/home.js';

/** A home in a fresh folder. */
export async function freshHome(options: HomeOptions = {}): Promise<Home> {
  return await openHome({ path: mkdtempSync(join(tmpdir(), 'skep-test-')), env: {}, ...options });
}

/** A statement's rows as Hive prints them. */
export async function rows(session: Session, statement: string): Promise<string[]> {
  const { columns, batches } = await session.execute(statement);
  const types = (columns ?? []).map((column) => parseTypeName(column.type));
  const lines: string[] = [];
  if (batches === undefined) return lines;
  for await (const batch of batches) {
    for (let row = 0; row < batch.length; row++) lines.push(formatRow(types, batch, row));
  }
  return lines;
}

/** Statements one after the other, rows thrown away. */
export async function run(session: Session, ...statements: string[]): Promise<void> {
  for (const statement of statements) await rows(session, statement);
}
