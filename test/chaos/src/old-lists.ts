import { readTableDir } from '@skep/acid';
import { BugError, ValidTxnList, ValidWriteIdList } from '@skep/core';
import { vectorValue } from '@skep/orc';
import { TxnType } from '@skep/rpc';
import { localFileSystem } from '@skep/storage';
import type { RemoteHome } from '../../../apps/cli/src/remote-home.js';
import type { Random } from '../../sim/src/random.js';
import { isExpected, LOCATION_PREFIX, say, TABLE } from './bank.js';

const PATIENCE_MS = 20_000;
const LOOKS = 5;

/**
 * Takes a snapshot, keeps its transaction open for up to 20 s, and reads the files by its lists again and again, while others
 * change, compact and clean the table: until a process of the metastore that was killed has it given up, the sum stays.
 */
export async function watchOldList(home: RemoteHome, random: Random, expected: string): Promise<void> {
  const { txns, catalog, clock, identity } = home.services;
  const { table } = await catalog.getTable({ database: 'default', name: TABLE });
  const location = table?.sd?.location.replace(LOCATION_PREFIX, '');
  if (location === undefined) throw new BugError(`${TABLE} is gone`);
  const { txnIds } = await txns.openTxns({ count: 1, ...identity, type: TxnType.TXN_TYPE_UNSPECIFIED });
  const txnId = txnIds[0];
  const { validTxns } = await txns.getValidTxns({ txnId });
  const { validWriteIds } = await txns.getValidWriteIds({ tables: [`default.${TABLE}`], validTxns });
  const untilMs = clock.now() + random.between(0, PATIENCE_MS);
  for (let look = 0; look < LOOKS; look++) {
    const line = await sumBy(location, validTxns, validWriteIds[0]).catch((error: unknown) => error);
    // What was read counts where the transaction was open all the time.
    const { abortedTxnIds, noSuchTxnIds } = await txns.heartbeatTxns({ txnIds: [txnId] });
    if (abortedTxnIds.length + noSuchTxnIds.length > 0) return;
    if (line === expected) say('seen by an old list');
    else if (typeof line === 'string' || !isExpected(line))
      say(`WRONG by ${validWriteIds[0]} and ${validTxns}: ${String(line)} instead of ${expected}`);
    await clock.sleep(Math.max(0, untilMs - clock.now()) / (LOOKS - look));
  }
  await txns.commitTxn({ txnId });
}

/** The line of bank.ts's SUM, from the files. */
async function sumBy(location: string, validTxns: string, validWriteIds: string): Promise<string> {
  const fs = localFileSystem();
  const txns = ValidTxnList.parse(validTxns);
  const reading = await readTableDir(fs, location, { writeIds: ValidWriteIdList.parse(validWriteIds), txns });
  const [id, balance] = ['id', 'balance'].map((name) => reading.schema.fieldNames.indexOf(name));
  const ids: string[] = [];
  let sum = 0n;
  for await (const { root, length } of reading.batches()) {
    for (let row = 0; row < length; row++) {
      ids.push(String(vectorValue(root.children[id], row)));
      sum += BigInt(String(vectorValue(root.children[balance], row)));
    }
  }
  return `${sum}\t${ids.length}\t${new Set(ids).size}`;
}
