import {
  type AcidState,
  compactMajor,
  compactMinor,
  compactRebalance,
  getAcidState,
  MinorCompactionUnsupportedError,
  partsOf,
} from '@skep/acid';
import type { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { type Compaction, CompactionType } from '@skep/rpc';
import { parseOrderBy } from './order-by.js';
import { type CompactedResource, isOrc, schemaOf } from './resource.js';
import type { CompactorServices } from './services.js';
import { jobSetting, orcProperties } from './worker-decision.js';

/** What a compaction works on, by the snapshot of its own transaction. */
export interface CompactionTask {
  readonly job: Compaction;
  readonly resource: CompactedResource;
  readonly state: AcidState;
  readonly writeIds: ValidWriteIdList;
  readonly validTxns: ValidTxnList;
  readonly txnId: bigint;
  readonly signal: AbortSignal;
}

type Input = ReturnType<typeof inputOf>;

/** Writes the result; answers how many bytes. */
export async function writeResult(services: CompactorServices, task: CompactionTask): Promise<number> {
  const { job, resource } = task;
  const input = inputOf(services, task);
  if (job.type === CompactionType.COMPACTION_TYPE_REBALANCE) {
    const orderBy = parseOrderBy(job.orderBy, resource.table);
    const buckets = job.numberOfBuckets === undefined ? {} : { buckets: job.numberOfBuckets };
    return (await compactRebalance({ ...input, ...buckets, orderBy })).bytes;
  }
  const most = mostDeltas(services, task);
  // An insert-only table's result is named by the snapshot, not by what is merged: it has no parts.
  const isMany = task.state.deltas.length > most && !resource.insertOnly;
  const [reduced, parts] = isMany ? await mergeParts(services, task, input, most) : [input, []];
  const isMajor = job.type === CompactionType.COMPACTION_TYPE_MAJOR;
  const { bytes } = isMajor ? await compactMajor(reduced) : await minorOf(services, task, reduced);
  for (const folder of parts) await services.fs.delete(folder, { recursive: true });
  return bytes;
}

/**
 * Minor compactions of parts of the deltas, in the same transaction; then the state is taken anew (CompactorMR.run). The
 * folders they leave are nobody's once the result is there.
 */
async function mergeParts(
  services: CompactorServices,
  { resource, state, writeIds, validTxns }: CompactionTask,
  input: Input,
  most: number,
): Promise<[Input, string[]]> {
  const parts = partsOf(state.deltas, most);
  // A part that is the whole would have the name of the result.
  if (parts.length < 2) return [input, []];
  const folders: string[] = [];
  try {
    for (const deltas of parts.filter((part) => part.length > 1)) {
      input.signal.throwIfAborted();
      folders.push(...(await compactMinor({ ...input, state: { ...state, deltas } })).directories);
    }
  } catch (error) {
    if (!(error instanceof MinorCompactionUnsupportedError)) throw error;
    // Only a major compaction can read them, all at once.
    for (const folder of folders) await services.fs.delete(folder, { recursive: true });
    return [input, []];
  }
  const merged = await getAcidState(services.fs, resource.location, writeIds, validTxns, { insertOnly: false });
  return [{ ...input, state: merged }, folders];
}

/**
 * Update events of tables of Hive 2 can be rewritten by a major compaction alone. The Initiator's request becomes one; who
 * asked for a minor one is told.
 */
async function minorOf({ log }: CompactorServices, { job }: CompactionTask, input: Input): Promise<{ bytes: number }> {
  try {
    return await compactMinor(input);
  } catch (error) {
    if (!(error instanceof MinorCompactionUnsupportedError) || isByHand(job)) throw error;
    log.info({ compactionId: job.id }, `Worker: compaction ${job.id} is a major one, because ${error.message}`);
    return await compactMajor(input);
  }
}

/** Asked for by a statement. */
const isByHand = ({ initiatorId }: Compaction): boolean => initiatorId.endsWith('-manual');

function inputOf({ fs }: CompactorServices, { job, resource, state, writeIds, txnId, signal }: CompactionTask) {
  const { table, insertOnly } = resource;
  return {
    fs,
    state,
    writeIds,
    schema: schemaOf(table),
    visibilityTxnId: txnId,
    insertOnly,
    fileFormat: isOrc(resource) ? 'orc' : 'other',
    orc: { tableProperties: orcProperties(table.parameters, job.properties) },
    signal,
  } as const;
}

/** `compactor.hive.compactor.max.num.delta` of the request or the table, else hive.compactor.max.num.delta. */
function mostDeltas({ conf }: CompactorServices, { job, resource }: CompactionTask): number {
  const own = Number(jobSetting('hive.compactor.max.num.delta', resource.table.parameters, job.properties));
  return Number.isInteger(own) && own >= 2 ? own : conf.maxNumDelta;
}
