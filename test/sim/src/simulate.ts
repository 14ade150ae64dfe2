import { keepSmallFiles } from '@skep/acid';
import { catalogMigrations } from '@skep/catalog';
import type { CompactorServices } from '@skep/compactor';
import {
  Cleaner,
  CompactorMeter,
  compactorMigrations,
  DEFAULT_COMPACTOR_CONF,
  Initiator,
  localCompactionFiles,
  recoverAbandoned,
  Worker,
} from '@skep/compactor';
import { SkepError } from '@skep/core';
import { lockMigrations } from '@skep/lock-manager';
import { type Database, openDatabase } from '@skep/metadb';
import { memoryFileSystem } from '@skep/storage';
import { createLogger } from '@skep/telemetry/log';
import { txnMigrations } from '@skep/txn-manager';
import { checkEnd } from './check-end.js';
import { type ClientWorld, SimClient } from './client.js';
import { createTables } from './create-tables.js';
import { type DataServices, dataService, type RunningData, remoteFiles } from './data-process.js';
import { chooseFaults, type Faults, NO_FAULTS } from './faults.js';
import { History } from './history.js';
import { chooseSettings } from './lock-modes.js';
import { metastoreServices, type SimServices } from './metastore-process.js';
import { processFiles } from './process-files.js';
import { type Cluster, type RunningMetastore, remoteServices } from './remote-services.js';
import type { Sabotage } from './sabotage.js';
import { SimProcess } from './sim-process.js';
import { Simulation, Violation } from './simulation.js';

export interface SimulateOptions {
  readonly sabotage?: Sabotage | undefined;
  readonly echo?: (line: string) => void;
  /**
   * An empty database of MariaDB or MySQL; absent: SQLite in memory. Its calls take real time, so that a seed decides much but
   * not all.
   */
  readonly dbUrl?: string | undefined;
}

export interface SimReport {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly digest: string;
  readonly lastLines: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

const HOST = 'simhost';
/** Where most statements of some runs go. */
const HOT_TABLES = ['u', 'u', 't', 'r', 'd', 'm'];
const PAUSES_MS = [500, 20_000, 400_000, 400_000];
const EXPECTED_IN_LOOPS = new Set([
  'UNREACHABLE',
  'STORAGE',
  'NO_SUCH_COMPACTION',
  'COMPACTION_LOCK',
  'COMPACTION_TXN_LOST',
  'TXN_ABORTED',
  'NO_SUCH_TXN',
]);

/** One run: clients, metastores and compactors under a seed's faults, then the checks. */
export async function simulate(seed: number, options: SimulateOptions = {}): Promise<SimReport> {
  const sim = new Simulation(seed, options.echo);
  const opened = await openDatabase({
    url: options.dbUrl ?? 'sqlite::memory:',
    clock: {
      now: () => Math.floor(sim.nowMs + sim.databaseOffsetMs),
      random: () => sim.random.next(),
      sleep: (ms) => sim.delay(ms),
    },
    migrations: [...catalogMigrations('file:/w'), ...txnMigrations, ...lockMigrations, ...compactorMigrations],
  });
  const db = options.dbUrl === undefined ? opened : sim.outside.watch(opened);
  const world = new SimWorld(sim, db, await History.start(sim, db), options.sabotage);
  try {
    await sim.run(world.live());
  } catch (error) {
    sim.violated(
      error instanceof Violation ? error.message : error instanceof Error ? `${error.stack}` : String(error),
    );
  } finally {
    await db.close();
  }
  return {
    seed,
    violations: sim.violations,
    digest: sim.digest(),
    lastLines: sim.lastLines(300),
    figures: await world.figures(),
  };
}

class SimWorld implements Cluster, DataServices {
  private readonly files = memoryFileSystem();
  private readonly faults: Faults;
  readonly metastores: RunningMetastore[] = [];
  readonly datas: RunningData[] = [];
  private readonly processes = new Map<string, SimProcess>();
  private readonly clientWorld: ClientWorld;
  private readonly conf;
  private readonly restMs: number;
  private readonly usesMinHistory: boolean;
  private readonly ownTime: boolean;
  /** Each service is in a process of its own. */
  private readonly isSplit: boolean;
  private nextPid = 100;
  private nextRow = 1;
  private clientsLeft = 0;
  private isEnding = false;
  private readonly loops: Promise<void>[] = [];
  private kills = 0;
  private writers = 0;

  constructor(
    private readonly sim: Simulation,
    private readonly db: Database,
    private readonly history: History,
    private readonly sabotage: Sabotage | undefined,
  ) {
    const { random } = sim;
    this.faults = { ...chooseFaults(random), ...sabotage?.faults };
    const settings = { ...chooseSettings(random), ...sabotage?.settings };
    // Many at one place wait for each other.
    const hot = random.chance(0.4) ? random.pick(HOT_TABLES) : undefined;
    this.usesMinHistory = settings['hive.txn.use.minhistorywriteid'] === 'true';
    this.clientWorld = {
      history,
      host: random.chance(0.7) ? HOST : 'elsewhere',
      newRow: () => this.nextRow++,
      settings,
      hot: sabotage?.hot ?? hot,
      areKilled: Number.isFinite(this.faults.killEveryMs),
    };
    this.conf = {
      ...DEFAULT_COMPACTOR_CONF,
      deltaNumThreshold: 3,
      abortedTxnThreshold: random.pick([0, 3]),
      abortedTxnTimeThresholdMs: random.pick([0, 60_000]),
      cleanerRetryRetentionMs: 1000,
      cleanerDelayMs: random.chance(0.2) ? 5000 : 0,
      failedCompactsThreshold: 5,
      useMinHistoryWriteId: this.usesMinHistory,
    };
    const restMs = random.pick([200, 2000, 20_000]);
    this.restMs = sabotage?.restMs ?? restMs;
    this.ownTime = random.chance(0.5) && db.dialect.forUpdate === '';
    this.isSplit = random.chance(0.25);
    sim.note(
      'sim',
      `faults ${JSON.stringify(this.faults)} settings ${JSON.stringify(this.clientWorld.settings)} conf ${JSON.stringify(this.conf)}${this.ownTime ? ' own time' : ''}${this.isSplit ? ' split' : ''}`,
    );
  }

  async figures(): Promise<Record<string, number>> {
    return {
      events: this.sim.eventCount,
      kills: this.kills,
      checkedReads: this.history.checkedReads,
      committedWriters: this.writers,
    };
  }

  async live(): Promise<void> {
    const { random } = this.sim;
    await createTables(this.db, this.files);
    for (let i = 0; i < 2; i++) this.startMetastore(i);
    if (this.hasDataServices) for (let i = 0; i < 2; i++) this.startData(i);
    for (let i = 0; i < 2; i++) this.startCompactor(i);
    const clients = 2 + random.below(5);
    this.clientsLeft = clients;
    for (let i = 0; i < clients; i++) this.startClient(i, 8 + random.below(12));
    const chaos = this.chaos();
    while (this.clientsLeft > 0) await this.sim.delay(1000);
    this.isEnding = true;
    await chaos;
    // What is late arrives before all ends.
    await this.sim.delay(this.faults.latestMs);
    Object.assign(this.faults, NO_FAULTS);
    this.sim.databaseOffsetMs = 0;
    for (const process of this.processes.values()) process.fuse = Number.POSITIVE_INFINITY;
    await Promise.all(this.loops);
    for (const process of this.processes.values()) process.kill();
    await this.sim.delay(1_000_000);
    this.writers = await this.history.committedWriters();
    const process = this.process('end', 0);
    const services = metastoreServices(process, this.metastoreOptions(undefined));
    await checkEnd(this.sim, this.db, this.history, this.withFiles(process, services), this.files);
  }

  private metastoreOptions(elsewhere: SimServices | undefined) {
    return {
      database: this.db,
      ownTime: this.ownTime,
      elsewhere,
      host: HOST,
      isAlive: (agentInfo: string) => [...this.processes.values()].some((p) => p.isAlive && p.agentInfo === agentInfo),
      conf: { useMinHistoryWriteId: this.usesMinHistory },
      sabotage: this.sabotage?.services,
    };
  }

  private process(name: string, latencyMs = this.faults.latencyMs): SimProcess {
    const pid = this.nextPid++;
    const process = new SimProcess(this.sim, `${name}/${pid}`, pid, latencyMs);
    this.processes.set(name, process);
    return process;
  }

  private filesOf(process: SimProcess) {
    const fs = processFiles(process, this.sabotage?.files?.(this.files) ?? this.files, this.faults);
    keepSmallFiles(fs);
    return fs;
  }

  /** In half of the runs compactors have their files done by services of their own. */
  private get hasDataServices(): boolean {
    return this.sim.seed % 2 === 0;
  }

  private logOf({ name, clock }: SimProcess) {
    const write = (line: string) => this.sim.note(name, `log: ${line.trimEnd()}`);
    return createLogger({ level: 'warn', now: () => clock.now(), write });
  }

  private withFiles(process: SimProcess, services: ReturnType<typeof metastoreServices>): CompactorServices {
    const { clock } = process;
    const log = this.logOf(process);
    const meter = new CompactorMeter(clock);
    const identity = { user: 'u', host: HOST, agentInfo: process.agentInfo, version: '4.0.1' };
    const { catalog, txns, locks, compactions } = services;
    const fs = this.filesOf(process);
    return {
      catalog,
      txns,
      locks,
      compactions,
      fs,
      files: localCompactionFiles(fs),
      clock,
      conf: this.conf,
      ...identity,
      log,
      meter,
      idle: (ms, signal) => clock.sleep(ms, signal).catch(() => {}),
    };
  }

  private startMetastore(number: number): void {
    const process = this.process(`metastore${number}`);
    const elsewhere = this.isSplit ? remoteServices(process, this, this.faults) : undefined;
    const services = metastoreServices(process, this.metastoreOptions(elsewhere));
    const running = { process, services };
    this.metastores.push(running);
    process.died.then(async () => {
      this.metastores.splice(this.metastores.indexOf(running), 1);
      await this.sim.delay(this.sim.random.between(100, 10_000));
      if (!this.isEnding || this.metastores.length === 0) this.startMetastore(number);
    });
    const inside = this.withFiles(process, services);
    const cleaner = new Cleaner(inside);
    const initiator = new Initiator(inside);
    this.loop(process, this.restMs, [() => cleaner.runOnce(), () => initiator.runOnce(), () => this.keepHouse(inside)]);
  }

  private async keepHouse(services: CompactorServices): Promise<void> {
    const { txns, locks, compactions } = services;
    await txns.runHousekeeping({ abortDeadHolders: true });
    await locks.removeExpiredLocks({});
    const alive = [...this.processes.values()].filter((process) => process.isAlive);
    const aliveWorkerIds = alive.map((process) => `${HOST}-${process.pid}`);
    await compactions.revokeWorkers({ host: HOST, aliveWorkerIds, olderThanMs: 0n });
    await recoverAbandoned(services);
    await compactions.purgeHistory({});
  }

  private startCompactor(number: number): void {
    const process = this.process(`compactor${number}`);
    const services = remoteServices(process, this, this.faults);
    process.died.then(async () => {
      await this.sim.delay(this.sim.random.between(100, 10_000));
      if (!this.isEnding) this.startCompactor(number);
    });
    const here = this.withFiles(process, services);
    const files = this.hasDataServices ? remoteFiles(process, this, this.faults) : here.files;
    const worker = new Worker({ ...here, files }, `${HOST}-${process.pid}`);
    this.loop(process, this.restMs, [() => worker.runOnce()]);
  }

  private startData(number: number): void {
    const process = this.process(`data${number}`);
    const services = remoteServices(process, this, this.faults);
    const running = dataService(process, services, this.filesOf(process), this.logOf(process));
    this.datas.push(running);
    process.died.then(async () => {
      this.datas.splice(this.datas.indexOf(running), 1);
      await this.sim.delay(this.sim.random.between(100, 10_000));
      if (!this.isEnding) this.startData(number);
    });
  }

  /** Rounds, one after the other, until the process is killed or the run ends. */
  private loop(process: SimProcess, restMs: number, rounds: readonly (() => Promise<unknown>)[]): void {
    const { sim } = this;
    const run = async () => {
      while (!this.isEnding) {
        await process.clock.sleep(sim.random.between(0, 2 * restMs));
        if (this.isEnding) return;
        try {
          await sim.random.pick(rounds)();
        } catch (error) {
          sim.note(process.name, `error: ${String(error)}`);
          const isExpected = error instanceof SkepError && EXPECTED_IN_LOOPS.has(error.code);
          if (!isExpected) sim.violated(`${process.name}: ${error instanceof Error ? error.stack : String(error)}`);
        }
      }
    };
    this.loops.push(Promise.race([run(), process.died]));
  }

  private startClient(number: number, actions: number): void {
    const process = this.process(`client${number}`);
    const services = remoteServices(process, this, this.faults);
    const client = new SimClient(process, this.clientWorld, services, this.filesOf(process));
    let left = actions;
    let isDone = false;
    process.died.then(async () => {
      await this.sim.delay(this.sim.random.between(0, 5_000));
      if (isDone) return;
      // Whoever is killed again and again comes to an end, too.
      this.startClient(number, left - 1);
    });
    const run = async () => {
      for (; left > 0; left--) {
        await process.clock.sleep(this.sim.random.between(0, 500));
        await client.act();
      }
      isDone = true;
      this.clientsLeft--;
      // Its heartbeats, if any are left, are of nobody.
    };
    run().catch((error: unknown) =>
      this.sim.violated(`${process.name}: ${error instanceof Error ? error.stack : String(error)}`),
    );
  }

  /** Kills and moves clocks until the clients are done. */
  private async chaos(): Promise<void> {
    const { sim, faults } = this;
    const { random } = sim;
    let killAtMs = sim.nowMs + random.between(0, 2 * faults.killEveryMs);
    let jumpAtMs = sim.nowMs + random.between(0, 2 * faults.jumpEveryMs);
    let pauseAtMs = sim.nowMs + random.between(0, 2 * faults.pauseEveryMs);
    while (!this.isEnding) {
      await sim.delay(Math.max(1, Math.min(killAtMs, jumpAtMs, pauseAtMs, sim.nowMs + 1000) - sim.nowMs));
      if (this.isEnding) return;
      if (sim.nowMs >= killAtMs) {
        killAtMs = sim.nowMs + random.between(0, 2 * faults.killEveryMs);
        const alive = [...this.processes.values()].filter((process) => process.isAlive);
        const victims = random.chance(faults.killsAll) ? alive : alive.slice(random.below(alive.length)).slice(0, 1);
        for (const victim of victims) {
          // At one of its next steps, whatever that will be; everybody at once.
          if (victims.length > 1) victim.kill();
          else victim.fuse = Math.min(victim.fuse, 1 + random.below(60));
          this.kills++;
        }
      }
      if (sim.nowMs >= pauseAtMs) {
        pauseAtMs = sim.nowMs + random.between(0, 2 * faults.pauseEveryMs);
        // Longer ones than hive.txn.timeout among them: its transactions are aborted meanwhile.
        const alive = [...this.processes.values()].filter((process) => process.isAlive);
        // One at a time, lest nothing goes on.
        const isQuiet = alive.some((process) => process.isPaused);
        if (alive.length > 0 && !isQuiet) random.pick(alive).pause(random.pick(PAUSES_MS));
      }
      if (sim.nowMs >= jumpAtMs) {
        jumpAtMs = sim.nowMs + random.between(0, 2 * faults.jumpEveryMs);
        this.jump();
      }
    }
  }

  /** A process's clock or the database's goes off, or time leaps for all: whoever slept so long was suspended. */
  private jump(): void {
    const { sim } = this;
    const { random } = sim;
    sim.hasLeapt = true;
    if (random.chance(0.3)) {
      sim.nowMs += random.pick([10_000, 400_000, 90_000_000]);
      sim.note('sim', 'time leaps');
      return;
    }
    if (random.chance(0.2)) {
      sim.databaseOffsetMs = random.pick([-400_000, -5_000, 0, 5_000, 400_000]);
      sim.note('sim', `the database's clock off by ${sim.databaseOffsetMs}`);
      return;
    }
    const process = random.pick([...this.processes.values()]);
    process.clockOffsetMs = random.pick([-400_000, -5_000, 0, 5_000, 400_000]);
    sim.note(process.name, `clock off by ${process.clockOffsetMs}`);
  }
}
