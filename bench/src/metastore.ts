import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { hasMariadb, startMariadb } from '@skep/metadb/testing';
import { findOracle, type HiveLoad, HiveMetastore } from './hive-metastore.js';
import { drive, type Load, type SnapshotTimes, snapshots } from './metastore-load.js';
import { textTable, timingOf } from './statistics.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const GOAL = { ratio: 5, lockP99Ms: 10, snapshotMs: 100, openTxns: 100_000 };

interface Tools {
  /** The command line from its sources: the path of a program for Node. */
  skep(): Promise<string>;
}

const OPTIONS = {
  clients: { type: 'string', default: '1,8,64' },
  seconds: { type: 'string', default: '5' },
  rounds: { type: 'string', default: '3' },
  /** Which databases: sqlite, mariadb. */
  db: { type: 'string', default: 'sqlite,mariadb' },
  'no-hive': { type: 'boolean', default: false },
  'no-snapshot': { type: 'boolean', default: false },
  /** Write a profile of each metastore process into this folder. */
  profile: { type: 'string' },
  /** Of the process that drives: the address of a metastore. */
  drive: { type: 'string' },
  open: { type: 'string' },
} as const;

/**
 * Open, allocate a write id, lock, commit, by clients with a connection and a table each, against `skep metastore` in a process
 * of its own, over gRPC; beside Hive's metastore over Thrift, in turns.
 */
export async function main(args: string[], tools?: Tools): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS });
  const clients = values.clients.split(',').map(Number);
  const seconds = Number(values.seconds);
  if (values.drive !== undefined) {
    const measured =
      values.open === undefined
        ? await drive(values.drive, clients[0], seconds)
        : await snapshots(values.drive, Number(values.open));
    process.stdout.write(`${JSON.stringify(measured)}\n`);
    return 0;
  }
  if (tools === undefined) throw new TypeError('run it by npm run bench -- metastore');
  const work = mkdtempSync(join(tmpdir(), 'skep-bench-metastore-'));
  const setup = { work, program: await tools.skep(), profile: values.profile };
  const bench = new Bench(clients, seconds, Number(values.rounds), values['no-snapshot']);
  try {
    const databases = values.db.split(',');
    if (databases.includes('sqlite')) await bench.onSqlite(setup);
    if (databases.includes('mariadb') && !hasMariadb) process.stdout.write('without MariaDB: it is not installed\n');
    else if (databases.includes('mariadb')) await bench.onMariadb(setup, values['no-hive']);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return bench.report();
}

interface Setup {
  readonly work: string;
  readonly program: string;
  readonly profile: string | undefined;
}

/** `skep metastore` until it is stopped. */
class SkepMetastore {
  private constructor(
    readonly address: string,
    private readonly child: ChildProcess,
  ) {}

  static start({ work, program, profile }: Setup, db: string): Promise<SkepMetastore> {
    const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
    const args = ['metastore', '--db', db, '--listen', '127.0.0.1:0', '--warehouse', join(work, 'warehouse')];
    // One more than will be open: at the limit it refuses.
    const limit = ['--hiveconf', `hive.max.open.txns=${2 * GOAL.openTxns}`];
    const child = spawn(process.execPath, [...profiling, program, ...args, ...limit], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return new Promise((resolve, reject) => {
      let out = '';
      child.stdout.on('data', (chunk) => {
        out += String(chunk);
        const address = /ready on (\S+):/.exec(out)?.[1];
        if (address !== undefined) resolve(new SkepMetastore(address, child));
      });
      child.on('close', (code) => reject(new TypeError(`skep metastore ended with ${code}`)));
    });
  }

  /** By a process of its own. */
  async drive(clients: number, seconds: number): Promise<Load> {
    return await this.ask(['--clients', String(clients), '--seconds', String(seconds)]);
  }

  async snapshots(open: number): Promise<SnapshotTimes> {
    return await this.ask(['--open', String(open)]);
  }

  private async ask<T>(args: readonly string[]): Promise<T> {
    // This very bundle: sources may change meanwhile.
    const run = `import(${JSON.stringify(import.meta.url)}).then(({ main }) => main(process.argv.slice(1)))`;
    const all = ['--input-type=module', '-e', run, '--', '--drive', this.address, ...args];
    const { stdout } = await promisify(execFile)(process.execPath, all, { maxBuffer: 1 << 28 });
    return JSON.parse(stdout);
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.child.on('close', () => resolve());
      this.child.kill('SIGTERM');
    });
  }
}

/** One line of the table, of all rounds. */
interface Line {
  readonly what: string;
  readonly clients: number;
  readonly rounds: {
    readonly perSecond: number;
    readonly medianMs: number;
    readonly p99Ms: number;
    lockP99Ms?: number;
  }[];
  failures: number;
  failure?: string;
}

class Bench {
  private readonly lines: Line[] = [];
  private readonly snapshotLines: string[][] = [];
  private readonly missed: string[] = [];

  constructor(
    private readonly clients: readonly number[],
    private readonly seconds: number,
    private readonly rounds: number,
    private readonly skipsSnapshots: boolean,
  ) {}

  async onSqlite(setup: Setup): Promise<void> {
    const skep = await SkepMetastore.start(setup, `sqlite:${join(setup.work, 'metastore.db')}`);
    try {
      for (let round = 0; round < this.rounds; round++) {
        for (const clients of this.clients) this.note('skep, SQLite', clients, await skep.drive(clients, this.seconds));
      }
      await this.snapshot('skep, SQLite', skep);
    } finally {
      await skep.stop();
    }
  }

  async onMariadb(setup: Setup, withoutHive: boolean): Promise<void> {
    const oracle = withoutHive ? undefined : findOracle(root);
    // Each commit is flushed, as a server's default is.
    const mariadb = await startMariadb({ flush: 1 });
    let skep: SkepMetastore | undefined;
    let hive: HiveMetastore | undefined;
    try {
      skep = await SkepMetastore.start(setup, `${mariadb.url}/skep`);
      if (oracle !== undefined) {
        // A database of its own on the same server, with the same tables and indexes.
        await (await SkepMetastore.start(setup, `${mariadb.url}/hive`)).stop();
        hive = await HiveMetastore.start(oracle, join(setup.work, 'hive'), `mariadb://127.0.0.1:${mariadb.port}/hive`);
      }
      // Both warm: a Java program more than we.
      await skep.drive(8, 2);
      await hive?.drive(8, 10);
      for (let round = 0; round < this.rounds; round++) {
        for (const clients of this.clients) {
          this.note('skep, MariaDB', clients, await skep.drive(clients, this.seconds));
          if (hive !== undefined) this.noteHive(clients, await hive.drive(clients, this.seconds));
        }
      }
      await this.snapshot('skep, MariaDB', skep);
    } finally {
      hive?.stop();
      await skep?.stop();
      await mariadb.stop();
    }
  }

  private lineOf(what: string, clients: number): Line {
    let line = this.lines.find((known) => known.what === what && known.clients === clients);
    if (line === undefined) {
      line = { what, clients, rounds: [], failures: 0 };
      this.lines.push(line);
    }
    return line;
  }

  private note(what: string, clients: number, load: Load): void {
    const line = this.lineOf(what, clients);
    const { transactionMs, lockMs } = load;
    const perSecond = load.transactionsPerSecond;
    line.rounds.push({
      perSecond,
      medianMs: quantile(transactionMs, 0.5),
      p99Ms: quantile(transactionMs, 0.99),
      lockP99Ms: quantile(lockMs, 0.99),
    });
    line.failures += load.failures;
    line.failure ??= load.failure;
    this.progress(what, clients, perSecond);
  }

  private noteHive(clients: number, load: HiveLoad | string): void {
    const line = this.lineOf('Hive, MariaDB', clients);
    if (typeof load === 'string') {
      line.failures++;
      line.failure ??= load;
      this.progress('Hive, MariaDB', clients, 0);
      return;
    }
    line.rounds.push({ ...load, perSecond: load.transactionsPerSecond });
    this.progress('Hive, MariaDB', clients, load.transactionsPerSecond);
  }

  private progress(what: string, clients: number, perSecond: number): void {
    const load = loadavg()[0].toFixed(1);
    process.stderr.write(`  ${what}, ${clients} clients: ${perSecond.toFixed(0)} transactions/s (load ${load})\n`);
  }

  private async snapshot(what: string, skep: SkepMetastore): Promise<void> {
    if (this.skipsSnapshots) return;
    const { open, validTxnsMs, validWriteIdsMs } = await skep.snapshots(GOAL.openTxns);
    const cells = [validTxnsMs, validWriteIdsMs].map(
      (times) => `${ms(quantile(times, 0.5))} (max ${ms(times.at(-1))})`,
    );
    this.snapshotLines.push([what, String(open), ...cells]);
    for (const [name, times] of Object.entries({ validTxnsMs, validWriteIdsMs })) {
      if (quantile(times, 0.5) >= GOAL.snapshotMs) this.missed.push(`${what}: ${name} of ${open} open transactions`);
    }
  }

  report(): number {
    const rows = this.lines.map((line) => {
      const of = (figure: 'perSecond' | 'medianMs' | 'p99Ms' | 'lockP99Ms') =>
        timingOf(line.rounds.map((round) => round[figure] ?? Number.NaN)).median;
      const ratio = line.what === 'skep, MariaDB' ? this.ratioToHive(line) : undefined;
      this.judge(line, ratio, of('lockP99Ms'));
      const figures = line.rounds.length === 0 ? [] : [of('perSecond').toFixed(0), ms(of('medianMs')), ms(of('p99Ms'))];
      const cells = [...figures, '', '', ''].slice(0, 3);
      const lock = line.what.startsWith('skep') ? ms(of('lockP99Ms')) : '';
      return [line.what, String(line.clients), ...cells, lock, String(line.failures), ratio?.toFixed(1) ?? ''];
    });
    const head = ['', 'clients', 'transactions/s', 'p50 ms', 'p99 ms', 'lock p99 ms', 'failures', 'times Hive'];
    process.stdout.write(`${textTable(head, rows)}\n`);
    if (this.snapshotLines.length > 0) {
      const columns = ['', 'open', 'GetValidTxns ms', 'GetValidWriteIds ms'];
      process.stdout.write(`\n${textTable(columns, this.snapshotLines)}\n`);
    }
    for (const { what, clients, failure } of this.lines) {
      if (failure !== undefined) process.stdout.write(`${what}, ${clients} clients: ${failure}\n`);
    }
    for (const what of this.missed) process.stdout.write(`goal missed: ${what}\n`);
    return this.missed.length === 0 ? 0 : 1;
  }

  /** Median of the rounds' ratios: what was measured one after the other. */
  private ratioToHive(line: Line): number | undefined {
    const hive = this.lines.find((other) => other.what === 'Hive, MariaDB' && other.clients === line.clients);
    const pairs = line.rounds.flatMap((round, i) => {
      const peer = hive?.rounds[i];
      return peer === undefined ? [] : [round.perSecond / peer.perSecond];
    });
    return pairs.length === 0 ? undefined : timingOf(pairs).median;
  }

  private judge(line: Line, ratio: number | undefined, lockP99Ms: number): void {
    if (!line.what.startsWith('skep')) return;
    const at = `${line.what}, ${line.clients} clients`;
    if (line.failures > 0) this.missed.push(`${at}: ${line.failures} failed`);
    if (line.clients !== 8) return;
    if (ratio !== undefined && ratio < GOAL.ratio) this.missed.push(`${at}: ${ratio.toFixed(1)} times Hive's`);
    if (lockP99Ms >= GOAL.lockP99Ms) this.missed.push(`${at}: p99 of a lock ${ms(lockP99Ms)} ms`);
  }
}

function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;
}

function ms(value: number | undefined): string {
  return value === undefined ? '' : value.toFixed(value < 10 ? 2 : 0);
}
