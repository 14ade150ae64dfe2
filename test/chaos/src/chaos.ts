import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@skep/core';
import { Processes, type Running, until } from '../../services/processes.js';
import { Random } from '../../sim/src/random.js';
import { ACCOUNTS, branchOf, OPENING_BALANCE, openPatiently, TABLE } from './bank.js';
import { checkEnd } from './check-end.js';

export interface ChaosOptions {
  /** Of process.ts. */
  readonly bundle: string;
  readonly seconds: number;
  /** The metastore's database; absent: SQLite in the run's folder. */
  readonly dbUrl?: string;
  readonly clients?: number;
  /** Goes on, on a busy machine at most four times as long, until so many transfers are heard of. */
  readonly atLeast?: number;
  /** The table has partitions. */
  readonly isPartitioned?: boolean;
  readonly seed?: number;
  readonly log?: (line: string) => void;
}

export interface ChaosReport {
  /** What must not be. */
  readonly problems: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

const COMPACTORS = 2;
const KILL_EVERY_MS = 1000;
const SLOWER = 4;
const WAYS = ['update', 'merge', 'transaction'];
/** Of so many kills one is the metastore's. */
const METASTORE_SHARE = 0.1;
const CONF = {
  SKEP_CONF_hive_compactor_check_interval: '2s',
  SKEP_CONF_hive_compactor_initiator_on: 'true',
  SKEP_CONF_hive_compactor_cleaner_on: 'true',
  SKEP_CONF_hive_txn_timeout: '60s',
  SKEP_CONF_hive_compactor_aborted_txn_time_threshold: '2s',
};

/** Clients, compactors, a data service for one of these, a reader and the metastore as processes, killed with -9 one a second; then the checks. */
export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), 'skep-chaos-'));
  const processes = Processes.of(options.bundle, { HOME: folder, ...CONF });
  // However this process ends, those go too.
  const end = () => processes.endAll();
  process.once('exit', end);
  try {
    return await new Chaos(options, folder, processes).run();
  } finally {
    end();
    process.off('exit', end);
    rmSync(folder, { recursive: true, force: true });
  }
}

class Chaos {
  private readonly random: Random;
  private readonly problems: string[] = [];
  private readonly counts = new Map<string, number>();
  private readonly victims = new Map<string, Running>();
  private metastore: Running | undefined;
  private address = '';
  /** Where the data service is, again and again. */
  private data: string | undefined;
  private isOver = false;
  /** Processes that are about to be there. */
  private readonly starting = new Set<Promise<void>>();
  private nextSeed = 1;

  constructor(
    private readonly options: ChaosOptions,
    private readonly folder: string,
    private readonly processes: Processes,
  ) {
    this.random = new Random(options.seed ?? 1);
  }

  async run(): Promise<ChaosReport> {
    await this.startMetastore('127.0.0.1:0');
    await this.makeAccounts();
    const expected = `${ACCOUNTS * OPENING_BALANCE}\t${ACCOUNTS}\t${ACCOUNTS}`;
    const names = [
      ...Array.from({ length: this.clients }, (_, i) => `client${i}`),
      ...Array.from({ length: COMPACTORS }, (_, i) => `compactor${i}`),
      'reader',
    ];
    await this.start('data', expected);
    await Promise.all(names.map((name) => this.start(name, expected)));
    this.options.log?.('all processes run');
    const startedMs = systemClock.now();
    const endMs = startedMs + this.options.seconds * 1000;
    const latestMs = startedMs + SLOWER * this.options.seconds * 1000;
    const goesOn = () => {
      const now = systemClock.now();
      return now < endMs || (this.moved < (this.options.atLeast ?? 0) && now < latestMs);
    };
    while (goesOn()) {
      await systemClock.sleep(KILL_EVERY_MS);
      if (goesOn()) this.killOne(expected);
    }
    const seconds = (systemClock.now() - startedMs) / 1000;
    this.isOver = true;
    for (const running of this.victims.values()) running.child.kill('SIGKILL');
    await Promise.all(this.starting);
    this.options.log?.('all are killed; looking at what is left');
    if (this.moved === 0) this.problems.push('nobody moved any money');
    await this.checkEnd(expected);
    const figures = Object.fromEntries([...this.counts].sort());
    return {
      problems: this.problems,
      figures: { ...figures, seconds, transfers: this.moved, transfersPerSecond: this.moved / seconds },
    };
  }

  private get clients(): number {
    return this.options.clients ?? 8;
  }

  private get moved(): number {
    return WAYS.reduce((sum, way) => sum + (this.counts.get(`moved ${way}`) ?? 0), 0);
  }

  private async makeAccounts(): Promise<void> {
    const { isPartitioned = false } = this.options;
    const home = await openPatiently(this.address);
    const session = home.newSession();
    const branches = isPartitioned ? 'partitioned by (branch int)' : '';
    const rows = Array.from(
      { length: ACCOUNTS },
      (_, id) => `(${id}, ${OPENING_BALANCE}${isPartitioned ? `, ${branchOf(id)}` : ''})`,
    );
    await session.execute(
      `create table ${TABLE} (id int, balance bigint) ${branches} stored as orc
        tblproperties ('transactional'='true', 'compactorthreshold.hive.compactor.delta.num.threshold'='3')`,
    );
    await session.execute('set hive.exec.dynamic.partition.mode=nonstrict');
    await session.execute(`insert into ${TABLE} values ${rows.join(', ')}`);
    await home.close();
  }

  private async startMetastore(listen: string): Promise<void> {
    const db = this.options.dbUrl ?? `sqlite:${this.folder}/metastore.db`;
    const args = ['metastore', '--db', db, '--listen', listen, '--warehouse', `${this.folder}/warehouse`];
    this.metastore = await this.processes.start(args);
    this.address = this.metastore.address;
    this.watch('metastore', this.metastore);
  }

  private start(name: string, expected: string): Promise<void> {
    const started = this.startNow(name, expected).finally(() => this.starting.delete(started));
    this.starting.add(started);
    return started;
  }

  private async startNow(name: string, expected: string): Promise<void> {
    if (this.isOver) return;
    const seed = String(1000 * (this.options.seed ?? 1) + this.nextSeed++);
    try {
      const running = await this.processes.start(this.argsOf(name, seed, expected));
      if (name === 'data') this.data ??= running.address;
      if (this.isOver) {
        await running.end('SIGKILL');
        return;
      }
      this.victims.set(name, running);
      this.watch(name, running);
    } catch (error) {
      // Where the metastore was away for too long it tries again, as whoever looks after processes would.
      if (this.isOver) return;
      this.count('starts again');
      this.options.log?.(`${name}: ${String(error).slice(0, 300)}`);
      await this.startNow(name, expected);
    }
  }

  private argsOf(name: string, seed: string, expected: string): string[] {
    const metastore = ['--metastore', this.address];
    if (name.startsWith('client'))
      return ['client', this.address, seed, this.options.isPartitioned ? 'partitioned' : 'plain'];
    if (name === 'reader') return ['reader', this.address, seed, expected];
    if (name === 'data') return ['data', ...metastore, '--listen', this.data ?? '127.0.0.1:0'];
    // One has its files done by the data service.
    const elsewhere = name === 'compactor0' && this.data !== undefined ? ['--data', this.data] : [];
    return ['compactor', ...metastore, ...elsewhere];
  }

  /** Counts what a process says, line by line. */
  private watch(name: string, { child }: Running): void {
    let rest = '';
    child.stdout?.on('data', (chunk) => {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.hear(name, line);
    });
  }

  private hear(name: string, line: string): void {
    if (/^(UNEXPECTED|WRONG)/.test(line)) {
      this.options.log?.(`${name}: ${line}`);
      if (this.problems.length < 20) this.problems.push(`${name}: ${line}`);
    } else if (line.startsWith('moved') || line.startsWith('seen')) this.count(line);
    else if (line.startsWith('failed')) {
      this.count(`failed: ${/^failed \w+: (\w+)/.exec(line)?.[1]}`);
    }
  }

  private count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  private killOne(expected: string): void {
    if (this.metastore !== undefined && this.random.chance(METASTORE_SHARE)) {
      const { metastore } = this;
      this.metastore = undefined;
      this.count('killed metastore');
      void metastore
        .end('SIGKILL')
        .then(() => this.startMetastore(this.address))
        .catch((error: unknown) => this.problems.push(`the metastore does not start again: ${String(error)}`));
      return;
    }
    const alive = [...this.victims.keys()];
    const clients = alive.filter((name) => name.startsWith('client'));
    // On a busy machine they start more slowly than they are killed: then nobody would be left to move money.
    const spares = 2 * clients.length < this.clients ? [...clients, 'reader'] : ['reader'];
    const names = alive.filter((name) => !spares.includes(name));
    if (names.length === 0) {
      this.count('nobody killed');
      return;
    }
    // Mostly who has lived longest: whoever has just begun has done little yet that could be cut off.
    const name = this.random.chance(0.7) ? names[0] : this.random.pick(names);
    const victim = this.victims.get(name);
    this.victims.delete(name);
    this.count(`killed ${name.replace(/\d/, '')}`);
    void victim?.end('SIGKILL').then(() => this.start(name, expected));
  }

  /** What is left once all that moved money is dead. */
  private async checkEnd(expected: string): Promise<void> {
    await until(() => this.metastore !== undefined, 'the metastore');
    await this.processes.start(['compactor', '--metastore', this.address]);
    const home = await openPatiently(this.address);
    try {
      const { problems, compactions } = await checkEnd({
        home,
        expected,
        warehouse: `${this.folder}/warehouse`,
        log: this.options.log,
      });
      this.problems.push(...problems);
      this.counts.set('compactions asked for', compactions);
    } finally {
      await home.close();
    }
  }
}
