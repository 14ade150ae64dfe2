import { type CompactFolderRequest, type Compaction, CompactionType } from '@skep/rpc';
import type { CompactorConf } from './conf.js';
import { parseOrderBy } from './order-by.js';
import { type CompactedResource, isOrc } from './resource.js';
import { jobSetting, orcProperties } from './worker-decision.js';

/** A request of the queue in its transaction: what it is of, by which snapshot, for whom. */
export interface RunningJob {
  readonly job: Compaction;
  readonly resource: CompactedResource;
  readonly validTxns: string;
  readonly writeIds: string;
  readonly txnId: bigint;
  readonly runAs: string;
}

/** Of minor compactions with metastore.compactor.enable.stats.compression=false (OrcOutputFormat.getRawRecordWriter). */
const BARE = { 'orc.compress': 'NONE', 'orc.row.index.stride': '0' };

/** What the file-format layer is asked for. Pure. */
export function folderRequest(
  { maxNumDelta, minorStatsCompression, writeVersionFile }: CompactorConf,
  { job, resource, validTxns, writeIds, txnId, runAs }: RunningJob,
): CompactFolderRequest {
  const { table, location, insertOnly } = resource;
  const { parameters } = table;
  const isRebalance = job.type === CompactionType.COMPACTION_TYPE_REBALANCE;
  return {
    database: job.database,
    table: job.table,
    partition: job.partition,
    location,
    compactionId: job.id,
    txnId,
    runAs,
    type: job.type,
    validTxns,
    writeIds,
    columns: table.sd?.columns ?? [],
    insertOnly,
    isOrc: isOrc(resource),
    orcProperties: {
      ...orcProperties(parameters, job.properties),
      ...(job.type === CompactionType.COMPACTION_TYPE_MINOR && !insertOnly && !minorStatsCompression ? BARE : {}),
    },
    maxDeltas: mostDeltas(parameters, job.properties, maxNumDelta),
    // The Initiator's becomes one; who asked for a minor one is told.
    majorInstead: !isByHand(job),
    numberOfBuckets: isRebalance ? job.numberOfBuckets : undefined,
    orderBy: isRebalance ? parseOrderBy(job.orderBy, table) : [],
    resume: false,
    omitVersionFile: !writeVersionFile,
  };
}

/** Asked for by a statement. */
const isByHand = ({ initiatorId }: Compaction): boolean => initiatorId.endsWith('-manual');

const LARGEST_INT32 = 0x7fffffff;

/** `compactor.hive.compactor.max.num.delta` of the request or the table, else hive.compactor.max.num.delta. */
function mostDeltas(
  table: Readonly<Record<string, string>>,
  request: Readonly<Record<string, string>>,
  configured: number,
): number {
  const own = Number(jobSetting('hive.compactor.max.num.delta', table, request));
  return Math.min(Number.isInteger(own) && own >= 2 ? own : configured, LARGEST_INT32);
}
