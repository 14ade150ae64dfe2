import { Configuration } from '@skep/config';
import { SkepError } from '@skep/core';
import { parseMetastore } from '@skep/metastore';
import { formatRow, parseTypeName, type Session } from '@skep/sql';
import { localFileSystem } from '@skep/storage';
import { openRemoteHome, type RemoteHome } from '../../../apps/cli/src/remote-home.js';

export const ACCOUNTS = 24;
export const OPENING_BALANCE = 1000;
export const TABLE = 'accounts';
/** The table may have partitions: so many. */
export const BRANCHES = 3;
export const branchOf = (id: number): number => id % BRANCHES;
/** Of locations, before a path. */
export const LOCATION_PREFIX = /^file:(?:\/\/)?(?=\/)/;

/** The sum, and whether an account is missing or there twice. */
export const SUM = `select sum(balance), count(*), count(distinct id) from ${TABLE}`;

/** Sessions on the metastore, as `skep --metastore` has them. */
export async function openBank(metastore: string): Promise<RemoteHome> {
  const { conf } = Configuration.load({ site: [], env: process.env });
  return await openRemoteHome({
    metastore: { text: metastore, addresses: parseMetastore(metastore, 'chaos') },
    connect: {},
    conf,
    fs: localFileSystem(),
    hivevar: {},
    env: process.env,
    notice: () => {},
  });
}

/** A statement's rows as Hive prints them. */
export async function rowsOf(session: Session, statement: string): Promise<string[]> {
  const { columns, batches } = await session.execute(statement);
  const types = (columns ?? []).map((column) => parseTypeName(column.type));
  const lines: string[] = [];
  for await (const batch of batches ?? []) {
    for (let row = 0; row < batch.length; row++) lines.push(formatRow(types, batch, row));
  }
  return lines;
}

/** A line for whoever started this process. */
export const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** The metastore was killed, or another transaction won: nothing that a client could not try again. */
export function isExpected(error: unknown): boolean {
  if (!(error instanceof SkepError)) return false;
  return error.kind === 'unavailable' || error.kind === 'conflict' || error.message.includes('snapshot was outdated');
}

/** Opens the bank again and again until the metastore is there. */
export async function openPatiently(metastore: string): Promise<RemoteHome> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await openBank(metastore);
    } catch (error) {
      if (attempt >= 10 || !isExpected(error)) throw error;
    }
  }
}
