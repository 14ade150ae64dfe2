import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { hasMariadb, startMariadb } from '@skep/metadb/testing';
import { cpuMsOf } from './cpu.js';
import { findOracle, HiveMetastore } from './hive-metastore.js';
import { createHiveDatabase, publishedHiveSchema } from './hive-schema.js';
import { drive, type Load, type SnapshotTimes, snapshots } from './metastore-load.js';
import { type CpuMs, GOAL, HIVE, HIVE_OUR_INDEXES, Report, SKEP_MARIADB, SKEP_SQLITE } from './metastore-report.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** How much longer than asked for a round may take, and the snapshots in all: beyond, something hangs. */
const GRACE_MS = 60_000;
const SNAPSHOTS_MS = 600_000;

interface Tools {
  /** The command line from its sources: the path of a program for Node. */
  skep(): Promise<string>;
}

const OPTIONS = {
  clients: { type: 'string', default: '1,8,64' },
  seconds: { type: 'string', default: '10' },
  rounds: { type: 'string', default: '3' },
  /** Which databases: sqlite, mariadb. */
  db: { type: 'string', default: 'sqlite,mariadb' },
  'no-hive': { type: 'boolean', default: false },
  'no-snapshot': { type: 'boolean', default: false },
  /** Write a profile of each process into this folder. */
  profile: { type: 'string' },
  /** Of the process that drives: the address of a metastore. */
  drive: { type: 'string' },
  open: { type: 'string' },
} as const;

/**
 * Open, allocate a write id, lock, commit, by clients with a connection and a table each, against `skep metastore` in a process
 * of its own, over gRPC; beside Hive's metastore over Thrift, in turns: on the schema that Hive publishes, and with the
 * indexes that skep adds.
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
  return bench.report.print();
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
    private readonly profiling: readonly string[],
  ) {}

  get pid(): number | undefined {
    return this.child.pid;
  }

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
        if (address !== undefined) resolve(new SkepMetastore(address, child, profiling));
      });
      child.on('close', (code) => reject(new TypeError(`skep metastore ended with ${code}`)));
    });
  }

  /** By a process of its own. */
  async drive(clients: number, seconds: number): Promise<Load> {
    return await this.ask(['--clients', String(clients), '--seconds', String(seconds)], seconds * 1000 + GRACE_MS);
  }

  async snapshots(open: number): Promise<SnapshotTimes> {
    return await this.ask(['--open', String(open)], SNAPSHOTS_MS);
  }

  private async ask<T>(args: readonly string[], timeoutMs: number): Promise<T> {
    // This very bundle: sources may change meanwhile.
    const run = `import(${JSON.stringify(import.meta.url)}).then(({ main }) => main(process.argv.slice(1)))`;
    const all = [...this.profiling, '--input-type=module', '-e', run, '--', '--drive', this.address, ...args];
    const options = { maxBuffer: 1 << 28, timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
    try {
      return JSON.parse((await promisify(execFile)(process.execPath, all, options)).stdout);
    } catch (cause) {
      const isLate = cause instanceof Error && 'killed' in cause && cause.killed === true;
      if (isLate) throw new TypeError(`skep metastore hung: no answer to ${args.join(' ')} in ${timeoutMs} ms`);
      throw cause;
    }
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.child.on('close', () => resolve());
      this.child.kill('SIGTERM');
    });
  }
}

/** Whose processor time counts, beside the clients'. */
interface Processes {
  readonly metastore: number | undefined;
  readonly database?: number;
}

/** What `drive` answers, and what its processes have used for each transaction. */
async function measured<T extends { readonly transactionsPerSecond: number } | string>(
  { metastore, database }: Processes,
  seconds: number,
  drive: () => Promise<T>,
): Promise<{ readonly load: T; readonly cpu: CpuMs }> {
  const before = [cpuMsOf(metastore), cpuMsOf(database)];
  const load = await drive();
  const count = typeof load === 'string' ? Number.NaN : load.transactionsPerSecond * seconds;
  const [ofMetastore, ofDatabase] = [cpuMsOf(metastore), cpuMsOf(database)].map((now, i) => (now - before[i]) / count);
  return { load, cpu: { metastore: ofMetastore, database: ofDatabase } };
}

class Bench {
  readonly report = new Report();

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
        for (const clients of this.clients) await this.driveSkep(SKEP_SQLITE, clients, skep);
      }
      await this.snapshot(SKEP_SQLITE, skep);
    } finally {
      await skep.stop();
    }
  }

  async onMariadb(setup: Setup, withoutHive: boolean): Promise<void> {
    const oracle = withoutHive ? undefined : findOracle(root);
    // Each commit is flushed, as a server's default is.
    const mariadb = await startMariadb({ flush: 1 });
    let skep: SkepMetastore | undefined;
    const hives = new Map<string, HiveMetastore>();
    try {
      skep = await SkepMetastore.start(setup, `${mariadb.url}/skep`);
      if (oracle !== undefined) await startHives(setup, oracle, mariadb, hives);
      // All warm: a Java program more than we.
      await skep.drive(8, 2);
      for (const hive of hives.values()) await hive.drive(8, 10);
      for (let round = 0; round < this.rounds; round++) {
        for (const clients of this.clients) {
          await this.driveSkep(SKEP_MARIADB, clients, skep, mariadb.pid);
          for (const [what, hive] of hives) await this.driveHive(what, clients, hive, mariadb.pid);
        }
      }
      await this.snapshot(SKEP_MARIADB, skep);
    } finally {
      for (const hive of hives.values()) hive.stop();
      await skep?.stop();
      await mariadb.stop();
    }
  }

  private async driveSkep(what: string, clients: number, skep: SkepMetastore, database?: number): Promise<void> {
    const processes = { metastore: skep.pid, database };
    const { load, cpu } = await measured(processes, this.seconds, () => skep.drive(clients, this.seconds));
    this.report.note(what, clients, load, { ...cpu, clients: load.cpuMs });
    progress(what, clients, load.transactionsPerSecond);
  }

  private async driveHive(what: string, clients: number, hive: HiveMetastore, database: number): Promise<void> {
    const processes = { metastore: hive.pid, database };
    const { load, cpu } = await measured(processes, this.seconds, () => hive.drive(clients, this.seconds));
    this.report.noteHive(what, clients, load, cpu);
    progress(what, clients, typeof load === 'string' ? 0 : load.transactionsPerSecond);
  }

  private async snapshot(what: string, skep: SkepMetastore): Promise<void> {
    if (!this.skipsSnapshots) this.report.noteSnapshot(what, await skep.snapshots(GOAL.openTxns));
  }
}

/** Databases of their own on the same server: one as Hive's schematool makes it, one with the indexes that skep adds. */
async function startHives(
  setup: Setup,
  oracle: string,
  { port, url }: { readonly port: number; readonly url: string },
  hives: Map<string, HiveMetastore>,
): Promise<void> {
  const schema = publishedHiveSchema(join(root, '.cache/bench'));
  await createHiveDatabase(port, 'hive', schema);
  await createHiveDatabase(port, 'hive_indexed', schema);
  await (await SkepMetastore.start(setup, `${url}/hive_indexed`)).stop();
  for (const [what, database] of [
    [HIVE, 'hive'],
    [HIVE_OUR_INDEXES, 'hive_indexed'],
  ]) {
    const home = join(setup.work, database);
    hives.set(what, await HiveMetastore.start(oracle, home, `mariadb://127.0.0.1:${port}/${database}`));
  }
}

function progress(what: string, clients: number, perSecond: number): void {
  const load = loadavg()[0].toFixed(1);
  process.stderr.write(`  ${what}, ${clients} clients: ${perSecond.toFixed(0)} transactions/s (load ${load})\n`);
}
