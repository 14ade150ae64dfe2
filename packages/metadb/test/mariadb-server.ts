import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { BugError, systemClock } from '@skep/core';
import mysql from 'mysql2';

const START_MS = 60_000;

/** A private MariaDB server on 127.0.0.1. Only for tests and benchmarks. */
export interface MariadbServer {
  readonly port: number;
  /** `mysql://APP:mine@127.0.0.1:PORT`: the user may do everything. The oracle of Hive logs in as this one. */
  readonly url: string;
  /** Its process, until it is restarted. */
  readonly pid: number;
  /** Kills it, and starts it again on the same data and port, as after a crash. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

function find(program: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, program)).find((file) => existsSync(file));
}

/** A folder with MySQL 8 (bin/mysqld): everything that runs on MariaDB runs on that instead (scripts/setup-mysql.sh). */
const mysqlHome = process.env.SKEP_TEST_MYSQL || undefined;

export const hasMariadb =
  mysqlHome !== undefined || (find('mariadbd') !== undefined && find('mariadb-install-db') !== undefined);

export interface MariadbOptions {
  /** innodb_flush_log_at_trx_commit; 1 is the default of a real server, 2 that of tests. */
  readonly flush?: 1 | 2;
  /** More arguments of the server. */
  readonly args?: readonly string[];
}

/** Needs Debian's mariadb-server. */
export async function startMariadb(options: MariadbOptions = {}): Promise<MariadbServer> {
  const mariadbd = mysqlHome === undefined ? find('mariadbd') : join(mysqlHome, 'bin/mysqld');
  const install = mysqlHome === undefined ? find('mariadb-install-db') : mariadbd;
  if (mariadbd === undefined || install === undefined) throw new BugError('mariadb-server is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'skep-mariadb-'));
  const user = userInfo().username;
  const [forInstall, forServer] = mysqlHome === undefined ? MARIADB_ARGS : mysqlArgs(mysqlHome);
  try {
    await promisify(execFile)(install, ['--no-defaults', `--datadir=${folder}/data`, `--user=${user}`, ...forInstall]);
    const port = await freePort();
    const args = [
      '--no-defaults',
      `--datadir=${folder}/data`,
      `--socket=${folder}/socket`,
      `--pid-file=${folder}/pid`,
      `--tmpdir=${folder}`,
      `--log-error=${folder}/log`,
      `--user=${user}`,
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      '--skip-name-resolve',
      '--innodb-buffer-pool-size=128M',
      '--innodb-log-file-size=48M',
      `--innodb-flush-log-at-trx-commit=${options.flush ?? 2}`,
      '--max-connections=500',
      ...forServer,
      ...(options.args ?? []),
    ];
    let stop = await run(folder, mariadbd, args, port, true);
    return {
      port,
      url: `mysql://APP:mine@127.0.0.1:${port}`,
      get pid() {
        return Number(readFileSync(`${folder}/pid`, 'utf8'));
      },
      async restart() {
        await stop(false);
        stop = await run(folder, mariadbd, args, port, false);
      },
      stop: () => stop(true),
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Of the program that makes the data, and of the server. */
const MARIADB_ARGS = [
  ['--auth-root-authentication-method=normal', '--skip-test-db', '--innodb-log-file-size=8M'],
  [],
] as const;

const mysqlArgs = (home: string) =>
  [
    [`--basedir=${home}`, '--initialize-insecure', '--innodb-log-file-size=8M'],
    [`--basedir=${home}`, '--skip-log-bin', '--loose-mysqlx=0'],
  ] as const;

/**
 * The server under a shell that kills it and removes its data as soon as its own standard input ends: so it goes with this
 * process, however that ends. Out of the terminal's group, lest Ctrl-C reach it before the tests are done.
 */
const KEEPER = `program=$1; folder=$2; shift 2
"$program" "$@" </dev/null >/dev/null 2>&1 & pid=$!
read answer
kill -9 $pid; wait $pid 2>/dev/null
if [ "$answer" != keep ]; then rm -rf "$folder"; fi`;

async function run(
  folder: string,
  program: string,
  args: readonly string[],
  port: number,
  isFirst: boolean,
): Promise<(forEver: boolean) => Promise<void>> {
  const more: string[] = [];
  if (isFirst) {
    writeFileSync(
      `${folder}/init.sql`,
      "CREATE USER APP@'%' IDENTIFIED BY 'mine';\nGRANT ALL ON *.* TO APP@'%' WITH GRANT OPTION;\n",
    );
    more.push(`--init-file=${folder}/init.sql`);
  }
  const keeper = spawn('sh', ['-c', KEEPER, 'keeper', program, folder, ...args, ...more], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  const ended = new Promise<void>((resolve) => keeper.on('close', () => resolve()));
  const stop = (forEver: boolean) => {
    keeper.stdin.end(forEver ? '\n' : 'keep\n');
    return ended;
  };
  const untilMs = systemClock.now() + START_MS;
  while (!(await answers(port))) {
    if (systemClock.now() > untilMs) {
      const log = existsSync(`${folder}/log`) ? readFileSync(`${folder}/log`, 'utf8').slice(-2000) : '';
      await stop(true);
      throw new BugError(`mariadbd did not start within ${START_MS} ms: ${log}`);
    }
    await systemClock.sleep(50);
  }
  return stop;
}

function answers(port: number): Promise<boolean> {
  const connection = mysql.createConnection({ host: '127.0.0.1', port, user: 'APP', password: 'mine' });
  return new Promise((resolve) => {
    connection.on('error', () => resolve(false));
    connection.connect((error) => {
      connection.destroy();
      resolve(error === null);
    });
  });
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
