import { systemClock } from '@skep/core';
import { openDatabase } from '@skep/metadb';
import { CompactionState } from '@skep/rpc';
import { CompactionQueue } from '../src/queue/compaction-queue.js';
import { compactorMigrations } from '../src/queue/migrations.js';

/** A process of its own that takes requests until none is left: `queue-worker URL WORKER_ID`. Prints their ids. */
const [url, workerId] = process.argv.slice(2);
const db = await openDatabase({ url, migrations: compactorMigrations });
const retention = { succeeded: 3, failed: 3, refused: 3, didNotInitiate: 2, timeoutMs: 1e9 };
const queue = new CompactionQueue({ db, clock: systemClock, poolTimeoutMs: 1e9, retention });
for (;;) {
  const { job } = await queue.findNextCompact({ workerId, workerVersion: '', poolName: '' });
  if (job === undefined) break;
  process.stdout.write(`${job.id}\n`);
  await queue.finishCompaction({
    id: job.id,
    state: CompactionState.COMPACTION_STATE_SUCCEEDED,
    errorMessage: '',
  });
}
await db.close();
