import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@skep/core';
import { type Compaction, CompactionState, TxnState } from '@skep/rpc';
import type { Session } from '@skep/sql';
import type { RemoteHome } from '../../../apps/cli/src/remote-home.js';
import { BRANCHES, rowsOf, SUM, TABLE } from './bank.js';

const MOST_WAIT_MS = 60_000;

export interface EndOptions {
  readonly home: RemoteHome;
  /** The line of SUM. */
  readonly expected: string;
  readonly warehouse: string;
  readonly log?: ((line: string) => void) | undefined;
}

export interface EndReport {
  readonly problems: readonly string[];
  /** As many were asked for in all. */
  readonly compactions: number;
}

const ENDED: ReadonlySet<CompactionState> = new Set([
  CompactionState.COMPACTION_STATE_SUCCEEDED,
  CompactionState.COMPACTION_STATE_FAILED,
  CompactionState.COMPACTION_STATE_DID_NOT_INITIATE,
  CompactionState.COMPACTION_STATE_REFUSED,
  CompactionState.COMPACTION_STATE_ABORTED,
]);

/** All that moved money is dead, a metastore and a compactor run: nothing may be left of the others but the sum, in one folder a place. */
export async function checkEnd({ home, expected, warehouse, log }: EndOptions): Promise<EndReport> {
  const problems: string[] = [];
  const { txns, locks, compactions } = home.services;
  const session = home.newSession();
  /** Until nothing is left; a minute at most. */
  const wait = async (what: string, left: () => Promise<readonly string[]>) => {
    const startedMs = systemClock.now();
    let rest = await left();
    while (rest.length > 0 && systemClock.now() < startedMs + MOST_WAIT_MS) {
      await systemClock.sleep(200);
      rest = await left();
    }
    log?.(`${what}: ${rest.length} after ${systemClock.now() - startedMs} ms`);
    if (rest.length > 0) problems.push(`${what} after ${MOST_WAIT_MS} ms: ${rest.slice(0, 20).join(', ')}`);
  };
  const look = async (when: string) => {
    const [sum] = await rowsOf(session, SUM);
    if (sum !== expected) problems.push(`${when}: ${sum} instead of ${expected}`);
  };
  const all = async (): Promise<readonly Compaction[]> =>
    (await compactions.showCompactions({ limit: 0n })).compactions;

  await look('at the end');
  await wait('locks left', async () => (await locks.showLocks({})).locks.map(({ lockId }) => String(lockId)));
  await wait('transactions left open', async () =>
    (await txns.showTxns({})).txns
      .filter(({ state }) => state === TxnState.TXN_STATE_OPEN)
      .map(({ txnId }) => `txnid:${txnId}`),
  );
  let refusal = '';
  await wait('files beside one folder a place', async () => {
    refusal = await compactAll(session);
    return strayFiles(join(warehouse, TABLE));
  });
  if (problems.length > 0) problems.push(`the last compaction: ${refusal || 'done'}`);
  await wait('compactions that have no end', async () =>
    (await all()).filter(({ state }) => !ENDED.has(state)).map(({ id, state }) => `${id} (${CompactionState[state]})`),
  );
  await wait('aborted writes that are not forgotten', async () => {
    const every = { abortedThreshold: 0, abortedTimeThresholdMs: -1n, sinceMs: 0n };
    const { candidates } = await txns.findCompactionCandidates(every);
    return candidates.filter((c) => c.tooManyAborts).map(({ resource }) => `${resource?.table}/${resource?.partition}`);
  });
  await look('after the last compaction');
  const ids = (await all()).map(({ id }) => Number(id));
  return { problems, compactions: Math.max(0, ...ids) };
}

/** Asked for and waited for; one that is under way already will do. Answers the last error. */
async function compactAll(session: Session): Promise<string> {
  let refusal = '';
  const places = (await rowsOf(session, `describe ${TABLE}`)).some((line) => line.startsWith('branch'))
    ? Array.from({ length: BRANCHES }, (_, branch) => ` partition (branch=${branch})`)
    : [''];
  for (const place of places) {
    await session.execute(`alter table ${TABLE}${place} compact 'major' and wait`).catch((error: unknown) => {
      refusal = String(error);
    });
  }
  return refusal;
}

/** A base that a compaction made; of a place that nobody changed, its only delta, which is not worth a compaction. */
const FOLDER = /^(base_\d+_v\d+|delta_0000001_0000001_\d{4})$/;
const FILE = /^(bucket_\d{5}(_\d+)?|_orc_acid_version|_metadata_acid)$/;

/** What is below a table's folder beside one base or delta a place, and the files of these. */
function strayFiles(folder: string): string[] {
  const children = readdirSync(folder).sort();
  const places = children.filter((name) => name.startsWith('branch='));
  if (places.length > 0) {
    const stray = children.filter((name) => !places.includes(name));
    return [...stray, ...places.flatMap((place) => strayFiles(join(folder, place)))];
  }
  const known = children.filter((name) => FOLDER.test(name) && statSync(join(folder, name)).isDirectory());
  const files = known.flatMap((name) => readdirSync(join(folder, name)).filter((file) => !FILE.test(file)));
  const none = known.length === 0 ? [`${folder} is empty`] : [];
  return [...children.filter((name) => !known.includes(name)), ...known.slice(1), ...files, ...none];
}
