import type { Database } from '@skep/metadb';
import { type Figure, type FigureSource, gauge, one, type Reading, type Sample } from '@skep/telemetry/figure';

/** By state code, Hive's name of the figure. */
const STATES: readonly (readonly [code: string, figure: Figure])[] = [
  ['i', 'initiated'],
  ['w', 'working'],
  ['r', 'ready_for_cleaning'],
  ['f', 'failed'],
  ['s', 'succeeded'],
  ['a', 'did_not_initiate'],
  ['c', 'refused'],
  ['x', 'aborted'],
].map(([code, word]) => [
  code,
  gauge(`compaction_num_${word}`, `Tables and partitions whose newest compaction is ${word.replaceAll('_', ' ')}.`),
]);

const oldestEnqueue = gauge('compaction_oldest_enqueue_age_in_sec', 'Time that the oldest request waits for a Worker.');
const oldestWorking = gauge('compaction_oldest_working_age_in_sec', 'Time since the oldest running one was begun.');
const oldestCleaning = gauge('compaction_oldest_cleaning_age_in_sec', 'Time since the Cleaner took up the oldest.');
const oldestReady = gauge('oldest_ready_for_cleaning_age_in_sec', 'Time since the oldest uncleaned one committed.');
const poolInitiated = gauge('compaction_pools_initiated_item_count', 'Requests that wait, by pool.', ['pool']);
const poolWorking = gauge('compaction_pools_working_item_count', 'Compactions that run, by pool.', ['pool']);
const poolEnqueue = gauge('compaction_pools_oldest_enqueue_age_in_sec', 'Age of the oldest request, by pool.', [
  'pool',
]);
const poolWorkingAge = gauge('compaction_pools_oldest_working_age_in_sec', 'Age of the oldest run, by pool.', ['pool']);
const initiators = gauge(
  'compaction_num_initiators',
  'Hosts whose Initiators asked for the newest compaction of a table or partition.',
);
const workers = gauge(
  'compaction_num_workers',
  'Hosts whose Workers run a compaction, or failed at the newest of a table or partition.',
);
const initiatorVersions = gauge('compaction_num_initiator_versions', 'Versions of Initiators among them.');
const lateWorkerVersions = gauge(
  'skep_compaction_late_worker_versions',
  'Versions of Workers that began a compaction within metastore.compactor.worker.detect.multiple.versions.threshold.',
);
const workerVersions = gauge('compaction_num_worker_versions', 'Versions of Workers among them.');

interface FigureRow {
  ID: bigint;
  DB: string;
  TBL: string;
  PART: string | null;
  STATE: string;
  ENQUEUED: bigint | null;
  STARTED: bigint | null;
  COMMITTED: bigint | null;
  CLEANING: bigint | null;
  POOL: string | null;
  INITIATOR: string | null;
  INITIATOR_VERSION: string | null;
  WORKER: string | null;
  WORKER_VERSION: string | null;
}

const columns = (p: string, cleanerStart: string): string =>
  `${p}ID AS ID, ${p}DATABASE AS DB, ${p}TABLE AS TBL, ${p}PARTITION AS PART, ${p}STATE AS STATE,
   ${p}ENQUEUE_TIME AS ENQUEUED, ${p}START AS STARTED, ${p}COMMIT_TIME AS COMMITTED, ${cleanerStart} AS CLEANING,
   ${p}POOL_NAME AS POOL, ${p}INITIATOR_ID AS INITIATOR, ${p}INITIATOR_VERSION AS INITIATOR_VERSION,
   ${p}WORKER_ID AS WORKER, ${p}WORKER_VERSION AS WORKER_VERSION`;

/** Figures of the queue and its history, named as Hive's CompactionMetricDataConverter and AcidMetricService name them. */
export function compactionFigures(db: Database, lateMs: number): FigureSource {
  return {
    name: 'compactions',
    figures: [
      ...STATES.map(([, figure]) => figure),
      oldestEnqueue,
      oldestWorking,
      oldestCleaning,
      oldestReady,
      poolInitiated,
      poolWorking,
      poolEnqueue,
      poolWorkingAge,
      initiators,
      workers,
      initiatorVersions,
      workerVersions,
      lateWorkerVersions,
    ],
    read: async () => {
      const { rows, now } = await db.read(async (tx) => ({
        // The history is bounded by hive.compactor.history.retention.*.
        rows: await tx.all<FigureRow>(
          `SELECT ${columns('CQ_', 'CQ_CLEANER_START')} FROM COMPACTION_QUEUE
           UNION ALL SELECT ${columns('CC_', 'NULL')} FROM COMPLETED_COMPACTIONS`,
        ),
        now: await tx.now(),
      }));
      return figuresOf(rows, now, BigInt(Math.trunc(lateMs)));
    },
  };
}

function figuresOf(rows: readonly FigureRow[], now: bigint, lateMs: bigint): Reading[] {
  const newest = new Map<string, FigureRow>();
  for (const row of rows) {
    const resource = [row.DB, row.TBL, row.PART ?? ''].join('\0');
    const known = newest.get(resource);
    if (known === undefined || known.ID < row.ID) newest.set(resource, row);
  }
  const inState = (state: string) => rows.filter((row) => row.STATE === state);
  const [waiting, working, ready] = [inState('i'), inState('w'), inState('r')];
  const oldest = (of: readonly FigureRow[], time: 'ENQUEUED' | 'STARTED' | 'COMMITTED' | 'CLEANING') =>
    of.reduce((age, row) => {
      const since = row[time];
      return since === null || since === 0n ? age : Math.max(age, Number(now - since) / 1000);
    }, 0);
  const late = rows.filter((row) => row.STARTED !== null && row.STARTED >= now - lateMs);
  const distinct = (pick: (row: FigureRow) => string | null, of: readonly FigureRow[] = [...newest.values()]) =>
    new Set(of.map(pick).filter((value) => value !== null && value !== '')).size;
  return [
    ...STATES.map(([code, figure]) => one(figure, [...newest.values()].filter((row) => row.STATE === code).length)),
    one(oldestEnqueue, oldest(waiting, 'ENQUEUED')),
    one(oldestWorking, oldest(working, 'STARTED')),
    one(oldestCleaning, oldest(ready, 'CLEANING')),
    one(oldestReady, oldest(ready, 'COMMITTED')),
    [poolInitiated, byPool(waiting, (of) => of.length)],
    [poolWorking, byPool(working, (of) => of.length)],
    [poolEnqueue, byPool(waiting, (of) => oldest(of, 'ENQUEUED'))],
    [poolWorkingAge, byPool(working, (of) => oldest(of, 'STARTED'))],
    one(
      initiators,
      distinct(({ INITIATOR }) => (INITIATOR?.endsWith('-manual') ? null : hostOf(INITIATOR))),
    ),
    one(
      workers,
      distinct(({ WORKER }) => hostOf(WORKER)),
    ),
    one(
      initiatorVersions,
      distinct((row) => row.INITIATOR_VERSION),
    ),
    one(
      workerVersions,
      distinct((row) => row.WORKER_VERSION),
    ),
    one(
      lateWorkerVersions,
      distinct((row) => row.WORKER_VERSION, late),
    ),
  ];
}

/** Of `host-thread`. */
const hostOf = (id: string | null): string | null => id?.replace(/-[^-]*$/, '') ?? null;

function byPool(rows: readonly FigureRow[], value: (of: readonly FigureRow[]) => number): Sample[] {
  const pools = new Map<string, FigureRow[]>();
  for (const row of rows) {
    const pool = row.POOL ?? '';
    const known = pools.get(pool);
    if (known === undefined) pools.set(pool, [row]);
    else known.push(row);
  }
  return [...pools].map(([pool, of]) => ({ labels: { pool: pool === '' ? 'default' : pool }, value: value(of) }));
}
