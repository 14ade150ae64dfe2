import { SkepError, systemClock } from '@skep/core';
import { LockManager, releaseStatements } from '@skep/lock-manager';
import { openDatabase } from '@skep/metadb';
import { DataOperation, LockState, LockType } from '@skep/rpc';
import { currentAgentInfo, TxnManager } from '../src/index.js';
import { commit, component, lockRequest, MIGRATIONS, open, writeIdOf, writes } from './services.js';

/**
 * A process of its own on a shared database file. It prints a line of JSON per transaction.
 *   race-worker URL conflict COUNT   updates d.t without exclusive locks, so commits conflict
 *   race-worker URL lock COUNT       takes an EXCLUSIVE lock, waits for it, and notes when it holds it
 *   race-worker URL hold             takes the lock, says so, and stays until it is killed
 */
const [url, mode, countText] = process.argv.slice(2);
const db = await openDatabase({ url, migrations: MIGRATIONS });
const txns: TxnManager = new TxnManager({ db, host: 'here', locks: () => locks, releasing: releaseStatements });
const locks: LockManager = new LockManager({ db, txns: () => txns, localTxns: txns });
const say = (fields: object) => {
  const text = JSON.stringify(fields, (_, value) => (typeof value === 'bigint' ? Number(value) : value));
  process.stdout.write(`${text}\n`);
};

async function conflicting(): Promise<void> {
  const txnId = await open(txns);
  const writeId = await writeIdOf(txns, txnId);
  await writes(txns, txnId);
  try {
    const { commitId } = await commit(txns, txnId);
    say({ txnId, writeId, commitId });
  } catch (error) {
    if (!(error instanceof SkepError)) throw error;
    say({ txnId, writeId, error: error.code });
  }
}

async function locked(): Promise<void> {
  const txnId = await open(txns, { agentInfo: currentAgentInfo() });
  const operation = DataOperation.DATA_OPERATION_UPDATE;
  let answer = await locks.lock(
    lockRequest(txnId, [component(LockType.LOCK_TYPE_EXCLUSIVE, { operation, isTransactional: true })]),
  );
  while (answer.state === LockState.LOCK_STATE_WAITING) {
    await systemClock.sleep(2);
    answer = await locks.checkLock({ lockId: answer.lockId });
  }
  const fromNs = process.hrtime.bigint();
  await systemClock.sleep(1);
  const toNs = process.hrtime.bigint();
  if (mode === 'hold') {
    say({ txnId, held: true });
    await systemClock.sleep(60_000);
  }
  await commit(txns, txnId, true);
  say({ txnId, lockId: answer.lockId, fromNs: fromNs.toString(), toNs: toNs.toString() });
}

for (let i = 0; i < Number(countText ?? 1); i++) await (mode === 'conflict' ? conflicting() : locked());
await db.close();
