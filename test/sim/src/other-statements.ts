import { CompactionType, TxnState } from '@skep/rpc';
import { parseStatement } from '../../../packages/sql/src/parse/index.js';
import type { SessionContext } from '../../../packages/sql/src/session/context.js';
import { alterTable } from '../../../packages/sql/src/session/ddl/alter-table.js';
import { createTable } from '../../../packages/sql/src/session/ddl/create-table.js';
import { dropTable } from '../../../packages/sql/src/session/ddl/drop-table.js';
import { truncate } from '../../../packages/sql/src/session/dml/truncate.js';
import type { ClientServices } from './client-services.js';
import type { DataStatements } from './data-statements.js';
import { type History, type Place, placeName } from './history.js';
import { RENAMED_PARTITIONS, RENAMED_TABLES } from './known-tables.js';
import { letsInsertsPass } from './lock-modes.js';
import type { SimProcess } from './sim-process.js';

/** Statements about tables, partitions, compactions and other people's transactions. */
export class OtherStatements {
  constructor(
    private readonly process: SimProcess,
    private readonly context: SessionContext,
    private readonly own: ClientServices,
    private readonly data: DataStatements,
    private readonly history: History,
    private readonly newRow: () => number,
  ) {}

  async requestCompaction(): Promise<void> {
    const { random } = this.process.sim;
    const wanted = await this.data.place();
    const { partition } = wanted.table === 'r' ? { partition: await this.data.known.renamedPartition() } : wanted;
    const table = (await this.data.known.table(wanted.table)).name;
    const types = [
      CompactionType.COMPACTION_TYPE_MAJOR,
      CompactionType.COMPACTION_TYPE_MINOR,
      CompactionType.COMPACTION_TYPE_MINOR,
      CompactionType.COMPACTION_TYPE_REBALANCE,
    ];
    const type = table === 'm' ? CompactionType.COMPACTION_TYPE_MAJOR : random.pick(types);
    await this.context.services.compactions.compact({
      database: 'default',
      table,
      partition,
      type,
      runAs: '',
      properties: {},
      initiatorId: 'sim-manual',
      initiatorVersion: '',
      poolName: '',
      orderBy: '',
    });
  }

  /** Partitions whose names begin with x or y come and go; a name comes again only by who waited for its drop to write to it. */
  async changePartitions(): Promise<void> {
    const { random } = this.process.sim;
    const own = (await this.data.partitions()).filter((name) => /^p=[xy]/.test(name));
    if (own.length < 2 || random.chance(0.5)) {
      await this.alter(`ALTER TABLE t ADD PARTITION (p='x${this.newRow()}')`);
      return;
    }
    const name = random.pick(own);
    const place = `t/${name}`;
    // By who waits for the drop it may be made again, and dropped again.
    this.history.gone.delete(place);
    this.history.dropped.add(place);
    const effect = { place, removed: [], added: [], clears: 'all' } as const;
    await this.own.committing([effect], () => this.alter(`ALTER TABLE t DROP PARTITION (p='${name.slice(2)}')`));
    await this.history.heardCommitted(this.own.txnId);
    this.history.gone.set(place, this.own.txnId);
  }

  /** ALTER TABLE … RENAME of `r`, or of its partition. */
  async rename(): Promise<void> {
    const { random } = this.process.sim;
    const { known } = this.data;
    const { name } = await known.table('r');
    const another = <T>(names: readonly T[], now: T) => names.find((one) => one !== now);
    if (random.chance(0.6)) return await this.alter(`ALTER TABLE ${name} RENAME TO ${another(RENAMED_TABLES, name)}`);
    const partition = await known.renamedPartition();
    const spec = (of: string | undefined) => `PARTITION (p='${of?.slice(2)}')`;
    await this.alter(
      `ALTER TABLE ${name} ${spec(partition)} RENAME TO ${spec(another(RENAMED_PARTITIONS, partition))}`,
    );
  }

  /** CREATE TABLE d, or DROP TABLE d: the next one of that name has nothing of it. */
  async createOrDrop(): Promise<void> {
    const { sim, name } = this.process;
    const { catalog } = this.context.services;
    const { names } = await catalog.listTables({ database: 'default', pattern: 'd' });
    const text =
      names.length === 0
        ? `CREATE TABLE IF NOT EXISTS d (a int, b string) STORED AS ORC TBLPROPERTIES ('transactional'='true')`
        : 'DROP TABLE IF EXISTS d';
    sim.note(name, text);
    const statement = parseStatement(text);
    if (statement.kind === 'create-table') await createTable(this.context, statement, text);
    if (statement.kind !== 'drop-table') return;
    await dropTable(this.context, statement);
  }

  private async alter(text: string): Promise<void> {
    this.process.sim.note(this.process.name, text);
    const statement = parseStatement(text);
    if (statement.kind === 'alter-table') await alterTable(this.context, statement, text);
  }

  /** TRUNCATE of a table, or of one of its partitions. */
  async truncate(): Promise<void> {
    const wanted = await this.data.place();
    // What the others are by the time that it has its locks is not told.
    const place: Place = ['r', 'd'].includes(wanted.table) ? { table: 'u' } : wanted;
    const where = place.partition === undefined ? '' : ` PARTITION (p='${place.partition.slice(2)}')`;
    const text = `TRUNCATE TABLE ${place.table}${where}`;
    this.process.sim.note(this.process.name, text);
    const statement = parseStatement(text);
    if (statement.kind !== 'truncate') return;
    const clears = letsInsertsPass(this.context.conf, 'truncate') ? 'older' : 'all';
    const effect = { place: placeName(place), removed: [], added: [], clears } as const;
    await this.own.committing([effect], () => truncate(this.context, statement));
    await this.history.heardCommitted(this.own.txnId);
  }

  /** ABORT TRANSACTIONS of somebody, a compaction perhaps. */
  async abortTransaction(): Promise<void> {
    const { sim, name } = this.process;
    const { txns, identity } = this.context.services;
    const open = (await txns.showTxns({})).txns.filter(({ state }) => state === TxnState.TXN_STATE_OPEN);
    if (open.length === 0) return;
    const { txnId } = sim.random.pick(open);
    sim.note(name, `ABORT TRANSACTIONS ${txnId}`);
    await txns.abortTxns({ txnIds: [txnId], reasonCode: 50001, abortedBy: `${identity.user}@${identity.host}` });
  }

  /** ABORT COMPACTIONS: what has not begun. */
  async abortCompaction(): Promise<void> {
    const { sim, name } = this.process;
    const { compactions } = this.context.services;
    const shown = (await compactions.showCompactions({ limit: 20n })).compactions;
    if (shown.length === 0) return;
    const { id } = sim.random.pick(shown);
    sim.note(name, `ABORT COMPACTIONS ${id}`);
    await compactions.abortCompactions({ ids: [id] });
  }
}
