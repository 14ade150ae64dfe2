import { Configuration } from '@skep/config';
import { SkepError } from '@skep/core';
import { QueryEngine } from '@skep/sql';
import type { FileSystem } from '@skep/storage';
import type { SessionContext } from '../../../packages/sql/src/session/context.js';
import { finishingMoves } from '../../../packages/sql/src/session/folder-moves.js';
import { ScanProgress } from '../../../packages/sql/src/session/scan-progress.js';
import { TemporaryTables } from '../../../packages/sql/src/session/temporary-tables.js';
import { ExplicitTransaction } from '../../../packages/sql/src/session/transaction/explicit-transaction.js';
import { runStatement } from '../../../packages/sql/src/session/transaction/run-statement.js';
import { ClientServices } from './client-services.js';
import { DataStatements, type Kind } from './data-statements.js';
import { EXPECTED_CODES } from './expected-codes.js';
import type { History } from './history.js';
import type { SimServices } from './metastore-process.js';
import { OtherStatements } from './other-statements.js';
import type { SimProcess } from './sim-process.js';

/** What all clients share. */
export interface ClientWorld {
  readonly history: History;
  readonly host: string;
  /** A number that no row has yet. */
  newRow(): number;
  /** The settings of this run's sessions. */
  readonly settings: Readonly<Record<string, string>>;
  /** Whether clients are killed. */
  readonly areKilled: boolean;
  /** The table that most statements of this run are about; absent: none. */
  readonly hot: string | undefined;
}

/** Kinds of statements by how often they come. */
const STATEMENTS: readonly Kind[] = [
  'insert',
  'insert',
  'update',
  'update',
  'delete',
  'merge',
  'overwrite',
  'read',
  'read',
];

/** A client: one statement or transaction after the other, through the code that sessions use. */
export class SimClient {
  private readonly context: SessionContext;
  private readonly own: ClientServices;
  private readonly data: DataStatements;
  private readonly other: OtherStatements;

  constructor(
    private readonly process: SimProcess,
    private readonly world: ClientWorld,
    services: SimServices,
    fs: FileSystem,
  ) {
    const { history, newRow, host } = world;
    const conf = new Configuration();
    for (const [name, value] of Object.entries(world.settings)) conf.set(name, value);
    this.own = new ClientServices(services, history);
    const identity = { user: 'u', host, agentInfo: process.agentInfo };
    this.context = {
      services: {
        ...this.own.services,
        catalog: finishingMoves({ ...this.own.services, fs }),
        fs,
        clock: process.clock,
        warehouse: 'file:/w',
        identity,
      },
      temporary: new TemporaryTables(),
      conf,
      engine: new QueryEngine(conf),
      progress: new ScanProgress(),
      currentDatabase: 'default',
      autocommit: true,
    };
    this.data = new DataStatements(process, this.context, history, newRow, world.hot);
    this.other = new OtherStatements(process, this.context, this.own, this.data, history, newRow);
  }

  /** Does something by chance; errors that are to be expected end it. */
  async act(): Promise<void> {
    this.own.txnId = 0n;
    this.data.earliest = await this.world.history.seq();
    const chance = this.process.sim.random.next();
    try {
      if (chance < 0.15) await this.inTransaction();
      else if (chance < 0.22) await this.other.requestCompaction();
      else if (chance < 0.26) await this.other.changePartitions();
      else if (chance < 0.29) await this.other.truncate();
      else if (chance < 0.31) await this.other.abortTransaction();
      else if (chance < 0.32) await this.other.abortCompaction();
      else if (chance < (this.world.hot === 'r' ? 0.44 : 0.36)) await this.mayBeKilledIn(() => this.other.rename());
      else if (chance < (this.world.hot === 'd' ? 0.5 : 0.4)) await this.mayBeKilledIn(() => this.other.createOrDrop());
      else await this.statement();
    } catch (error) {
      await this.judge(error);
    }
  }

  /** What changes names, folders and records one after the other is to be met in the middle more often than by chance. */
  private async mayBeKilledIn(run: () => Promise<void>): Promise<void> {
    const { process, world } = this;
    const { random } = process.sim;
    if (world.areKilled && random.chance(0.3)) process.fuse = Math.min(process.fuse, 1 + random.below(60));
    await run();
  }

  private async statement(): Promise<void> {
    const kind = this.process.sim.random.pick(STATEMENTS);
    await runStatement(this.context, await this.data.plan(kind));
    await this.world.history.heardCommitted(this.own.txnId);
  }

  private async inTransaction(): Promise<void> {
    const { random } = this.process.sim;
    const { history } = this.world;
    const transaction = await ExplicitTransaction.start(this.context, false);
    this.context.transaction = transaction;
    try {
      const count = 1 + random.below(4);
      for (let i = 0; i < count && !transaction.isLost; i++) {
        try {
          await runStatement(this.context, await this.data.plan(random.pick(STATEMENTS)));
        } catch (error) {
          await this.judge(error);
        }
      }
      if (random.chance(0.15)) {
        await transaction.rollback();
        await history.heardAborted(transaction.txnId);
        return;
      }
      await transaction.commit();
      await history.heardCommitted(transaction.txnId);
    } finally {
      this.context.transaction = undefined;
    }
  }

  private async judge(error: unknown): Promise<void> {
    const { sim, name } = this.process;
    const { history } = this.world;
    const { txnId } = this.own;
    sim.note(name, `error: ${String(error)}`);
    if (!(error instanceof SkepError)) {
      sim.violated(`${name}: ${error instanceof Error ? error.stack : String(error)}`);
      return;
    }
    if (error.code === 'TXN_ABORTED' || error.code === 'TXN_CONFLICT') await history.heardAborted(txnId);
    if (EXPECTED_CODES.has(error.code)) return;
    // Of a transaction that timed out nothing may be left to be found; nor, where days pass between a commit and its
    // repetition, of a committed one.
    const state = await history.stateOf(txnId);
    const hasEnded = ['NO_SUCH_TXN', 'NO_SUCH_LOCK'].includes(error.code) && (state === 'a' || sim.hasLeapt);
    const isOutdated =
      error.message.includes('snapshot was outdated') || error.message.includes('changed while it waited');
    const isDropped =
      ['NO_SUCH_OBJECT', 'GONE', 'ALREADY_EXISTS', 'PATH_EXISTS'].includes(error.code) ||
      ['Partition not found', 'Table not found', 'already exists'].some((text) => error.message.includes(text));
    if (hasEnded || isOutdated || isDropped) return;
    sim.violated(`${name}: unexpected error ${error.code}: ${error.message} (txnid:${txnId})`);
  }
}
