import { hostname } from 'node:os';
import { type Clock, SkepError, systemClock } from '@skep/core';
import { Batcher, type Database, type Step } from '@skep/metadb';
import {
  type AbortTxnsRequest,
  type AbortTxnsResponse,
  type AddDynamicPartitionsRequest,
  type AddDynamicPartitionsResponse,
  type AddMinHistoryWriteIdsRequest,
  type AddMinHistoryWriteIdsResponse,
  type AddWriteComponentsRequest,
  type AddWriteComponentsResponse,
  type AllocateTableWriteIdsRequest,
  type AllocateTableWriteIdsResponse,
  type CommitTxnRequest,
  type CommitTxnResponse,
  currentCall,
  detached,
  type FindCompactionCandidatesRequest,
  type FindCompactionCandidatesResponse,
  type ForgetResourceRequest,
  type ForgetResourceResponse,
  type GetCleanerWatermarkRequest,
  type GetCleanerWatermarkResponse,
  type GetLatestConflictingCommitRequest,
  type GetLatestConflictingCommitResponse,
  type GetTxnStatesRequest,
  type GetTxnStatesResponse,
  type GetValidTxnsRequest,
  type GetValidTxnsResponse,
  type GetValidWriteIdsRequest,
  type GetValidWriteIdsResponse,
  type HeartbeatMaterializationRebuildRequest,
  type HeartbeatMaterializationRebuildResponse,
  type HeartbeatTxnsRequest,
  type HeartbeatTxnsResponse,
  HousekeepingTask,
  InvalidRequestError,
  type LockMaterializationRebuildRequest,
  type LockMaterializationRebuildResponse,
  type LockService,
  type MarkCleanedRequest,
  type MarkCleanedResponse,
  NoSuchTxnError,
  type OpenTxnsRequest,
  type OpenTxnsResponse,
  type RenameResourceRequest,
  type RenameResourceResponse,
  type RunHousekeepingRequest,
  type RunHousekeepingResponse,
  type SeedTxnIdRequest,
  type SeedTxnIdResponse,
  type SeedWriteIdRequest,
  type SeedWriteIdResponse,
  type ShowTxnsRequest,
  type ShowTxnsResponse,
  type TransactionService,
  type TxnToWriteId,
} from '@skep/rpc';
import { abortInTx } from './abort.js';
import { collectGarbage } from './collect-garbage.js';
import { type CommitOutcome, commitJudged, committingStep, type Releasing } from './commit.js';
import { cleanerWatermark, findCandidates, markCleaned } from './compaction-support.js';
import {
  addComponents,
  addDynamicPartitions,
  haveComponents,
  type PlannedWrites,
  planComponents,
  recordingStep,
} from './components.js';
import { DEFAULT_TXN_CONF, type TxnConf } from './conf.js';
import { highestTxnId, RANKS, type TxnContext, VOLATILE } from './context.js';
import { expire } from './expiry.js';
import type { TxnTotals } from './figures.js';
import { heartbeat } from './heartbeat.js';
import { isHolderAlive } from './holder.js';
import { selectLatestConflict } from './latest-conflict.js';
import { addMinHistoryWriteIds } from './min-history.js';
import { selectValidTxns } from './open-txn-list.js';
import { TxnOpener } from './open-txns.js';
import { heartbeatRebuild, lockRebuild } from './rebuild-locks.js';
import { allocateReplicated, forgetReplicated, replicatedComponents, targetsOf } from './replication.js';
import { forgetResource, renameResource } from './resources.js';
import { seedTxnId } from './seed-txn-id.js';
import { showTxns } from './show-txns.js';
import { statesOf } from './states.js';
import { forgottenError, requireOpen } from './txn-state.js';
import { selectValidWriteIds } from './valid-write-ids.js';
import { type Allocation, allocateWriteIds, allocatingStep, seedWriteId, toAllocation } from './write-ids.js';

export interface TxnManagerOptions {
  readonly db: Database;
  /** A getter, because the two services hold each other. */
  readonly locks: () => LockService;
  /**
   * What releases locks, where these are in the same database and the lock manager in this process: they then go with the commit, as in
   * Hive, not after it.
   */
  readonly releasing?: Releasing | undefined;
  readonly clock?: Clock;
  readonly conf?: Partial<TxnConf>;
  /** This host's name as clients write it into OpenTxns; default the system's. */
  readonly host?: string;
  /** Whether the holder that TXN_AGENT_INFO names runs; asked for transactions of this host only. */
  readonly isAlive?: (agentInfo: string) => boolean;
}

/** What more components at once are recorded by themselves. */
const FEW_COMPONENTS = 16;

/**
 * TransactionService over Hive's transaction tables. What a power cut may take back is not fsynced: it leaves a
 * transaction open whose holder is gone, and that is aborted. Components, write ids and commits of writers are.
 */
export class TxnManager implements TransactionService {
  private readonly db: Database;
  private readonly locks: () => LockService;
  private readonly releasing: Releasing | undefined;
  private readonly ctx: TxnContext;
  private readonly opener: TxnOpener;
  /** What comes together is done together, see Batcher. */
  private readonly committing: Batcher<bigint, CommitOutcome>;
  private readonly allocating: Batcher<Allocation, TxnToWriteId[]>;
  private readonly recording: Batcher<PlannedWrites, undefined>;
  /** What has ended here since this object was made. */
  readonly totals: TxnTotals = { committed: 0, aborted: 0, timedOut: 0 };

  constructor(options: TxnManagerOptions) {
    this.db = options.db;
    this.locks = options.locks;
    this.releasing = options.releasing;
    this.ctx = {
      db: options.db,
      clock: options.clock ?? systemClock,
      conf: { ...DEFAULT_TXN_CONF, ...options.conf },
      host: options.host ?? hostname(),
      isAlive: options.isAlive ?? isHolderAlive,
    };
    const { db } = options;
    this.opener = new TxnOpener(this.ctx);
    this.committing = new Batcher(db, (tx, txnIds) => committingStep(tx, txnIds, this.releasing), {
      rank: RANKS.commit,
      subjectsOf: (txnId) => [txnId],
      isDurable: (txnIds) => this.mustBeDurable(txnIds),
    });
    this.allocating = new Batcher(db, (tx, requests) => allocatingStep(tx, requests), {
      rank: RANKS.allocate,
      subjectsOf: ({ txnIds }) => txnIds,
    });
    this.recording = new Batcher(db, (_tx, requests) => recordingStep(requests), {
      rank: RANKS.record,
      subjectsOf: ({ txnId }) => [txnId],
    });
  }

  async openTxns(request: OpenTxnsRequest): Promise<OpenTxnsResponse> {
    return { txnIds: await this.opener.open(request) };
  }

  async commitTxn(request: CommitTxnRequest): Promise<CommitTxnResponse> {
    const { replPolicy, txnId } = request;
    if (replPolicy !== undefined) return await this.commitReplicated(request, replPolicy);
    if (request.replicatedWrites !== undefined) {
      throw new InvalidRequestError(`replicated writes of txnid:${txnId} need the policy that it is replayed by`);
    }
    const outcome =
      request.exclWriteEnabled === false
        ? await this.known(
            this.db.transaction((tx) => commitJudged(tx, request, this.releasing), {
              durable: await this.mustBeDurable([txnId]),
            }),
          )
        : await this.known(this.committing.submit(txnId, currentCall()));
    if ('conflict' in outcome) this.totals.aborted++;
    else this.totals.committed++;
    if ('conflict' in outcome || this.releasing === undefined) await this.release([txnId]);
    if ('conflict' in outcome) throw outcome.conflict;
    return outcome.response;
  }

  /**
   * Without components nothing was written: a commit that a power cut takes back is missed by nobody. (A server decides
   * itself when it flushes: there is nothing to spare.)
   */
  private async mustBeDurable(txnIds: readonly bigint[]): Promise<boolean> {
    return this.db.dialect.name === 'mysql' || (await this.db.read((tx) => haveComponents(tx, txnIds)));
  }

  /** Commits what stands for another warehouse's transaction; one that is not known was committed before. */
  private async commitReplicated(request: CommitTxnRequest, policy: string): Promise<CommitTxnResponse> {
    const targets = await this.db.read((tx) => targetsOf(tx, policy, [request.txnId]));
    const txnId = targets.get(request.txnId);
    if (txnId === undefined) {
      return await this.db.read(async (tx) => ({ commitId: await highestTxnId(tx), commitTimeMs: await tx.now() }));
    }
    const components = replicatedComponents(request);
    if (components.length > 0) {
      await this.db.transaction((tx) => addComponents(tx, { txnId, components }));
    }
    const response = await this.commitTxn({ txnId, exclWriteEnabled: true });
    await this.db.transaction((tx) => forgetReplicated(tx, policy, [request.txnId]));
    return response;
  }

  /** Aborts what stands for another warehouse's transactions; the answer names the source's ids. */
  private async abortReplicated(request: AbortTxnsRequest, policy: string): Promise<AbortTxnsResponse> {
    const targets = await this.db.read((tx) => targetsOf(tx, policy, request.txnIds));
    const { abortedTxnIds } = await this.abortTxns({
      ...request,
      txnIds: [...targets.values()],
      replPolicy: undefined,
    });
    await this.db.transaction((tx) => forgetReplicated(tx, policy, [...targets.keys()]));
    const ids = [...new Set(request.txnIds)];
    const isAborted = (id: bigint) => abortedTxnIds.includes(targets.get(id) ?? -1n);
    return { abortedTxnIds: ids.filter(isAborted), skippedTxnIds: ids.filter((id) => !isAborted(id)) };
  }

  async abortTxns(request: AbortTxnsRequest): Promise<AbortTxnsResponse> {
    const { txnIds, reasonCode, abortedBy, replPolicy } = request;
    if (replPolicy !== undefined) return await this.abortReplicated(request, replPolicy);
    const abortedTxnIds = await this.db.transaction((tx) => abortInTx(tx, txnIds, reasonCode, abortedBy), VOLATILE);
    this.totals.aborted += abortedTxnIds.length;
    await this.release(abortedTxnIds);
    const aborted = new Set(abortedTxnIds);
    return { abortedTxnIds, skippedTxnIds: [...new Set(txnIds)].filter((id) => !aborted.has(id)) };
  }

  heartbeatTxns({ txnIds }: HeartbeatTxnsRequest): Promise<HeartbeatTxnsResponse> {
    return this.db.transaction((tx) => heartbeat(tx, txnIds), VOLATILE);
  }

  async getValidTxns({ txnId }: GetValidTxnsRequest): Promise<GetValidTxnsResponse> {
    const list = await this.db.read((tx) => selectValidTxns(tx, this.ctx.conf, txnId));
    return { validTxns: list.toString() };
  }

  async getValidWriteIds(request: GetValidWriteIdsRequest): Promise<GetValidWriteIdsResponse> {
    const lists = await this.db.read((tx) => selectValidWriteIds(tx, this.ctx.conf, request));
    return { validWriteIds: lists.map(String) };
  }

  async allocateTableWriteIds(request: AllocateTableWriteIdsRequest): Promise<AllocateTableWriteIdsResponse> {
    if (request.replicated !== undefined) {
      return { txnToWriteIds: await this.db.transaction((tx) => allocateReplicated(tx, request)) };
    }
    const allocation = toAllocation(request);
    if (!allocation.reallocate && allocation.txnIds.length === 1) {
      return { txnToWriteIds: await this.known(this.allocating.submit(allocation, currentCall())) };
    }
    return { txnToWriteIds: await this.db.transaction((tx) => allocateWriteIds(tx, allocation)) };
  }

  async seedWriteId(request: SeedWriteIdRequest): Promise<SeedWriteIdResponse> {
    await this.db.transaction((tx) => seedWriteId(tx, request.database, request.table, request.seedWriteId));
    return {};
  }

  async addWriteComponents({ txnId, components }: AddWriteComponentsRequest): Promise<AddWriteComponentsResponse> {
    const planned = planComponents(components);
    if (planned.length === 0) await this.db.read((tx) => requireOpen(tx, txnId));
    else if (planned.length <= FEW_COMPONENTS) {
      await this.known(this.recording.submit({ txnId, components: planned }, currentCall()));
    } else await this.db.transaction((tx) => addComponents(tx, { txnId, components: planned }));
    return {};
  }

  /**
   * The same as part of a database transaction of the lock manager, where that is in this process and on the same database: what will
   * be written is then recorded if, and only if, its locks are entered.
   */
  recordingStep(requests: readonly AddWriteComponentsRequest[]): Step<undefined> {
    return recordingStep(requests.map(({ txnId, components }) => ({ txnId, components: planComponents(components) })));
  }

  async addDynamicPartitions(request: AddDynamicPartitionsRequest): Promise<AddDynamicPartitionsResponse> {
    await this.db.transaction((tx) => addDynamicPartitions(tx, request));
    return {};
  }

  async getTxnStates({ txnIds }: GetTxnStatesRequest): Promise<GetTxnStatesResponse> {
    const { states, leftBehind } = await statesOf(this.ctx, txnIds);
    await this.release(leftBehind);
    return { states };
  }

  showTxns({ txnId }: ShowTxnsRequest): Promise<ShowTxnsResponse> {
    return this.db.read((tx) => showTxns(tx, this.ctx.conf, txnId));
  }

  async getLatestConflictingCommit(
    request: GetLatestConflictingCommitRequest,
  ): Promise<GetLatestConflictingCommitResponse> {
    return (await this.db.read((tx) => selectLatestConflict(tx, request))) ?? {};
  }

  async forgetResource(request: ForgetResourceRequest): Promise<ForgetResourceResponse> {
    await this.db.transaction((tx) => forgetResource(tx, request));
    return {};
  }

  async renameResource(request: RenameResourceRequest): Promise<RenameResourceResponse> {
    await this.db.transaction((tx) => renameResource(tx, request));
    return {};
  }

  async findCompactionCandidates(request: FindCompactionCandidatesRequest): Promise<FindCompactionCandidatesResponse> {
    return { candidates: await this.db.read((tx) => findCandidates(tx, this.ctx.conf, request)) };
  }

  getCleanerWatermark({ resource }: GetCleanerWatermarkRequest): Promise<GetCleanerWatermarkResponse> {
    return this.db.read((tx) => cleanerWatermark(tx, this.ctx.conf, resource));
  }

  async addMinHistoryWriteIds(request: AddMinHistoryWriteIdsRequest): Promise<AddMinHistoryWriteIdsResponse> {
    if (!this.ctx.conf.useMinHistoryWriteId) return { recorded: false };
    await this.db.transaction((tx) => addMinHistoryWriteIds(tx, request), VOLATILE);
    return { recorded: true };
  }

  async seedTxnId(request: SeedTxnIdRequest): Promise<SeedTxnIdResponse> {
    await this.db.transaction((tx) => seedTxnId(tx, request.seedTxnId));
    return {};
  }

  lockMaterializationRebuild(request: LockMaterializationRebuildRequest): Promise<LockMaterializationRebuildResponse> {
    return this.db.transaction((tx) => lockRebuild(tx, request, this.ctx.conf.txnTimeoutMs), VOLATILE);
  }

  async heartbeatMaterializationRebuild(
    request: HeartbeatMaterializationRebuildRequest,
  ): Promise<HeartbeatMaterializationRebuildResponse> {
    return { alive: await this.db.transaction((tx) => heartbeatRebuild(tx, request), VOLATILE) };
  }

  async markCleaned(request: MarkCleanedRequest): Promise<MarkCleanedResponse> {
    await this.db.transaction((tx) => markCleaned(tx, request), VOLATILE);
    return {};
  }

  async runHousekeeping({ abortDeadHolders, task }: RunHousekeepingRequest): Promise<RunHousekeepingResponse> {
    const isExpiring = task === undefined || task === HousekeepingTask.HOUSEKEEPING_TASK_EXPIRE;
    const { timedOut, deadHolder } = isExpiring
      ? await this.db.transaction((tx) => expire(tx, this.ctx, abortDeadHolders), VOLATILE)
      : { timedOut: [], deadHolder: [] };
    this.totals.timedOut += timedOut.length;
    this.totals.aborted += timedOut.length + deadHolder.length;
    await this.release([...timedOut, ...deadHolder]);
    await this.db.transaction((tx) => collectGarbage(tx, this.ctx.conf, task), VOLATILE);
    return { timedOutTxnIds: timedOut, deadHolderTxnIds: deadHolder };
  }

  /** Of a transaction that was aborted, and is forgotten as far as snapshots go, it is said that and why. */
  async known<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      const fate = error instanceof NoSuchTxnError && (await this.db.read((tx) => forgottenError(tx, error.txnId)));
      throw fate || error;
    }
  }

  /** After the transaction's own commit: should this call get lost, the locks block nobody (design rule 3). */
  private async release(txnIds: readonly bigint[]): Promise<void> {
    if (txnIds.length === 0) return;
    try {
      await detached(() => this.locks().releaseTxnLocks({ txnIds: [...txnIds] }));
    } catch (error) {
      // What was committed or aborted is so, also while the lock manager cannot be reached.
      if (!(error instanceof SkepError && error.kind === 'unavailable')) throw error;
    }
  }
}
