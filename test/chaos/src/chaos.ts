import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@skep/core';
import { TxnState } from '@skep/rpc';
import { Processes, type Running, until } from '../../services/processes.js';
import { Random } from '../../sim/src/random.js';
import { ACCOUNTS, OPENING_BALANCE, openPatiently, rowsOf, SUM } from './bank.js';

export interface ChaosOptions {
  /** Of process.ts. */
  readonly bundle: string;
  readonly seconds: number;
  /** The metastore's database; absent: SQLite in the run's folder. */
  readonly dbUrl?: string;
  readonly clients?: number;
  /** Goes on, on a busy machine at most four times as long, until so many transfers are heard of. */
  readonly atLeast?: number;
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
const MOST_WAIT_MS = 60_000;
const SLOWER = 4;
const WAYS = ['update', 'merge', 'transaction'];
/** Of so many kills one is the metastore's. */
const METASTORE_SHARE = 0.1;
const CONF = {
  SKEP_CONF_hive_compactor_check_interval: '2s',
  SKEP_CONF_hive_compactor_initiator_on: 'true',
  SKEP_CONF_hive_compactor_cleaner_on: 'true',
  SKEP_CONF_hive_txn_timeout: '60s',
};

/** Clients, compactors, a reader and the metastore as processes, killed with -9 one a second; then the checks. */
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
    const values = Array.from({ length: ACCOUNTS }, (_, id) => `(${id}, ${OPENING_BALANCE})`).join(', ');
    await this.makeAccounts(values);
    const expected = `${ACCOUNTS * OPENING_BALANCE}\t${ACCOUNTS}\t${ACCOUNTS}`;
    const names = [
      ...Array.from({ length: this.options.clients ?? 8 }, (_, i) => `client${i}`),
      ...Array.from({ length: COMPACTORS }, (_, i) => `compactor${i}`),
      'reader',
    ];
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
    await this.checkEnd(expected);
    const figures = Object.fromEntries([...this.counts].sort());
    return {
      problems: this.problems,
      figures: { ...figures, seconds, transfers: this.moved, transfersPerSecond: this.moved / seconds },
    };
  }

  private get moved(): number {
    return WAYS.reduce((sum, way) => sum + (this.counts.get(`moved ${way}`) ?? 0), 0);
  }

  private async makeAccounts(values: string): Promise<void> {
    const home = await openPatiently(this.address);
    const session = home.newSession();
    await session.execute(
      "create table accounts (id int, balance bigint) stored as orc tblproperties ('transactional'='true')",
    );
    await session.execute(`insert into accounts values ${values}`);
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
    const args = name.startsWith('client')
      ? ['client', this.address, seed]
      : name === 'reader'
        ? ['reader', this.address, seed, expected]
        : ['compactor', '--metastore', this.address];
    try {
      const running = await this.processes.start(args);
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
    } else if (line.startsWith('moved') || line === 'seen') this.count(line);
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
    const names = [...this.victims.keys()].filter((name) => name !== 'reader');
    if (names.length === 0) return;
    const name = this.random.pick(names);
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
    const session = home.newSession();
    try {
      const look = async (when: string) => {
        const [sum] = await rowsOf(session, SUM);
        if (sum !== expected) this.problems.push(`${when}: ${sum} instead of ${expected}`);
      };
      await look('at the end');
      const { txns, locks } = home.services;
      await this.wait('locks', async () => (await locks.showLocks({})).locks.length);
      const isOpen = ({ state }: { state: TxnState }) => state === TxnState.TXN_STATE_OPEN;
      await this.wait('open transactions', async () => (await txns.showTxns({})).txns.filter(isOpen).length);
      await this.wait('folders beside the base', async () => {
        // One may be under way already.
        await session.execute("alter table accounts compact 'major' and wait").catch(() => undefined);
        return this.folders().length - 1;
      });
      const folders = this.folders();
      if (!/^base_\d+_v\d+$/.test(folders.join())) this.problems.push(`the last compaction left ${folders.join(', ')}`);
      await look('after the last compaction');
    } finally {
      await home.close();
    }
  }

  /** Until none are left; a minute at most. */
  private async wait(what: string, left: () => Promise<number>): Promise<void> {
    const startedMs = systemClock.now();
    let count = await left();
    while (count > 0 && systemClock.now() < startedMs + MOST_WAIT_MS) {
      await systemClock.sleep(200);
      count = await left();
    }
    this.options.log?.(`${what}: ${count} after ${systemClock.now() - startedMs} ms`);
    if (count > 0) this.problems.push(`${count} ${what} are left after ${MOST_WAIT_MS} ms`);
  }

  private folders(): string[] {
    const path = join(this.folder, 'warehouse/accounts');
    return existsSync(path) ? readdirSync(path).sort() : [];
  }
}
