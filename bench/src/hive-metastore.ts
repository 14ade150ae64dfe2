import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '@skep/core';
import { freePort } from '@skep/metadb/testing';

const START_MS = 180_000;
/** How much longer than asked for a round may take: the driver's start, and its last calls. */
const GRACE_MS = 60_000;
const HUNG = 'hung';

export interface HiveLoad {
  readonly transactionsPerSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

/** Where the oracle is: beside the repository, or our copy of it. Undefined, with the reason printed, where Hive cannot run. */
export function findOracle(root: string): string | undefined {
  const shared = join(process.env.SKEP_SHARED ?? join(root, '../shared'), 'oracle');
  const found = [shared, join(root, 'test/interop/oracle')].find((folder) => existsSync(join(folder, 'run.sh')));
  const java = spawnSync('java', ['-version']).status === 0;
  if (found !== undefined && java) return found;
  process.stdout.write(`without Hive: ${found === undefined ? 'no oracle/run.sh' : 'no java'}\n`);
  return undefined;
}

interface Server {
  readonly port: number;
  readonly child: ChildProcess;
}

/** Hive 4.0.1's own metastore, over Thrift, on a MariaDB database that has its tables. */
export class HiveMetastore {
  private constructor(
    private readonly oracle: string,
    private readonly home: string,
    private readonly database: string,
    private server: Server,
  ) {}

  get pid(): number | undefined {
    return this.server.child.pid;
  }

  static async start(oracle: string, home: string, database: string): Promise<HiveMetastore> {
    return new HiveMetastore(oracle, home, database, await HiveMetastore.serve(oracle, home, database));
  }

  private static async serve(oracle: string, home: string, database: string): Promise<Server> {
    const port = await freePort();
    const conf = {
      'javax.jdo.option.ConnectionURL': `jdbc:${database}`,
      'javax.jdo.option.ConnectionDriverName': 'org.mariadb.jdbc.Driver',
      'datanucleus.schema.autoCreateAll': 'false',
      'hive.metastore.schema.verification': 'true',
      'metastore.schema.verification': 'true',
    };
    const settings = Object.entries(conf).map(([key, value]) => `-Dconf.${key}=${value}`);
    const child = spawn(join(oracle, 'run.sh'), [...settings, home, '--metastore', String(port)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let tail = '';
    child.stderr.on('data', (chunk) => {
      tail = (tail + String(chunk)).slice(-2000);
    });
    const untilMs = systemClock.now() + START_MS;
    while (!(await answers(port))) {
      if (child.exitCode !== null || systemClock.now() > untilMs) {
        child.kill('SIGKILL');
        throw new TypeError(`Hive's metastore did not start: ${tail}`);
      }
      await systemClock.sleep(200);
    }
    return { port, child };
  }

  /**
   * The text is what it ended with where a call failed: Hive's driver stops at the first. One that does not come to its end hung (as
   * Hive has with 64 clients on its own schema), and is started anew for the next.
   */
  async drive(clients: number, seconds: number, graceMs = GRACE_MS): Promise<HiveLoad | string> {
    const load = await this.driveOnce(clients, seconds, graceMs);
    if (load !== HUNG) return load;
    this.stop();
    this.server = await HiveMetastore.serve(this.oracle, this.home, this.database);
    return `${HUNG}: no end ${graceMs / 1000} s after the round's`;
  }

  private driveOnce(clients: number, seconds: number, graceMs: number): Promise<HiveLoad | string> {
    const args = ['--bench', `thrift://127.0.0.1:${this.server.port}`, String(clients), String(seconds)];
    const child = spawn(join(this.oracle, 'run.sh'), args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const text = { out: '', err: '' };
    child.stdout.on('data', (chunk) => {
      text.out += String(chunk);
    });
    child.stderr.on('data', (chunk) => {
      text.err = (text.err + String(chunk)).slice(-2000);
    });
    const ended = new AbortController();
    return new Promise((resolve) => {
      const hang = () => {
        child.kill('SIGKILL');
        resolve(HUNG);
      };
      systemClock.sleep(seconds * 1000 + graceMs, ended.signal).then(hang, () => undefined);
      child.on('close', () => {
        ended.abort();
        const found = /: (\d+) transactions\/s, median ([\d.]+) ms, p99 ([\d.]+) ms/.exec(text.out);
        if (found === null) resolve(text.err.trim() || 'it said nothing');
        else {
          const [transactionsPerSecond, medianMs, p99Ms] = found.slice(1).map(Number);
          resolve({ transactionsPerSecond, medianMs, p99Ms });
        }
      });
    });
  }

  stop(): void {
    this.server.child.kill('SIGKILL');
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const done = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on('connect', () => done(true));
    socket.on('error', () => done(false));
  });
}
