import type { ActionCaller } from '@skep/compactor';
import type { Configuration } from '@skep/config';
import {
  AccessDeniedError,
  type CompactFolderRequest,
  CompactionState,
  CompactionType,
  InvalidRequestError,
  NoSuchCompactionError,
  TxnAbortedError,
  TxnState,
} from '@skep/rpc';
import type { Services } from '@skep/sql';

/** A folder, and for whom something is to be done with it. */
interface NamedFolder {
  readonly database: string;
  readonly table: string;
  readonly partition?: string | undefined;
  readonly location: string;
}

/**
 * Whoever may call this service may ask for work on files: so everything that a Worker says is looked up at the metastore, which
 * alone knows what is whose and what is under way.
 */
export class CompactionCheck {
  constructor(
    private readonly services: Pick<Services, 'catalog' | 'txns' | 'compactions' | 'fs'>,
    private readonly conf: Configuration,
  ) {}

  /** The folder is that table's or partition's. */
  async folder({ database, table: name, partition, location }: NamedFolder): Promise<void> {
    const { catalog } = this.services;
    let known: string | undefined;
    if (partition === undefined) known = (await catalog.getTable({ database, name })).table?.sd?.location;
    else {
      const names = [partition];
      known = (await catalog.getPartitions({ database, table: name, names })).partitions[0]?.sd?.location;
    }
    if (location !== '' && known === location) return;
    const what = partition === undefined ? `${database}.${name}` : `${database}.${name} ${partition}`;
    throw new InvalidRequestError(`'${location}' is not where ${what} has its files, ${known ?? 'it is gone'}`);
  }

  /** The call is made for `runAs`, and that is whom compactions of the folder are done for. */
  async user(caller: ActionCaller, runAs: string, location: string): Promise<void> {
    if (caller.user !== '' && caller.user !== runAs) {
      const why = `the call is made for user '${caller.user}', its request names '${runAs}'`;
      throw new AccessDeniedError(caller.user, runAs, why);
    }
    const owner = (await this.services.fs.ownerOf?.(location))?.user;
    if (owner === undefined || owner === runAs || this.conf.get('hive.compactor.run.as.user') === runAs) return;
    throw new AccessDeniedError(
      caller.user,
      runAs,
      `${location} is of user '${owner}': it is compacted for that user or hive.compactor.run.as.user, not for '${runAs}'`,
    );
  }

  /** The queue has the request as under way in that transaction, which is open. */
  async running(request: CompactFolderRequest): Promise<void> {
    const { compactionId, txnId } = request;
    const { compactions } = await this.services.compactions.showCompactions({ id: compactionId, limit: 1n });
    const row = compactions.find(({ id }) => id === compactionId);
    const isIt =
      row !== undefined &&
      row.state === CompactionState.COMPACTION_STATE_WORKING &&
      row.txnId === txnId &&
      row.type === request.type &&
      row.database === request.database &&
      row.table === request.table &&
      row.partition === request.partition;
    if (!isIt) {
      const what = `compaction ${compactionId} of ${request.database}.${request.table}`;
      throw new NoSuchCompactionError(compactionId, `${what} is not under way in transaction txnid:${txnId}`);
    }
    await this.open(txnId);
  }

  /** The transaction is open: what it writes is nobody's yet. */
  async open(txnId: bigint): Promise<void> {
    if ((await this.stateOf(txnId)) === TxnState.TXN_STATE_OPEN) return;
    throw new TxnAbortedError(txnId, `the compaction's transaction ${txnId} is no longer open`);
  }

  /** The transaction is aborted: what it wrote is nobody's, for ever. */
  async aborted(txnId: bigint): Promise<void> {
    if ((await this.stateOf(txnId)) === TxnState.TXN_STATE_ABORTED) return;
    throw new InvalidRequestError(`transaction ${txnId} is not known to be aborted: what it wrote stays`);
  }

  private async stateOf(txnId: bigint): Promise<TxnState | undefined> {
    return (await this.services.txns.getTxnStates({ txnIds: [txnId] })).states[0];
  }
}

/** What no Worker asks for. Pure. */
export function requireMeant(request: CompactFolderRequest): void {
  const { type, maxDeltas, numberOfBuckets, orderBy, columns } = request;
  const wrong = [
    type !== CompactionType.COMPACTION_TYPE_MINOR &&
      type !== CompactionType.COMPACTION_TYPE_MAJOR &&
      type !== CompactionType.COMPACTION_TYPE_REBALANCE &&
      'the type is MINOR, MAJOR or REBALANCE',
    maxDeltas < 2 && 'max_deltas is at least 2',
    numberOfBuckets !== undefined && numberOfBuckets < 1 && 'number_of_buckets is at least 1',
    orderBy.some(({ column }) => column < 0 || column >= columns.length) && 'order_by names columns by their places',
  ].find((why) => why !== false);
  if (wrong !== undefined) throw new InvalidRequestError(`CompactFolderRequest: ${wrong}`);
}
